import Credentials
import DeviceAgent
import FamilyCore
import FamilyModel
import History
import RelayStore
import RelayWire
import SQLiteStore

/// Events with open contents, by sequence number.
typealias OpenedEvents = [UInt64: Event]

/// The contents of the stores at the end of a run. No process of the cluster runs any more.
extension Fact {
  /// The facts about what a device holds: its events, the decisions that it shows and its view.
  ///
  /// - Parameter opened: Receives the events that the device has opened.
  static func holdings(
    of credential: Credential, in store: SQLiteAgentStore, _ opened: inout OpenedEvents
  ) throws -> [Fact] {
    let prefix = credential.address.recordKeyPrefix
    let records = try store.load(prefix: prefix).map {
      try DeviceRecord.decode(key: Array($0.key.dropFirst(prefix.count)), value: $0.value)
    }
    let machine = GuardianMachine(
      credential.address, of: credential.personID, security: credential.security,
      restoring: records, ids: IDSource(seed: 0))
    for event in machine.link.restored { opened[event.seq] = event }
    return cursors(in: records, of: credential.address) + decisions(of: machine.link)
      + [.views(credential.address, FamilyView(of: machine.link))]
  }

  private static func decisions(of link: DeviceLink) -> [Fact] {
    link.conversations.keys.sorted().flatMap { child in
      link.conversations[child]!.inOrder.compactMap { state in
        guard case .answered(let choice, _, _) = state.phase else { return nil }
        return .decided(link.address, state.header.id, choice: choice.id)
      }
    }
  }

  /// The facts about the relay's log of a family. The relay's events are sealed; `opened` are those
  /// that the family's devices hold.
  static func log(
    of family: FamilyID, in store: SQLiteEventStore, _ opened: OpenedEvents
  ) throws -> [Fact] {
    let events = try store.load(family).events.map { try Event.decode($0.payload) }
    // Devices use no channels at rest.
    return events.map { .stored(family, opened[$0.seq] ?? $0) }
      + [.relayViews(family, FamilyView(ofLog: events) { _, _ in 0 })]
  }
}
