import FamilyCore
import FamilyModel
import History
import RelayStore
import RelayWire

/// A device's process, its disk, and its connection to the relay.
final class DeviceProcess {
  let plan: Scenario.DevicePlan
  let address: DeviceAddress
  let key: [UInt8]
  let apps: [AppProcess]
  let vault: FakeVault

  var child: ChildMachine?
  var guardian: GuardianMachine?
  var disk = Journal<RecordChange>()
  var isDamaged = false
  var isFull = false
  var isRunning = false
  /// Counts the process's lives.
  var life = 0
  var fuse = Fuse()
  var clock: Int64 = 0
  /// What jumps since a step back in this life come to, until the shell sees them.
  var unseenJump: Int64 = 0
  var timerAt: Int64?
  /// As `AgentHost`'s: what waits for the end of the turn.
  var changes: [RecordChange] = []
  var effects: [DeviceEffect] = []
  /// Events of this turn that the device does not believe: it passes them by.
  var disbelieving = 0
  var passed: [Audience: UInt64] = [:]
  var disbelieved: [Audience: Set<UInt64>] = [:]
  /// Whose birthdates it is known to have.
  var birthdates: Set<PersonID> = []
  /// What the device owes each app, as its disk has it.
  var standings: [AppProgress]

  /// Whether there is a network around.
  var isOnline = false
  var isConnected = false
  var isListening = false
  /// Counts the connections: what was sent on an earlier one does not arrive.
  var connection = 0
  /// The channels that it listens to, and those that it tries to.
  var topics: [[UInt8]] = []
  var pried: [[UInt8]] = []
  var network = Act.LinkFault()
  private var faults: [(number: Int, fault: Act.LinkFault)] = []
  private var lastFault = 0
  var delay: Int64 = 0
  var lastUp: Int64 = 0
  var lastDown: Int64 = 0

  init(
    _ plan: Scenario.DevicePlan, apps: Int, organizer: DeviceID, _ keys: FakeVault.KeyMaker
  ) {
    self.plan = plan
    let family = FamilyID(UInt64(plan.family) + 1)
    address = DeviceAddress(family: family, device: plan.id)
    key =
      ID128(high: family.rawValue, low: UInt64(plan.id.rawValue)).bytes
      + [UInt8](repeating: 7, count: 16)
    vault = FakeVault(address, keys)
    let root = FakeVault(DeviceAddress(family: family, device: organizer), keys)
    let security = AppSecurity(
      family: family, child: plan.person.id, organizerKey: root.signingKey)
    let vault = vault
    self.apps = (0..<apps).map { AppProcess(Scenario.apps[$0], security, vault) }
    standings = Array(repeating: AppProgress(), count: apps)
  }

  var link: DeviceLink { child?.link ?? guardian!.link }
  /// Mutating accesses copy nothing.
  var deadline: Instant? { child?.due() ?? guardian?.due() }

  /// The link's faults that are not over, together; gives the number to end this one with.
  func begin(linkFault fault: Act.LinkFault) -> Int {
    lastFault += 1
    faults.append((lastFault, fault))
    mix()
    return lastFault
  }

  func end(linkFault number: Int) {
    faults.removeAll { $0.number == number }
    mix()
  }

  func endLinkFaults() {
    faults = []
    mix()
  }

  private func mix() {
    network = faults.reduce(into: Act.LinkFault()) { all, next in
      all.losesPercent = max(all.losesPercent, next.fault.losesPercent)
      all.repeatsPercent = max(all.repeatsPercent, next.fault.repeatsPercent)
      all.reorders = all.reorders || next.fault.reorders
      all.blocksUp = all.blocksUp || next.fault.blocksUp
      all.blocksDown = all.blocksDown || next.fault.blocksDown
      all.delay = max(all.delay, next.fault.delay)
    }
  }
}

extension ChildMachine {
  fileprivate mutating func due() -> Instant? { deadline }
}

extension GuardianMachine {
  fileprivate mutating func due() -> Instant? { deadline }
}
