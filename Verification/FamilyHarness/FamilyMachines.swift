package import FamilyCore
package import FamilyModel

/// The machines of one family, their disks and their clock.
package struct FamilyMachines: Sendable {
  /// The time stands still until a test advances the clock.
  package var now: Instant
  package var relay: RelayMachine
  /// The roster before the last broadcast of one.
  var formerRoster = Roster()
  /// The relay's durable events.
  package var log: [Event] = []
  /// The relay's durable passcode lock.
  package var passcodeLock: [UInt8]?
  /// The devices with apps: those of children and adults.
  package var children: [UInt32: ChildMachine] = [:]
  package var guardians: [UInt32: GuardianMachine] = [:]
  /// Each device's durable records.
  package var disks: [UInt32: [RecordKey: DeviceRecord]] = [:]
  /// Devices without a network.
  package var away: Set<UInt32> = []
  /// The number of a device's effects that precede its kill; `nil`: no kill.
  package var kill: (device: UInt32, effects: Int)?
  /// Killed devices lose their effects and receive no input.
  package private(set) var killed: Set<UInt32> = []
  private var seeds = IDSource(seed: 1)
  /// Effects in the order of their steps.
  var queue: [(device: UInt32, effect: DeviceEffect)] = []
  var isDraining = false

  package init(now: Instant, relay: RelayMachine) {
    self.now = now
    self.relay = relay
  }

  /// A device's records in an order that is the same in each run.
  package func records(of device: UInt32) -> [DeviceRecord] {
    (disks[device] ?? [:]).values.sorted { "\($0.key)" < "\($1.key)" }
  }

  /// A new source of ids for each start of a device, as in a process.
  package mutating func newIDs() -> IDSource { IDSource(seed: seeds.next()) }

  /// The earliest deadline of all machines.
  package var deadline: Instant? {
    ([relay.deadline] + guardians.values.map(\.deadline)
      + children.filter { !killed.contains($0.key) }.values.map(\.deadline))
      .compactMap { $0 }.min()
  }

  /// Ends the kill of a device, which then starts from its records.
  package mutating func revive(_ device: UInt32) { killed.remove(device) }

  /// Whether the device carries out its next effect.
  mutating func survives(_ device: UInt32) -> Bool {
    if let kill, kill.device == device {
      self.kill = kill.effects > 0 ? (device, kill.effects - 1) : nil
      if kill.effects == 0 { killed.insert(device) }
    }
    return !killed.contains(device)
  }

  package mutating func persist(_ changes: [RecordChange], of device: UInt32) {
    for change in changes {
      switch change {
      case .put(let record): disks[device, default: [:]][record.key] = record
      case .delete(let key): disks[device, default: [:]][key] = nil
      }
    }
  }

  /// The audience's events after `seq`, in order.
  func events(of audience: Audience, after seq: UInt64) -> [Event] {
    log.filter { $0.audience == audience && $0.seq > seq }
  }
}

extension Roster {
  /// Persons with the numbers 1, 2, … in this order, and their devices.
  package init(_ people: [(role: Role, name: String)], devices: [Device]) {
    self.init(
      persons: people.enumerated().map { index, person in
        Person(id: PersonID(UInt32(index) + 1), role: person.role, displayName: person.name)
      }, devices: devices)
  }
}

extension Device {
  /// The CURVE public key that a device of a harness has.
  package static func curveKey(_ device: UInt32) -> [UInt8] {
    Array(repeating: UInt8(truncatingIfNeeded: device), count: 32)
  }
}
