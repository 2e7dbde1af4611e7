import FamilyModel
import SystemClock
import ZeroMQ

extension AgentHost {
  /// Attaches the devices that the queue admits. A device may have lost its connection while it
  /// waited.
  func attachNext() {
    let now = Instant.now
    let admitted = attachQueue.admit(now: now)
    if !admitted.isEmpty { releaseMemoryAt = now + AttachQueue.timeout }
    for address in admitted {
      guard let device = devices[address], device.isReachable else {
        attachQueue.remove(address)
        continue
      }
      perform(device.connected(now), for: address)
    }
  }

  /// Returns free memory to the system after many devices have attached.
  ///
  /// Meanwhile libzmq's threads queue messages for thousands of devices. Their allocators keep that
  /// memory, which is more than all the devices use.
  func releaseFreeMemory(now: Instant) {
    guard let due = releaseMemoryAt, due <= now else { return }
    releaseMemoryAt = nil
    if devices.count >= AttachQueue.window.maximum { Context.releaseFreeMemory() }
  }

  /// Announces the attached devices that are due. Attaches the devices of lost connections again.
  func announcePresence() {
    let now = MonotonicInstant.now
    for connection in connections.values
    where connection.presence.deadline.map({ $0 <= now }) ?? false {
      for address in connection.presence.expire(now: now) {
        guard let device = devices[address] else { continue }
        perform(device.disconnected(.now), for: address)
        attachQueue.enqueue(address)
      }
      let announced = connection.presence.announce(now: now)
      guard let first = announced.first else { continue }
      send(0, .present(Array(announced.dropFirst())), of: first)
    }
  }
}
