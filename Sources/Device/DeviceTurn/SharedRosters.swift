import FamilyCore
import FamilyModel

/// The newest roster of each family, so that all its devices in the process share one copy.
struct SharedRosters {
  private var rosters: [FamilyID: Roster] = [:]

  /// Replaces the event's roster by the shared copy if both are equal.
  mutating func share(_ event: inout Event, of family: FamilyID) {
    guard case .rosterChanged(let roster) = event.body else { return }
    if let known = rosters[family], known == roster {
      event.body = .rosterChanged(known)
    } else {
      rosters[family] = roster
    }
  }

  mutating func share(_ reply: inout Reply, of family: FamilyID) {
    guard case .page(let audience, var events, let more) = reply, audience == .family else {
      return
    }
    for index in events.indices { share(&events[index], of: family) }
    reply = .page(audience, events, more: more)
  }

  mutating func share(_ broadcast: inout Broadcast, of family: FamilyID) {
    guard case .event(var event) = broadcast, event.audience == .family else { return }
    share(&event, of: family)
    broadcast = .event(event)
  }

  mutating func share(_ records: inout [DeviceRecord], of family: FamilyID) {
    for index in records.indices {
      guard case .event(var event) = records[index] else { continue }
      share(&event, of: family)
      records[index] = .event(event)
    }
  }
}
