import DeviceAgent
import FamilyCore
import FamilyModel
import History

/// Records what a worker's devices promise and learn.
///
/// A durable change is recorded after its commit, and a reply before its device acts on it.
struct DeviceFacts: AgentObserver {
  let journal: FactJournal

  func restored(_ records: [DeviceRecord], on address: DeviceAddress) {
    journal.record(Fact.cursors(in: records, of: address))
    madeDurable(records.filter { !$0.isEvent }.map { .put($0) }, on: address)
  }

  func madeDurable(_ changes: [RecordChange], on address: DeviceAddress) {
    var facts: [Fact] = []
    for case .put(let record) in changes {
      switch record {
      case .event(let event):
        facts.append(.applied(address, event.audience, seq: event.seq, event.command))
      case .passed(let audience, let position):
        facts.append(.applied(address, audience, seq: position.seq, nil))
      case .outbox(let position, let id, let command, _):
        facts.append(.issued(address, id, OutboxEntry(command, at: position)))
      default: break
      }
    }
    if !facts.isEmpty { journal.record(facts) }
  }

  func received(_ reply: Reply, on address: DeviceAddress) {
    switch reply {
    case .accepted(let id, let seq): journal.record(.acknowledged(address, id, seq: seq))
    case .refused(let id, let problem) where !problem.isTemporary:
      journal.record(.refused(address, id, problem))
    case .page(_, let events, _): for event in events { received(event, on: address) }
    default: break
    }
  }

  func received(_ broadcast: Broadcast, on address: DeviceAddress) {
    if case .event(let event) = broadcast { received(event, on: address) }
  }

  private func received(_ event: Event, on address: DeviceAddress) {
    journal.record(.received(address, event.audience, seq: event.seq))
    // A device's own event acknowledges its command.
    guard event.device == address.device else { return }
    journal.record(.acknowledged(address, event.command, seq: event.seq))
  }
}

extension Fact {
  /// The events that a device holds, by audience, as its records state.
  static func cursors(in records: [DeviceRecord], of address: DeviceAddress) -> [Fact] {
    let seqs = records.positions
    return records.compactMap { record in
      guard case .cursor(let cursor) = record else { return nil }
      return .restored(
        address, cursor.audience, seqs[cursor.audience] ?? [],
        cursor: cursor.delivered)
    }
  }
}

extension DeviceRecord {
  /// Whether the record is an event, or the position of one.
  fileprivate var isEvent: Bool {
    switch self {
    case .event, .passed: true
    default: false
    }
  }
}
