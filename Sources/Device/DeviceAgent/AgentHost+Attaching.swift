import FamilyModel
import SystemClock
import ZeroMQ

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
    if devices.count >= AttachQueue.window.most { Context.releaseFreeMemory() }
  }
}
