import DequeModule
import FamilyModel

/// Limits how many devices of a host attach at the same time.
///
/// A device is `unknown` → (enqueue) `waiting` → (admit) `attaching` → (reply or removal) `unknown`. A
/// device that is enqueued again keeps its place, so a connection that flaps adds nothing.
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
  /// The waiting devices in order, with their numbers. An entry whose number is not the device's
  /// number in `numbers` was removed.
  private var waiting: Deque<(device: DeviceAddress, number: UInt64)> = []
  private var numbers: [DeviceAddress: UInt64] = [:]
  private var lastNumber: UInt64 = 0
  private var window = Self.window.maximum
  /// The moving average of reply times.
  private var averageReplyTime = Milliseconds.zero

  /// Adds a device that can reach the relay, unless it waits already.
  mutating func enqueue(_ device: DeviceAddress) {
    guard numbers[device] == nil else { return }
    lastNumber += 1
    numbers[device] = lastNumber
    waiting.append((device, lastNumber))
  }

  /// Devices that wait.
  var waitingCount: Int { numbers.count }
  /// Entries of devices that wait or were removed.
  var entryCount: Int { waiting.count }

  /// Records the relay's reply to a device.
  mutating func replied(to device: DeviceAddress, now: Instant) {
    if let request = requests[device] {
      let duration = max(.zero, now - request.at)
      averageReplyTime = averageReplyTime - averageReplyTime / 8 + duration / 8
    }
    if attaching[device] != nil { window = min(window + 1, Self.window.maximum) }
    free(device)
  }

  /// Removes a device that can no longer reach the relay.
  mutating func remove(_ device: DeviceAddress) {
    free(device)
    guard numbers.removeValue(forKey: device) != nil else { return }
    // Entries of removed devices are skipped. They are dropped before they outnumber the others.
    if waiting.count > 2 * numbers.count + Self.window.maximum {
      waiting.removeAll { [numbers] in numbers[$0.device] != $0.number }
    }
  }

  private mutating func free(_ device: DeviceAddress) {
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
    guard !numbers.isEmpty else { return [] }
    if attaching.count >= window {
      let current = attaching.filter { now < $0.value + Self.timeout }
      if current.count < attaching.count { window = max(Self.window.minimum, window / 2) }
      attaching = current
    }
    var admitted: [DeviceAddress] = []
    while attaching.count < window, let (device, number) = waiting.popFirst() {
      guard numbers[device] == number else { continue }
      numbers[device] = nil
      attaching[device] = now
      admitted.append(device)
    }
    return admitted
  }
}
