import Credentials
import FamilyCore
import FamilyModel
import ZeroMQ

/// A device that the process hosts: a child's or another person's, or a guardian's.
///
/// It is confined to the host's thread. A host may have a hundred thousand of them: what they have in common
/// is not here, and neither is room for what they are not.
final class HostedDevice {
  /// The machine, behind a reference: of the two kinds each device has one.
  private final class Machine<Value> {
    var value: Value?
    init(_ value: Value) { self.value = value }
  }

  /// What the device is told on a topic is sealed under this key.
  struct Listening {
    var topic: [UInt8]
    /// Its 32 bytes, in two halves.
    var key: (ID128, ID128)

    /// `nil` for a key of another length.
    init?(_ channel: Channel) {
      guard channel.key.count == ChannelCipher.keyBytes,
        let first = ID128(bytes: channel.key.prefix(16)),
        let second = ID128(bytes: channel.key.suffix(16))
      else { return nil }
      topic = channel.topic
      key = (first, second)
    }
  }

  /// The key of its connection.
  let key: [UInt8]
  let name: String
  let role: Role
  let isInFamily: Bool
  private let childMachine: Machine<ChildMachine>?
  private let guardianMachine: Machine<GuardianMachine>?
  /// The channels that it listens to.
  var channels: [Listening] = []
  /// How the connection to the relay is.
  var connection = ConnectionHealth.State.connecting
  /// Events that were not believed.
  var disbelieved = 0
  /// Whether the device is on the network at all.
  var isOnline = true
  /// Whether the relay can be reached.
  var isReachable: Bool { isOnline && connection == .connected }
  /// The relay's last words on why this device may not come in.
  var shutOut: Problem?

  /// One of the two machines is there.
  init(_ credential: Credential, child: ChildMachine? = nil, guardian: GuardianMachine? = nil) {
    key = credential.keys.publicKey.bytes
    name = credential.name
    role = credential.role
    isInFamily = credential.isInFamily
    childMachine = child.map { Machine($0) }
    guardianMachine = guardian.map { Machine($0) }
  }

  var child: ChildMachine? {
    _read { if let childMachine { yield childMachine.value } else { yield nil } }
    _modify {
      var none: ChildMachine?
      if let childMachine { yield &childMachine.value } else { yield &none }
    }
  }

  var guardian: GuardianMachine? {
    _read { if let guardianMachine { yield guardianMachine.value } else { yield nil } }
    _modify {
      var none: GuardianMachine?
      if let guardianMachine { yield &guardianMachine.value } else { yield &none }
    }
  }

  var link: DeviceLink { child?.link ?? guardian!.link }
  var deadline: Instant? { child?.deadline ?? guardian?.deadline }

  func connected(_ now: Instant) -> [DeviceEffect] {
    child?.step(.connected, now: now) ?? guardian!.step(.connected, now: now)
  }

  func disconnected(_ now: Instant) -> [DeviceEffect] {
    child?.step(.disconnected, now: now) ?? guardian!.step(.disconnected, now: now)
  }

  func reply(_ id: UInt64, _ reply: Reply, now: Instant) -> [DeviceEffect] {
    child?.step(.reply(id, reply), now: now) ?? guardian!.step(.reply(id, reply), now: now)
  }

  func broadcast(_ broadcast: Broadcast, now: Instant) -> [DeviceEffect] {
    child?.step(.broadcast(broadcast), now: now)
      ?? guardian!.step(.broadcast(broadcast), now: now)
  }

  func clockSetBack(_ now: Instant) -> [DeviceEffect] {
    child?.step(.clockSetBack, now: now) ?? guardian!.step(.clockSetBack, now: now)
  }

  func timer(_ now: Instant) -> [DeviceEffect] {
    child?.step(.timer, now: now) ?? guardian!.step(.timer, now: now)
  }

  /// The connection in a word or two, for people.
  var connectionName: String {
    guard isInFamily else { return "no family" }
    return switch connection {
    case .connecting: "connecting"
    case .connected: "connected"
    case .serverUnreachable: "no relay"
    case .keyRefused: "wrong key"
    }
  }
}
