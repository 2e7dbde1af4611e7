package import Credentials
import Crypto
package import FamilyCore
package import FamilyModel
import FamilyTrust
import Foundation
import SystemClock
import ZeroMQ

/// Creates the members, keys and credentials of many families, for load and for chaos.
///
/// Keys derive from the seed, so the processes exchange no key files. Devices of one role in
/// `perConnection` families share a key, as in an agent that hosts many people.
package struct FamilyFactory: Codable, Sendable {
  package static let organizer = DeviceID(1)
  package static let child = DeviceID(2)
  package static let guardian = DeviceID(3)

  package var seed: UInt64
  /// The number of guardians in each family: 1 or 2.
  package var guardians: Int
  package var perConnection: UInt64

  /// The device ids of a family, ascending.
  package var devices: [DeviceID] {
    [Self.organizer, Self.child] + (guardians > 1 ? [Self.guardian] : [])
  }

  /// A factory.
  package init(seed: UInt64, guardians: Int, perConnection: UInt64) {
    self.seed = seed
    self.guardians = guardians
    self.perConnection = perConnection
  }

  /// The keys of one role's devices in a block of families.
  private struct Keys {
    var connection: CurveKeyPair
    var device: DeviceKeys
  }

  private func block(_ family: UInt64) -> UInt64 { (family - 1) / perConnection }

  private func keys(inBlock block: UInt64) -> [DeviceID: Keys] {
    func secret(_ name: String, _ device: DeviceID) -> [UInt8] {
      let text = "load \(seed) \(name) \(device.rawValue) \(block)"
      return Array(SHA256.hash(data: Data(text.utf8)))
    }
    return Dictionary(
      uniqueKeysWithValues: devices.map { device in
        // Any 32 bytes are a valid secret key.
        let keys = Keys(
          connection: CurveKeyPair(secretBytes: secret("connection", device))!,
          device: DeviceKeys(
            signingSecret: secret("signing", device),
            agreementSecret: secret("agreement", device))!)
        return (device, keys)
      })
  }

  /// The credentials of all devices of these families.
  package func credentials(
    _ families: ClosedRange<UInt64>, relay: AdministratorCredential
  ) -> [Credential] {
    let roles: [DeviceID: (role: Role, name: String)] = [
      Self.organizer: (.organizer, "Rosa"), Self.child: (.child, "Emily"),
      Self.guardian: (.guardian, "Alex"),
    ]
    var (known, keys, organizerKey) = (UInt64.max, [DeviceID: Keys](), [UInt8]())
    var credentials: [Credential] = []
    // The hosts keep the array, so reserve its exact size.
    credentials.reserveCapacity(families.count * devices.count)
    for family in families {
      if block(family) != known {
        known = block(family)
        keys = self.keys(inBlock: known)
        organizerKey = keys[Self.organizer]!.device.signingKey
      }
      credentials += devices.map { device in
        Credential(
          address: DeviceAddress(family: FamilyID(family), device: device),
          personID: PersonID(device.rawValue), role: roles[device]!.role,
          name: roles[device]!.name, keys: keys[device]!.connection,
          deviceKeys: keys[device]!.device, organizerKey: organizerKey,
          relayKey: relay.relayKey, requests: relay.requests, broadcasts: relay.broadcasts)
      }
    }
    return credentials
  }

  /// The commands that create these families, each signed by its organizer's device.
  package func signFoundingCommands(_ families: ClosedRange<UInt64>, relay: AdministratorCredential)
    throws
    -> [(family: FamilyID, command: SignedCommand)]
  {
    let all = credentials(families, relay: relay)
    return try stride(from: 0, to: all.count, by: devices.count).flatMap { index in
      let members = all[index..<index + devices.count]
      let roster = Roster(
        persons: members.map { Person(id: $0.personID, role: $0.role, displayName: $0.name) },
        devices: members.map(\.device))
      var organizer = members.first!.machine(restoring: [])
      return try organizer.prepare(.setRoster(roster), now: .now)
        .map { (family: members.first!.address.family, command: $0) }
    }
  }
}
