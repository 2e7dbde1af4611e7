package import FamilyCore
package import FamilyModel
import RelayWire
import SystemClock
import ZeroMQ

/// The devices of a host, without sockets, store, apps and people.
///
/// Inputs step the devices' machines and collect their effects. A *turn* begins with the work that is
/// due, and then asks for batches until none is left:
///
/// ```
/// host.beginTurn()
/// while let batch = host.nextBatch() {
///   commit(batch.records, batch.passes)     // one transaction
///   for effect in batch.effects { carryOut(effect) }
/// }
/// ```
///
/// Agents put sockets, SQLite and programs around a host; the simulator puts a virtual network, disk and
/// clock around the same code.
///
/// ## Bounds
/// - Questions wait for ``QuestionWindow``, and attachments for ``AttachQueue``.
/// - A turn admits at most 32 questions, so that received messages come first.
package final class DeviceHost {
  let clock: HostClock
  /// The hosted devices.
  package internal(set) var devices: [DeviceAddress: HostedDevice] = [:]
  /// The connections to the relay by their public keys.
  var connections: [[UInt8]: HostConnection] = [:]
  /// Called with each decoded message of the relay before its device handles it.
  package var onReply: ((Reply, DeviceAddress) -> Void)?
  package var onBroadcast: ((Broadcast, DeviceAddress) -> Void)?
  /// Counts since the start.
  package var counters = HostCounters()
  /// Whether the devices' state has changed since the owner of the host last reset it.
  package var hasChanged = true

  /// The devices' deadlines. A host may have many thousands of devices.
  var timers = TimerQueue<DeviceAddress>()
  var attachQueue = AttachQueue()
  var rosters = SharedRosters()
  /// The changes that wait for the next transaction.
  var waiting = HostBatch()
  /// The effects that wait for the next transaction.
  var effects: [(DeviceAddress, DeviceEffect)] = []
  /// The latest time of that transaction.
  var changesDue: MonotonicInstant?
  var clockWatch = ClockWatch()
  /// The questions that this turn still admits.
  var room = 0
  /// When to release the memory that the attachment of many devices took.
  var releaseMemoryAt: Instant?

  /// Creates a host without devices.
  package init(clock: HostClock) { self.clock = clock }

  /// Decodes a device's record; all hosted devices of a family then share one copy of its roster.
  package func share(_ records: inout [DeviceRecord], of family: FamilyID) {
    rosters.share(&records, of: family)
  }

  /// Adds a device, and the connection of its key if it is in a family. The next batch has the changes
  /// of the device's start, such as a new snapshot.
  package func add(_ device: HostedDevice) {
    let address = device.link.address
    devices[address] = device
    let changes = device.takeStartChanges()
    if !changes.isEmpty { persist(changes, of: address) }
    guard device.isInFamily, connections[device.key] == nil else { return }
    connections[device.key] = HostConnection()
  }

  /// Starts the machines.
  package func start() {
    for address in devices.keys.sorted() { act(GuardianMachine.Input.started, on: address) }
  }

  /// Applies an input of a guardian to one of the devices.
  package func act(_ input: GuardianMachine.Input, on address: DeviceAddress) {
    guard let device = devices[address] else { return }
    perform(device.guardian?.step(input, now: clock.now) ?? [], for: address)
  }

  /// Applies an input of a child, a user or an app to one of the devices.
  package func act(_ input: ChildMachine.Input, on address: DeviceAddress) {
    guard let device = devices[address] else { return }
    perform(device.step(input, clock) ?? [], for: address)
  }

  /// Collects the effects of a step.
  func perform(_ stepEffects: [DeviceEffect], for address: DeviceAddress) {
    if let deadline = devices[address]?.findDeadline() { timers.set(address, deadline) }
    for effect in stepEffects {
      if case .persist(let changes) = effect {
        persist(changes, of: address)
        hasChanged = true
      } else if case .requestAdmission(let question) = effect {
        enqueue(question, of: address)
      } else {
        effects.append((address, effect))
      }
    }
  }

  private func persist(_ changes: [RecordChange], of address: DeviceAddress) {
    waiting.records.append((address, changes))
    delayCommit()
  }

  func delayCommit() { changesDue = changesDue ?? clock.moment + Self.commitDelay }
}
