import Credentials
import FamilyCore
import FamilyModel
import ZeroMQ

/// A device of the host: a guardian's, or that of a child or another person.
///
/// Confined to the host's socket thread. A host may have a hundred thousand devices, so shared
/// state lives in the host, and a device allocates memory for one kind of machine only.
final class HostedDevice {
  /// A reference to a machine. Each device has one of the two kinds.
  private final class Machine<Value> {
    var value: Value?
    init(_ value: Value) { self.value = value }
  }

  /// A channel to which the device is subscribed.
  struct SubscribedChannel {
    var topic: [UInt8]
    /// The channel key's 32 bytes in two halves, which need no allocation.
    var key: (ID128, ID128)

    /// - Returns: `nil` if the key is not 32 bytes long.
    init?(_ channel: Channel) {
      guard channel.key.count == ChannelCipher.keyBytes,
        let first = ID128(bytes: channel.key.prefix(16)),
        let second = ID128(bytes: channel.key.suffix(16))
      else { return nil }
      topic = channel.topic
      key = (first, second)
    }
  }

  /// The public key of the device's connection.
  let key: [UInt8]
  let name: String
  let role: Role
  let isInFamily: Bool
  private let childMachine: Machine<ChildMachine>?
  private let guardianMachine: Machine<GuardianMachine>?
  /// The device's subscriptions.
  var channels: [SubscribedChannel] = []
  /// The state of the connection to the relay.
  var connection = ConnectionHealth.State.connecting
  /// Events that the device or an app rejected.
  var rejectedEvents = 0
  /// Whether the device takes part in the network. False in airplane mode.
  var isOnline = true
  /// Whether the device can send to the relay.
  var isReachable: Bool { isOnline && connection == .connected }
  /// The launches of each app that had one, or a response, since the start.
  var launches: [AppID: LaunchRecord] = [:]
  /// The request rates of the apps that have sent a request.
  var allowances: [AppID: AppAllowance] = [:]
  /// The relay's proof of enrolment from the last attachment; empty before the first one.
  var pass: [UInt8]
  /// The problem with which the relay last refused the device.
  var refusal: Problem?

  /// Precondition: exactly one of the machines is given.
  init(
    _ credential: Credential, child: ChildMachine? = nil, guardian: GuardianMachine? = nil,
    pass: [UInt8] = []
  ) {
    self.pass = pass
    key = credential.keys.publicKey.bytes
    name = credential.name
    role = credential.role
    isInFamily = credential.isInFamily
    childMachine = child.map { Machine($0) }
    guardianMachine = guardian.map { Machine($0) }
  }

  var child: ChildMachine? {
    _read { if let childMachine { yield childMachine.value } else { yield nil } }
  }

  /// Handles an input of a child's device. Its owner may set the wall clock, so each step has the
  /// monotonic clock, too.
  ///
  /// - Returns: The effects; `nil` on a guardian's device.
  func step(_ input: ChildMachine.Input, now: Instant) -> [DeviceEffect]? {
    childMachine?.value?.step(
      input, now: now, uptime: .milliseconds(MonotonicInstant.now.uptime.milliseconds))
  }

  var guardian: GuardianMachine? {
    _read { if let guardianMachine { yield guardianMachine.value } else { yield nil } }
    _modify {
      var none: GuardianMachine?
      if let guardianMachine { yield &guardianMachine.value } else { yield &none }
    }
  }

  var link: DeviceLink { child?.link ?? guardian!.link }
  var notifications: Notifications { child?.notifications ?? guardian!.notifications }
  var deadline: Instant? { child?.deadline ?? guardian?.deadline }

  func connected(_ now: Instant) -> [DeviceEffect] {
    step(.connected, now: now) ?? guardian!.step(.connected, now: now)
  }

  func disconnected(_ now: Instant) -> [DeviceEffect] {
    step(.disconnected, now: now) ?? guardian!.step(.disconnected, now: now)
  }

  func reply(_ id: UInt64, _ reply: Reply, now: Instant) -> [DeviceEffect] {
    step(.reply(id, reply), now: now) ?? guardian!.step(.reply(id, reply), now: now)
  }

  func broadcast(_ broadcast: Broadcast, now: Instant) -> [DeviceEffect] {
    step(.broadcast(broadcast), now: now)
      ?? guardian!.step(.broadcast(broadcast), now: now)
  }

  func clockSetBack(_ now: Instant) -> [DeviceEffect] {
    step(.clockSetBack, now: now) ?? guardian!.step(.clockSetBack, now: now)
  }

  func timer(_ now: Instant) -> [DeviceEffect] {
    step(.timer, now: now) ?? guardian!.step(.timer, now: now)
  }

  /// The connection's state in a word or two, for people.
  var connectionName: String {
    guard isInFamily, !link.isShutOut else { return "no family" }
    return switch connection {
    case .connecting: "connecting"
    case .connected: "connected"
    case .serverUnreachable: "no relay"
    case .keyRefused: "wrong key"
    }
  }
}
