import DeviceTurn
import FamilyCore
import FamilyModel
import RelayStore
import RelayWire
import ZeroMQ

/// A device of a family: production's host with one device, and a disk that outlives the host.
final class InMemoryDevice {
  let address: DeviceAddress
  private let key: [UInt8]
  private let clock: FamilyClock
  private let disk = MemoryAgentStore()
  private var pass: [UInt8] = []
  private var host: DeviceHost

  init(_ address: DeviceAddress, _ clock: FamilyClock) {
    self.address = address
    self.clock = clock
    key = InMemoryRelay.key(of: address.device.rawValue)
    host = Self.makeHost(clock)
  }

  private static func makeHost(_ clock: FamilyClock) -> DeviceHost {
    DeviceHost(clock: HostClock(wall: { clock.now }, monotonic: { clock.moment }))
  }

  /// The number of the device.
  var number: UInt32 { address.device.rawValue }
  /// The machine of the child's device.
  var child: ChildMachine? { host.devices[address]?.child }
  /// The machine of a guardian's device.
  var guardian: GuardianMachine? { host.devices[address]?.guardian }
  /// Whether the device has a network.
  var isOnline: Bool { host.devices[address]?.isOnline ?? true }

  /// The device's durable records.
  var records: [DeviceRecord] {
    try! disk.load(prefix: []).map { try! DeviceRecord.decode(key: $0.key, value: $0.value) }
  }

  /// When the next turn is due without an input.
  var due: Instant? {
    host.deadline.map {
      Instant(milliseconds: Int64(($0.uptime + .nanoseconds(999_999)).milliseconds))
    }
  }

  // MARK: The process

  /// Starts a process with the machine of the child's device. An earlier process ends.
  func start(_ machine: ChildMachine, isInFamily: Bool) {
    start(HostedDevice(machine, key: key, isInFamily: isInFamily, pass: pass))
  }

  /// Starts a process with the machine of a guardian's device.
  func start(_ machine: GuardianMachine) { start(HostedDevice(machine, key: key, pass: pass)) }

  private func start(_ device: HostedDevice) {
    let wasOnline = isOnline
    host = Self.makeHost(clock)
    host.add(device)
    host.start()
    host.setOnline(wasOnline, address)
    host.connectionChanged(.connected, of: key)
  }

  // MARK: Inputs

  func act(_ input: ChildMachine.Input) { host.act(input, on: address) }
  func act(_ input: GuardianMachine.Input) { host.act(input, on: address) }
  func setOnline(_ isOnline: Bool) { host.setOnline(isOnline, address) }

  func receive(_ message: InMemorySockets.Message) {
    switch message {
    case .reply(let bytes):
      host.messageArrived(key: key)
      host.received(bytes.withUnsafeBytes { try? ReplyEnvelope.decode($0) }, key: key)
    case .broadcast(let frame): host.received(frame: frame, key: key)
    }
  }

  /// Runs turns until nothing is due. Each transaction is durable at once.
  func turn(_ carryOut: (HostEffect) -> Void) {
    repeat {
      host.beginTurn()
      while let batch = host.nextBatch() { commit(batch, carryOut) }
      // Changes without effects wait for further ones, and time stands still.
      commit(host.takeBatch(), carryOut)
    } while due.map { $0 <= clock.now } ?? false
  }

  private func commit(_ batch: HostBatch, _ carryOut: (HostEffect) -> Void) {
    try! disk.apply(batch.records.flatMap { $0.changes.map { Change($0, under: []) } })
    pass = batch.passes.last?.pass ?? pass
    for effect in batch.effects { carryOut(effect) }
  }
}
