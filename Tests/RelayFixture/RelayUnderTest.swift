package import Credentials
import FamilyCore
import FamilyModel
import FamilyTrust
import RelayClient
import SystemClock
package import ZeroMQ

/// A relay with which tests create families and their devices.
package protocol RelayUnderTest {
  var requests: String { get }
  var broadcasts: String { get }
  var keys: RelayKeys { get }
  var administrator: AdministratorCredential { get }
}

extension RelayUnderTest {
  /// Creates a family with these devices; a device's number divided by ten is that of its person.
  ///
  /// - Returns: The key of each of its devices.
  package func createFamily(
    _ family: UInt64, devices: [UInt32] = RelayFixture.devices
  ) throws -> [UInt32: CurveKeyPair] {
    var pairs: [UInt32: CurveKeyPair] = [:]
    for device in devices { pairs[device] = try .generate() }
    try setRoster(family, pairs)
    return pairs
  }

  package func setRoster(_ family: UInt64, _ pairs: [UInt32: CurveKeyPair]) throws {
    let roles: [(UInt32, Role)] = [(1, .organizer), (3, .child), (4, .child), (5, .adult)]
    let roster = Roster(
      persons: roles.map { Person(id: PersonID($0), role: $1, displayName: "P\($0)") },
      devices: pairs.map {
        Device(
          id: DeviceID($0), person: PersonID($0 / 10), publicKey: $1.publicKey.bytes,
          keys: RelayFixture.deviceKeys($0))
      })
    var administrator = try Administrator(administrator)
    let address = DeviceAddress(family: FamilyID(family), device: DeviceID(10))
    let events = try administrator.history(of: .family, in: address.family)
    var organizer = GuardianMachine(
      address, of: PersonID(1), security: RelayFixture.security(10),
      restoring: events.map { .event($0) },
      ids: IDSource(seed: .random(in: .min ... .max)))
    try administrator.send(
      organizer.prepare(.setRoster(roster), now: .now), to: address.family)
  }

  /// - Parameters:
  ///   - receiveQueue: Messages that the peer's library receives ahead of the test.
  ///   - context: The threads of the peer's sockets, which many peers may share; `nil`: own ones.
  package func peer(
    _ family: UInt64, _ device: UInt32, _ keys: CurveKeyPair?, _ kind: SocketKind = .dealer,
    receiveQueue: Int32 = 100_000, in context: Context? = nil,
    adjust: (inout SocketOptions) -> Void = { _ in }
  ) throws -> Peer {
    try Peer(
      self, family, device, keys ?? .generate(), kind, receiveQueue: receiveQueue,
      in: context ?? Context(), adjust: adjust)
  }
}
