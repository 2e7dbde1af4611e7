import Credentials
package import FamilyCore
package import FamilyModel
package import ZeroMQ

/// A device of the host: a guardian's, or that of a child or another person.
///
/// Confined to the host's thread. A host may have a hundred thousand devices, so shared
/// state lives in the host, and a device allocates memory for one kind of machine only.
package final class HostedDevice {
  /// A reference to a machine. Each device has one of the two kinds.
  private final class Machine<Value> {
    var value: Value?
    init(_ value: Value) { self.value = value }
  }

  /// A channel that the device reads.
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
  package let key: [UInt8]
  /// Whether the owner is in a family, so that the device uses a relay.
  package let isInFamily: Bool
  private let childMachine: Machine<ChildMachine>?
  private let guardianMachine: Machine<GuardianMachine>?
  /// The channels that the device reads.
  var channels: [SubscribedChannel] = []
  /// The topics of the channels that the device reads.
  package var channelTopics: [[UInt8]] { channels.map(\.topic) }
  /// The state of the connection to the relay.
  package internal(set) var connection = ConnectionHealth.State.connecting
  /// Events that the device or an app rejected.
  package var rejectedEvents = 0
  /// Whether the device takes part in the network. False in airplane mode.
  package internal(set) var isOnline = true
  /// Whether the device can send to the relay.
  var isReachable: Bool { isOnline && connection == .connected }
  /// The relay's proof of enrolment from the last attachment; empty before the first one.
  var pass: [UInt8]
  /// The problem with which the relay last refused the device.
  package var refusal: Problem?

  /// A device with the public key of its connection.
  ///
  /// - Parameter pass: The relay's proof of enrolment from the last attachment; empty without one.
  package init(_ machine: ChildMachine, key: [UInt8], isInFamily: Bool = true, pass: [UInt8] = []) {
    (self.key, self.isInFamily, self.pass) = (key, isInFamily, pass)
    var machine = machine
    machine.releaseRestored()
    childMachine = Machine(machine)
    guardianMachine = nil
  }

  /// A guardian's device with the public key of its connection.
  ///
  /// - Parameter pass: The relay's proof of enrolment from the last attachment; empty without one.
  package init(_ machine: GuardianMachine, key: [UInt8], pass: [UInt8] = []) {
    (self.key, isInFamily, self.pass) = (key, true, pass)
    var machine = machine
    machine.releaseRestored()
    childMachine = nil
    guardianMachine = Machine(machine)
  }

  /// The machine of a device that is no guardian's.
  package var child: ChildMachine? {
    _read { if let childMachine { yield childMachine.value } else { yield nil } }
  }

  /// Handles an input of a child's device. Its owner may set the wall clock, so each step has the
  /// monotonic clock, too.
  ///
  /// - Returns: The effects; `nil` on a guardian's device.
  func step(_ input: ChildMachine.Input, _ clock: HostClock) -> [DeviceEffect]? {
    childMachine?.value?.step(input, now: clock.now, uptime: clock.uptime)
  }

  /// The machine of a guardian's device.
  package internal(set) var guardian: GuardianMachine? {
    _read { if let guardianMachine { yield guardianMachine.value } else { yield nil } }
    _modify {
      var none: GuardianMachine?
      if let guardianMachine { yield &guardianMachine.value } else { yield &none }
    }
  }

  /// Moves the device's settled history from memory to a storage.
  package func moveHistory(to storage: any HistoryStorage) {
    childMachine?.value?.moveHistory(to: storage)
    guardianMachine?.value?.moveHistory(to: storage)
  }

  /// Takes the changes that the device's start requires.
  func takeStartChanges() -> [RecordChange] {
    childMachine?.value?.takeStartChanges() ?? guardianMachine?.value?.takeStartChanges() ?? []
  }

  /// The device's conversations, rosters and commands.
  package var link: DeviceLink { child?.link ?? guardian!.link }
  /// The notices that the owner has not dismissed.
  package var notifications: Notifications { child?.notifications ?? guardian!.notifications }
  /// When the machine needs the input `timer`, or `nil` if it needs none.
  func findDeadline() -> Instant? {
    childMachine?.value?.findDeadline() ?? guardianMachine?.value?.findDeadline()
  }

  /// Handles an input of either kind of device.
  func step(
    _ input: ChildMachine.Input, or other: @autoclosure () -> GuardianMachine.Input,
    _ clock: HostClock
  ) -> [DeviceEffect] {
    step(input, clock) ?? guardian!.step(other(), now: clock.now)
  }
}
