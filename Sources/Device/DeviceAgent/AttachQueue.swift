import DequeModule
import FamilyModel

/// The devices of a host attach some hundred at a time: a relay that has just started, or that is slow, is
/// not buried under the requests of thousands and their repetitions.
///
/// How many at a time follows from how the relay answers: one more for each answer, half as many where
/// answers do not come.
struct AttachQueue {
  /// Devices that attach at the same time, at most and at least.
  static let window = (most: 256, least: 8)
  /// Milliseconds after which a device that was not answered does not hold up the next; it goes on trying.
  static let patience: Int64 = 2_000

  /// Devices that have their turn, and since when.
  private var attaching: [DeviceAddress: Instant] = [:]
  /// When those that were not answered asked last.
  private var asked: [DeviceAddress: (at: Instant, from: [Cursor])] = [:]
  private var waiting: Deque<DeviceAddress> = []
  private var window = Self.window.most
  /// Milliseconds that an answer takes usually.
  private var usual: Int64 = 0

  /// The device can reach the relay.
  mutating func add(_ device: DeviceAddress) { waiting.append(device) }

  /// The device was answered.
  mutating func answered(_ device: DeviceAddress, now: Instant) {
    if let asked = asked[device] {
      let took = max(0, now.milliseconds - asked.at.milliseconds)
      usual = usual - usual / 8 + took / 8
    }
    if attaching[device] != nil { window = min(window + 1, Self.window.most) }
    remove(device)
  }

  /// The device cannot reach the relay any more.
  mutating func remove(_ device: DeviceAddress) {
    attaching[device] = nil
    asked[device] = nil
  }

  /// Whether the device may ask now; not the same again while an answer can still be expected.
  mutating func mayAttach(_ device: DeviceAddress, from cursors: [Cursor], now: Instant) -> Bool {
    if let last = asked[device], last.from == cursors, last.at <= now,
      now < last.at + min(max(1_000, 4 * usual), 30_000)
    {
      return false
    }
    asked[device] = (now, cursors)
    return true
  }

  /// Takes those whose turn it is.
  mutating func next(_ now: Instant) -> [DeviceAddress] {
    guard !waiting.isEmpty else { return [] }
    if attaching.count >= window {
      let answering = attaching.filter { now < $0.value + Self.patience }
      if answering.count < attaching.count { window = max(Self.window.least, window / 2) }
      attaching = answering
    }
    let turn = Array(waiting.prefix(max(0, window - attaching.count)))
    for device in turn { attaching[device] = now }
    waiting.removeFirst(turn.count)
    return turn
  }
}
