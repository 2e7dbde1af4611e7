import Crypto
import FamilyModel
import Foundation
import RelayRuntime
import ZeroMQ

/// The families of a load: who is in them, and with which keys.
///
/// Keys come from the seed, so that no process has to hand a hundred thousand files to another. Devices of
/// one role in `perConnection` families share a key, as in an agent that hosts many people.
struct Households: Codable, Sendable {
  static let organizer = DeviceID(1)
  static let child = DeviceID(2)
  static let guardian = DeviceID(3)
  static let childPerson = PersonID(2)

  var seed: UInt64
  /// 1 or 2 in each family.
  var guardians: Int
  var perConnection: UInt64

  /// The devices of each family, ascending.
  var devices: [DeviceID] {
    [Self.organizer, Self.child] + (guardians > 1 ? [Self.guardian] : [])
  }

  /// The key that the role's device has in this family.
  func keys(_ device: DeviceID, in family: UInt64) -> CurveKeyPair {
    let text = "load \(seed) \(device.rawValue) \((family - 1) / perConnection)"
    // Any 32 bytes are a key.
    return CurveKeyPair(secretBytes: Array(SHA256.hash(data: Data(text.utf8))))!
  }

  /// The people, with the devices that have these keys.
  func roster(_ keys: [DeviceID: CurvePublicKey]) -> Roster {
    let persons = [
      Person(id: PersonID(1), role: .organizer, displayName: "Rosa"),
      Person(id: Self.childPerson, role: .child, displayName: "Emily"),
      Person(id: PersonID(3), role: .guardian, displayName: "Alex"),
    ]
    return Roster(
      persons: persons.filter { person in devices.contains { $0.rawValue == person.id.rawValue } },
      devices: devices.map {
        Device(id: $0, person: PersonID($0.rawValue), publicKey: keys[$0]!.bytes)
      })
  }

  /// The commands that make these families, in order.
  func founding(_ families: ClosedRange<UInt64>) -> some Sequence<
    (family: FamilyID, command: Command)
  > {
    var roster = Roster()
    return families.lazy.map { family in
      if (family - 1) % perConnection == 0 || roster.devices.isEmpty {
        roster = self.roster(
          Dictionary(
            uniqueKeysWithValues: devices.map { ($0, keys($0, in: family).publicKey) }))
      }
      return (family: FamilyID(family), command: .setRoster(roster))
    }
  }

  /// What the devices of these families need to reach the relay.
  func credentials(
    _ families: ClosedRange<UInt64>, relay: AdministratorCredential
  ) -> [Credential] {
    var keys: [DeviceID: CurveKeyPair] = [:]
    return families.flatMap { family in
      if (family - 1) % perConnection == 0 || keys.isEmpty {
        keys = Dictionary(uniqueKeysWithValues: devices.map { ($0, self.keys($0, in: family)) })
      }
      let roles: [DeviceID: (Role, String)] = [
        Self.organizer: (.organizer, "Rosa"), Self.child: (.child, "Emily"),
        Self.guardian: (.guardian, "Alex"),
      ]
      return devices.map { device in
        Credential(
          address: DeviceAddress(family: FamilyID(family), device: device),
          personID: PersonID(device.rawValue), role: roles[device]!.0, name: roles[device]!.1,
          keys: keys[device]!, relayKey: relay.relayKey, requests: relay.requests,
          broadcasts: relay.broadcasts)
      }
    }
  }
}
