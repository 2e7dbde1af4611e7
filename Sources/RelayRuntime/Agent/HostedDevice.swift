import FamilyCore
import FamilyModel
import ZeroMQ

/// A device that the process hosts: a child's or another person's, or a guardian's. One of the two is set.
///
/// It is confined to the host's thread.
final class HostedDevice {
  let credential: Credential
  var child: ChildMachine?
  var guardian: GuardianMachine?
  /// What listens to which channel key, by topic.
  var channels: [[UInt8]: [UInt8]] = [:]
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

  init(_ credential: Credential, child: ChildMachine) {
    self.credential = credential
    self.child = child
  }

  init(_ credential: Credential, guardian: GuardianMachine) {
    self.credential = credential
    self.guardian = guardian
  }

  var link: DeviceLink { child?.link ?? guardian!.link }
  var deadline: Instant? { child?.deadline ?? guardian?.deadline }

  func connected(_ now: Instant) -> [DeviceEffect] {
    child?.step(.connected, now: now) ?? guardian!.step(.connected, now: now)
  }

  func disconnected(_ now: Instant) -> [DeviceEffect] {
    child?.step(.disconnected, now: now) ?? guardian!.step(.disconnected, now: now)
  }

  func reply(_ id: UInt64, _ reply: Reply, _ now: Instant) -> [DeviceEffect] {
    child?.step(.reply(id, reply), now: now) ?? guardian!.step(.reply(id, reply), now: now)
  }

  func broadcast(_ broadcast: Broadcast, _ now: Instant) -> [DeviceEffect] {
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
    guard credential.isInFamily else { return "no family" }
    return switch connection {
    case .connecting: "connecting"
    case .connected: "connected"
    case .serverUnreachable: "no relay"
    case .keyRefused: "wrong key"
    }
  }
}
