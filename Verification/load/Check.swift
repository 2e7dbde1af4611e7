import Credentials
import FamilyCore
import FamilyModel
import History
import RelayStore
import RelayWire
import SystemClock

/// What the checkers say of what a load did.
struct CheckResult: Codable {
  struct Row: Codable {
    var name: String
    /// Families for which it holds, for which the history does not tell, and for which it does not hold.
    var ok = 0
    var unknown = 0
    var violated = 0
  }
  /// Families of which the whole history was checked, and how many facts those are.
  var families = 0
  var facts = 0
  /// Acknowledged commands that were compared with the relay's store.
  var acknowledgements = 0
  /// Those that were too many to keep.
  var notKept = 0
  var rows: [Row] = []
  /// Some of what is wrong.
  var examples: [String] = []

  static let maximumExamples = 20

  var isRight: Bool { rows.allSatisfy { $0.violated == 0 } && examples.isEmpty }

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
    case .violated(let what, _):
      rows[index].violated += 1
      guard examples.count < Self.maximumExamples else { return }
      examples.append("\(name), family \(family.rawValue): \(what)")
    }
  }

  static func += (a: inout CheckResult, b: CheckResult) {
    a.families += b.families
    a.facts += b.facts
    a.acknowledgements += b.acknowledgements
    a.notKept += b.notKept
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
  /// Says of each whole history how the run ended: what the apps know, and whether all came to rest.
  func close() {
    let isIdle = isIdle
    state.withLock { state in
      guard isIdle else { return }
      for family in state.notebook.histories.keys.sorted() {
        state.notebook.note(.healed, family)
        if let app = state.apps[family] {
          let address = DeviceAddress(family: family, device: FamilyFactory.child)
          state.notebook.note(.knows(AppAddress(address, Self.app), app.known.sorted()), family)
        }
        state.notebook.note(.converged, family)
      }
    }
  }

  /// Compares what was noted with the relay's store, whose relay has ended.
  ///
  /// - Parameter organizers: A credential of each family, which reads what it says.
  func check(_ store: any EventStore, _ organizers: [FamilyID: Credential]) throws -> CheckResult {
    let notebook = state.withLock { $0.notebook }
    var result = CheckResult()
    result.notKept = notebook.notKept
    for (family, history) in notebook.histories.sorted(by: { $0.key < $1.key }) {
      var history = history
      try Self.note(try store.load(family), of: family, organizers[family], in: &history)
      for (name, verdict) in history.verdicts() { result.add(name, verdict, family) }
      result.families += 1
      result.facts += history.entries.count
      for entry in history.entries {
        if case .acknowledged = entry.fact { result.acknowledgements += 1 }
      }
    }
    let others = Dictionary(grouping: notebook.acknowledgements) { $0.device.family }
    for (family, acknowledgements) in others.sorted(by: { $0.key < $1.key }) {
      var history = History()
      for item in acknowledgements {
        history.note(.acknowledged(item.device, item.command, seq: item.seq), at: .now)
      }
      // What they say is not needed for this.
      try Self.note(try store.load(family), of: family, nil, in: &history)
      let checker = NothingLost()
      result.add(checker.name, checker.check(history), family)
      result.acknowledgements += acknowledgements.count
    }
    return result
  }

  private static func note(
    _ stored: StoredFamily, of family: FamilyID, _ reader: Credential?, in history: inout History
  ) throws {
    var events = try stored.events.map { try Event.decode($0.payload) }
    if let reader {
      // What a guardian's device believes of it, it can open; the rest stays as it is.
      let opened = Dictionary(
        uniqueKeysWithValues: reader.machine(restoring: events).link.restored.map { ($0.seq, $0) })
      events = events.map { opened[$0.seq] ?? $0 }
    }
    for event in events { history.note(.stored(family, event), at: event.at) }
    history.note(.storeRead, at: .now)
  }
}
