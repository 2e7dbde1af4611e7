import Credentials
import FamilyCore
import FamilyModel
import History
import LoadFamilies
import RelayStore
import RelayWire
import SystemClock

/// The checkers' verdicts on a load.
struct CheckResult: Codable {
  struct Row: Codable {
    var name: String
    /// Numbers of families by verdict.
    var ok = 0
    var unknown = 0
    var violated = 0
  }
  /// The number of families with a complete history, and the number of facts in these histories.
  var families = 0
  var facts = 0
  /// The number of acknowledged commands that were compared with the relay's store.
  var acknowledgements = 0
  /// The number of acknowledgements beyond the recorder's limit.
  var droppedAcknowledgements = 0
  var rows: [Row] = []
  /// The first violations, at most `maximumExamples`.
  var examples: [String] = []

  static let maximumExamples = 20

  var isCorrect: Bool { rows.allSatisfy { $0.violated == 0 } && examples.isEmpty }

  mutating func add(_ name: String, _ verdict: Verdict, _ family: FamilyID) {
    let index =
      rows.firstIndex { $0.name == name }
      ?? {
        rows.append(Row(name: name))
        return rows.count - 1
      }()
    switch verdict {
    case .ok: rows[index].ok += 1
    case .unknown: rows[index].unknown += 1
    case .violated(let violation, _):
      rows[index].violated += 1
      guard examples.count < Self.maximumExamples else { return }
      examples.append("\(name), family \(family.rawValue): \(violation)")
    }
  }

  static func += (a: inout CheckResult, b: CheckResult) {
    a.families += b.families
    a.facts += b.facts
    a.acknowledgements += b.acknowledgements
    a.droppedAcknowledgements += b.droppedAcknowledgements
    for row in b.rows {
      if let index = a.rows.firstIndex(where: { $0.name == row.name }) {
        a.rows[index].ok += row.ok
        a.rows[index].unknown += row.unknown
        a.rows[index].violated += row.violated
      } else {
        a.rows.append(row)
      }
    }
    a.examples = Array((a.examples + b.examples).prefix(maximumExamples))
  }
}

extension SimulatedUsers {
  /// Ends each complete history: records the apps' known handles and whether all work is finished.
  func close() {
    let isIdle = isIdle
    state.withLock { state in
      guard isIdle else { return }
      for family in state.recorder.histories.keys.sorted() {
        state.recorder.record(.healed, family)
        if let app = state.apps[family] {
          let address = DeviceAddress(family: family, device: FamilyFactory.child)
          state.recorder.record(
            .knows(AppAddress(address, Self.app), app.known.sorted(), named: app.named.sorted()),
            family)
        }
        state.recorder.record(.converged, family)
      }
    }
  }

  /// Checks the recorded facts against the relay's store.
  ///
  /// Precondition: the relay has ended.
  ///
  /// - Parameter organizers: Credentials of organizers, used to open the events of complete
  ///   histories.
  func check(_ store: any EventStore, _ organizers: [FamilyID: Credential]) throws -> CheckResult {
    let recorder = state.withLock { $0.recorder }
    var result = CheckResult()
    result.droppedAcknowledgements = recorder.droppedAcknowledgements
    for (family, history) in recorder.histories.sorted(by: { $0.key < $1.key }) {
      var history = history
      try Self.record(try store.load(family), of: family, organizers[family], in: &history)
      for (name, verdict) in history.verdicts() { result.add(name, verdict, family) }
      result.families += 1
      result.facts += history.entries.count
      for entry in history.entries {
        if case .acknowledged = entry.fact { result.acknowledgements += 1 }
      }
    }
    let others = Dictionary(grouping: recorder.acknowledgements) { $0.device.family }
    for (family, acknowledgements) in others.sorted(by: { $0.key < $1.key }) {
      var history = History()
      for item in acknowledgements {
        history.record(.acknowledged(item.device, item.command, seq: item.seq), at: .now)
      }
      // Acknowledgements need no opened content.
      try Self.record(try store.load(family), of: family, nil, in: &history)
      let checker = NothingLost()
      result.add(checker.name, checker.check(history), family)
      result.acknowledgements += acknowledgements.count
    }
    return result
  }

  private static func record(
    _ stored: StoredFamily, of family: FamilyID, _ reader: Credential?, in history: inout History
  ) throws {
    var events = try stored.events.map { try Event.decode($0.payload) }
    if let reader {
      // A guardian's device opens the events that it verifies; the others stay sealed.
      let opened = Dictionary(
        uniqueKeysWithValues: reader.machine(restoring: events).link.restored.map { ($0.seq, $0) })
      events = events.map { opened[$0.seq] ?? $0 }
    }
    for event in events { history.record(.stored(family, event), at: event.at) }
    history.record(.storeRead, at: .now)
  }
}
