import DequeModule
import FamilyModel

/// Limits how many devices of a host attach at the same time.
///
/// Without a limit, thousands of devices and their retries would overload a relay that has just
/// started. The window grows by one with each reply and is halved when replies time out.
struct AttachQueue {
  /// Devices that attach at the same time.
  static let window = (maximum: 256, minimum: 8)
  /// The time after which a device without a reply frees its room in the window. The device keeps
  /// trying.
  static let timeout = Milliseconds.seconds(2)
  /// The time between two identical requests of a device: four average reply times, within this
  /// range.
  static let retryInterval = Milliseconds.seconds(1)...Milliseconds.seconds(30)

  /// The devices inside the window, with the time of their admission.
  private var attaching: [DeviceAddress: Instant] = [:]
  /// The newest requests without a reply.
  private var requests: [DeviceAddress: (at: Instant, from: [Cursor])] = [:]
  private var waiting: Deque<DeviceAddress> = []
  private var window = Self.window.maximum
  /// The moving average of reply times.
  private var averageReplyTime = Milliseconds.zero

  /// Adds a device that can reach the relay.
  mutating func enqueue(_ device: DeviceAddress) { waiting.append(device) }

  /// Records the relay's reply to a device.
  mutating func replied(to device: DeviceAddress, now: Instant) {
    if let request = requests[device] {
      let duration = max(.zero, now - request.at)
      averageReplyTime = averageReplyTime - averageReplyTime / 8 + duration / 8
    }
    if attaching[device] != nil { window = min(window + 1, Self.window.maximum) }
    remove(device)
  }

  /// Removes a device that can no longer reach the relay.
  mutating func remove(_ device: DeviceAddress) {
    attaching[device] = nil
    requests[device] = nil
  }

  /// Whether the device may send its request now. An identical request waits for ``retryInterval``.
  mutating func mayAttach(_ device: DeviceAddress, from cursors: [Cursor], now: Instant) -> Bool {
    let interval = min(
      max(averageReplyTime * 4, Self.retryInterval.lowerBound), Self.retryInterval.upperBound)
    // A send time after `now` means the clock was set back.
    if let last = requests[device], last.from == cursors, last.at <= now, now < last.at + interval {
      return false
    }
    requests[device] = (now, cursors)
    return true
  }

  /// Admits as many waiting devices as the window has room for.
  ///
  /// - Returns: The admitted devices.
  mutating func admit(now: Instant) -> [DeviceAddress] {
    guard !waiting.isEmpty else { return [] }
    if attaching.count >= window {
      let current = attaching.filter { now < $0.value + Self.timeout }
      if current.count < attaching.count { window = max(Self.window.minimum, window / 2) }
      attaching = current
    }
    let admitted = Array(waiting.prefix(max(0, window - attaching.count)))
    for device in admitted { attaching[device] = now }
    waiting.removeFirst(admitted.count)
    return admitted
  }
}
