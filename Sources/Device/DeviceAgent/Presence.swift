import FamilyCore
import FamilyModel

/// Says for the devices of one connection that they are there: one request for many, since a host may have
/// thousands on a connection, and a ping of each would be most of what an idle relay hears.
///
/// `silent` → (a device attaches) `speaking` → (nothing comes for ``patience`` after a request) `lost`: the
/// devices attach anew. Each device is named every ``every`` nanoseconds, in turns of at most ``most``.
/// Moments are nanoseconds of `Monotonic`.
struct Presence {
  /// Devices of one request.
  static let most = 256
  /// Between two requests that name the same device.
  static let every = UInt64(Timing.ping) * 1_000_000
  /// After which a connection on which nothing comes is not believed in: the relay has forgotten its devices
  /// by then. A relay that is only slow must not have to attach thousands anew on top of it.
  static let patience: UInt64 = 45_000_000_000

  private var devices: [DeviceAddress] = []
  private var places: [DeviceAddress: Int] = [:]
  private var next = 0
  private var due: UInt64?
  /// Since when something is unanswered.
  private var waiting: UInt64?

  /// When ``speak(_:)`` or ``takeLost(_:)`` may have something to say.
  var deadline: UInt64? {
    devices.isEmpty ? nil : [due, waiting.map { $0 + Self.patience }].compactMap { $0 }.min()
  }

  /// The device is attached.
  mutating func add(_ device: DeviceAddress, _ now: UInt64) {
    guard places[device] == nil else { return }
    places[device] = devices.count
    devices.append(device)
    if due == nil { due = now + Self.every }
  }

  /// The device is not attached any more.
  mutating func remove(_ device: DeviceAddress) {
    guard let place = places.removeValue(forKey: device) else { return }
    let last = devices.removeLast()
    if last != device {
      devices[place] = last
      places[last] = place
    }
    if devices.isEmpty { self = Presence() }
  }

  /// Something came from the relay.
  mutating func heard() { waiting = nil }

  /// The devices, where the relay is silent: they are to attach anew, and are forgotten here.
  mutating func takeLost(_ now: UInt64) -> [DeviceAddress] {
    guard let waiting, now >= waiting + Self.patience else { return [] }
    defer { self = Presence() }
    return devices
  }

  /// The devices to name now: the first speaks for the others.
  mutating func speak(_ now: UInt64) -> ArraySlice<DeviceAddress> {
    guard let due, due <= now else { return [] }
    if next >= devices.count { next = 0 }
    // Who has not answered yet is not asked more.
    let isAnswered = waiting.map { now >= $0 + Self.every } ?? true
    let turn = isAnswered ? devices[next...].prefix(Self.most) : []
    next += turn.count
    // So many turns in a round; what was missed meanwhile is not made up for.
    let turns = UInt64((devices.count + Self.most - 1) / Self.most)
    self.due = now + Self.every / turns
    waiting = waiting ?? now
    return turn
  }
}
