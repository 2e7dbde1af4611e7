import FamilyModel

extension AgentHost {
  /// Lets those devices attach whose turn it is. A device may have lost its connection while it waited.
  func attachNext() {
    let now = Instant.now
    for address in attachQueue.next(now) {
      guard let device = devices[address], device.isReachable else {
        attachQueue.remove(address)
        continue
      }
      perform(device.connected(now), for: address)
    }
  }
}
