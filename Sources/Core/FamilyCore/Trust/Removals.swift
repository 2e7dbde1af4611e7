import FamilyModel

/// The devices that a roster removed, with the heads that the signer of their removal knew.
///
/// Readers reject what a removed device signed after these heads. The relay could otherwise insert a
/// later signature of the device at a position before the removal.
struct Removals: Sendable {
  /// The last event of each audience that counts, by the removed device's signing key.
  var lastEvents: [[UInt8]: [Audience: UInt64]] = [:]

  /// Records the devices that a verified roster removes.
  mutating func record(from old: Roster?, to new: Roster, _ known: Knowledge) {
    for device in new.devices { lastEvents[device.signingKey] = nil }
    guard let old else { return }
    var heads: [Audience: UInt64] = [.family: known.family.seq]
    for head in known.heads { heads[head.audience] = head.position.seq }
    for device in old.removedDevices(in: new) { lastEvents[device.signingKey] = heads }
  }

  /// The signing key of the device that signed the event; `nil` if its owner may not decide the event,
  /// or if the removal of the device precedes it.
  ///
  /// - Parameter roster: The roster before the event.
  func signingKey(for event: Event, by signer: DeviceID, in roster: Roster) -> [UInt8]? {
    guard let device = roster.device(signer), !device.signingKey.isEmpty,
      allow(device.signingKey, event.audience, event.seq),
      let person = roster.person(device.person),
      roster.mayDecide(event.body, in: event.audience, person)
    else { return nil }
    return device.signingKey
  }

  /// Whether an event of the device with this signing key counts at this position.
  ///
  /// An audience that the signer of the removal does not read has no head: there the position of
  /// the removal decides.
  private func allow(_ signingKey: [UInt8], _ audience: Audience, _ seq: UInt64) -> Bool {
    lastEvents[signingKey]?[audience].map { seq <= $0 } ?? true
  }
}

extension Roster {
  /// The devices whose signing keys the next roster lacks.
  func removedDevices(in next: Roster) -> [Device] {
    devices.filter { device in
      !device.signingKey.isEmpty
        && !next.devices.contains { $0.signingKey == device.signingKey }
    }
  }
}
