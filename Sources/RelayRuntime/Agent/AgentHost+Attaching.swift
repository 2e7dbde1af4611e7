import FamilyModel
import ZeroMQ

/// The devices of a host attach a few hundred at a time: a relay that has just started, or that is slow, is
/// not buried under the requests of thousands and their repetitions.
struct AttachQueue {
  /// Devices that attach at the same time.
  static let window = 256
  /// Milliseconds after which a device that was not answered does not hold up the next; it goes on trying.
  static let patience: Int64 = 2_000

  /// Devices that have their turn, and since when.
  private var attaching: [DeviceAddress: Instant] = [:]
  private var waiting: [DeviceAddress] = []
  /// The first of `waiting` that still waits.
  private var first = 0

  /// The device can reach the relay.
  mutating func add(_ device: DeviceAddress) { waiting.append(device) }

  /// The device was answered, or cannot reach the relay any more.
  mutating func remove(_ device: DeviceAddress) { attaching[device] = nil }

  /// Takes those whose turn it is.
  mutating func next(_ now: Instant) -> [DeviceAddress] {
    guard first < waiting.count else { return [] }
    if attaching.count >= Self.window {
      attaching = attaching.filter { now < $0.value + Self.patience }
    }
    let turn = waiting[first...].prefix(max(0, Self.window - attaching.count))
    for device in turn { attaching[device] = now }
    first += turn.count
    if first == waiting.count { (waiting, first) = ([], 0) }
    return Array(turn)
  }
}

extension AgentHost {
  /// Lets those devices attach whose turn it is. A device may have lost its connection while it waited.
  func attachNext() {
    let now = Instant.now
    let turn = attachQueue.next(now)
    if !turn.isEmpty { trimAt = now + AttachQueue.patience }
    for address in turn {
      guard let device = devices[address], device.isReachable else {
        attachQueue.remove(address)
        continue
      }
      perform(device.connected(now), for: address)
    }
  }

  /// While thousands attach, messages for them pile up in libzmq's threads, which keep that memory for
  /// themselves: more than all the devices take. Once it is over the system has it back.
  func trim(_ now: Instant) {
    guard let due = trimAt, due <= now else { return }
    trimAt = nil
    if devices.count >= AttachQueue.window { Context.releaseFreeMemory() }
  }
}
