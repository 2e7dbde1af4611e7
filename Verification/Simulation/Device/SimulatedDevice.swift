import Synchronization
import DeviceTurn
import FamilyCore
import FamilyModel
import History
import RelayStore
import RelayWire

/// A device's process, its disk and its connection to the relay.
final class SimulatedDevice {
  let plan: Scenario.DevicePlan
  let address: DeviceAddress
  let key: [UInt8]
  let apps: [SimulatedApp]
  let vault: FakeVault

  /// The devices of the running process: this one.
  var host: DeviceHost?
  var disk = Journal<RecordChange>()
  /// The state that the mutant of snapshots keeps.
  let firstSnapshot = FirstSnapshot()
  var isDamaged = false
  var diskFault: DiskFault?
  var isRunning = false
  /// The number of starts of the process.
  var life = 0
  var crash = CrashCountdown()
  var clock = Milliseconds.zero
  var timerAt: Milliseconds?
  var cursors: [Audience: UInt64] = [:]
  /// The newest event of each audience that was ever durable here.
  var read: [Audience: UInt64] = [:]
  var rejected: [Audience: Set<UInt64>] = [:]
  /// The persons whose birthdates the device has opened, as recorded in the history.
  var birthdates: Set<PersonID> = []
  /// The seconds of pages that the device's apps have shown.
  var shownSeconds: UInt64 = 0
  /// The devices of the roster that the history has.
  var recordedRoster: [Device] = []
  /// When the device verified this roster.
  var rosterTime = Milliseconds.zero
  /// The progress of each app, as stored on the disk.
  var progress: [AppProgress]

  /// The relay's pass on the device's disk.
  var pass: [UInt8] = []

  /// Whether the device has a network.
  var isOnline = false
  var isConnected = false
  /// When the device last connected.
  var connectionTime = Milliseconds.zero
  var isListening = false
  /// The number of the current connection. Messages of earlier connections are lost.
  var connection = 0
  /// The topics to which its host subscribes, and foreign ones that it tries to subscribe to.
  var topics: [[UInt8]] = []
  var foreignTopics: [[UInt8]] = []
  /// The inbox that the relay named last, and those whose subscriptions it has approved.
  var inbox: Inbox?
  var approved: [Inbox] = []
  var network = Act.LinkFault()
  private var faults: [(number: Int, fault: Act.LinkFault)] = []
  private var lastFault = 0
  var delay = Milliseconds.zero
  var lastUp = Milliseconds.zero
  var lastDown = Milliseconds.zero

  init(
    _ plan: Scenario.DevicePlan, apps: Int, organizer: DeviceID, _ keys: FakeVault.KeyMaker
  ) {
    self.plan = plan
    let family = FamilyID(UInt64(plan.family) + 1)
    address = DeviceAddress(family: family, device: plan.id)
    key =
      ID128(high: family.rawValue, low: UInt64(plan.id.rawValue)).bytes
      + [UInt8](repeating: 7, count: 16)
    let vault = FakeVault(address, keys)
    self.vault = vault
    let root = FakeVault(DeviceAddress(family: family, device: organizer), keys)
    let security = AppSecurity(
      family: family, child: plan.person.id, organizerKey: root.signingKey)
    let appVault = vault
    self.apps = (0..<apps).map { SimulatedApp(Scenario.apps[$0], security, appVault) }
    progress = Array(repeating: AppProgress(), count: apps)
  }

  private var hosted: HostedDevice? { host?.devices[address] }
  var child: ChildMachine? { hosted?.child }
  var guardian: GuardianMachine? { hosted?.guardian }
  var link: DeviceLink { hosted!.link }

  /// Adds a link fault to the active ones.
  ///
  /// - Returns: The number that ends this fault.
  func begin(linkFault fault: Act.LinkFault) -> Int {
    lastFault += 1
    faults.append((lastFault, fault))
    combineFaults()
    return lastFault
  }

  func end(linkFault number: Int) {
    faults.removeAll { $0.number == number }
    combineFaults()
  }

  func endLinkFaults() {
    faults = []
    combineFaults()
  }

  private func combineFaults() {
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

/// The first state that a device has sealed.
final class FirstSnapshot: Sendable {
  private let first = Mutex<[UInt8]?>(nil)

  func bytes(or bytes: [UInt8]) -> [UInt8] {
    first.withLock { first in
      first = first ?? bytes
      return first!
    }
  }
}
