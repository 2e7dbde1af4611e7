import Credentials
import DeviceAgent
import FamilyCore
import FamilyModel
import FamilyTrust
import History
import RelayStore
import RelayWire
import SQLiteStore

/// Events with open contents, by sequence number.
typealias OpenedEvents = [UInt64: Event]

extension SQLiteAgentStore {
  /// The records of a device.
  func records(of address: DeviceAddress) throws -> [DeviceRecord] {
    let prefix = address.recordKeyPrefix
    return try load(prefix: prefix).map {
      try DeviceRecord.decode(key: Array($0.key.dropFirst(prefix.count)), value: $0.value)
    }
  }
}

extension SQLiteEventStore {
  /// The events in the log of a family.
  func log(of family: FamilyID) throws -> [Event] {
    try load(family).events.map { try Event.decode($0.payload) }
  }
}

/// The contents of the stores at the end of a run. No process of the cluster runs any more.
extension Fact {
  /// The facts about what a device holds: its events, the decisions that it shows and its view.
  ///
  /// - Parameters:
  ///   - records: The records in the store of the device's agent.
  ///   - verified: The signatures that other devices of the family have verified.
  ///   - opened: Receives the events that the device has opened.
  static func holdings(
    of credential: Credential, _ records: [DeviceRecord], sharing verified: SignatureCache? = nil,
    _ opened: inout OpenedEvents
  ) -> [Fact] {
    func link(_ records: [DeviceRecord]) -> DeviceLink {
      GuardianMachine(
        credential.address, of: credential.personID,
        security: credential.security(sharing: verified), restoring: records,
        ids: IDSource(seed: 0)
      ).link
    }
    // The device starts from its snapshot, which has to equal what all its events add up to.
    let shown = link(records)
    let events = records.filter { $0.key != .snapshot }
    let evaluated = events.count == records.count ? shown : link(events)
    for event in evaluated.restored { opened[event.seq] = event }
    return cursors(in: records, of: credential.address) + decisions(of: shown)
      + [shown, evaluated].map { .views(credential.address, FamilyView(of: $0)) }
  }

  private static func decisions(of link: DeviceLink) -> [Fact] {
    link.conversations.keys.sorted().flatMap { child in
      link.conversations[child]!.inOrder.compactMap { state in
        guard case .answered(let choice, _, _) = state.phase else { return nil }
        return .decided(link.address, state.header.id, choice: choice.id)
      }
    }
  }

  /// The facts about the relay's log of a family. Its events are sealed; `opened` are those that the
  /// family's devices hold.
  static func log(
    of family: FamilyID, _ events: [Event], _ opened: OpenedEvents
  ) -> [Fact] {
    // Devices use no channels at rest.
    return events.map { .stored(family, opened[$0.seq] ?? $0) }
      + [.relayViews(family, FamilyView(ofLog: events) { _, _ in 0 })]
  }
}
