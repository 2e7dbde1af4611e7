import FamilyCore
import FamilyModel
import ZeroMQ

/// Announces the attached devices of one connection to the relay, many in one request.
///
/// A host may have thousands of devices on a connection. Separate pings would be most of an idle
/// relay's load.
///
/// - `idle` → `announcing`: a device attaches
/// - `announcing` → `lost`: nothing arrives for ``timeout`` after a request
/// - `lost` → `idle`: ``expire(now:)`` returns the devices, which attach again
///
/// Each device is announced every ``interval``, in requests of at most ``devicesPerRequest``.
struct Presence {
  /// Devices of one request. Further devices are announced by the next one.
  static let devicesPerRequest = 256
  /// The time between two announcements of one device.
  static let interval = Nanoseconds.milliseconds(Timing.pingInterval.count)
  /// The time without a message after which the connection counts as lost; the relay has then
  /// forgotten its devices. Long enough that a relay that is only slow does not have to attach
  /// thousands again.
  static let timeout = Nanoseconds.seconds(45)

  private var devices: [DeviceAddress] = []
  private var indices: [DeviceAddress: Int] = [:]
  /// The index of the first device of the next request.
  private var next = 0
  private var due: MonotonicInstant?
  /// When the oldest request without an answer was sent.
  private var unansweredSince: MonotonicInstant?

  /// When ``announce(now:)`` or ``expire(now:)`` is due; `nil` without devices.
  var deadline: MonotonicInstant? {
    guard !devices.isEmpty else { return nil }
    return [due, unansweredSince.map { $0 + Self.timeout }].compactMap { $0 }.min()
  }

  /// Adds an attached device.
  mutating func add(_ device: DeviceAddress, now: MonotonicInstant) {
    guard indices[device] == nil else { return }
    indices[device] = devices.count
    devices.append(device)
    if due == nil { due = now + Self.interval }
  }

  /// Removes a device that is no longer attached.
  mutating func remove(_ device: DeviceAddress) {
    guard let index = indices.removeValue(forKey: device) else { return }
    let last = devices.removeLast()
    if last != device {
      devices[index] = last
      indices[last] = index
    }
    if devices.isEmpty { self = Presence() }
  }

  /// Records that a message arrived from the relay.
  mutating func messageArrived() { unansweredSince = nil }

  /// Removes all devices if the connection is lost.
  ///
  /// - Returns: The removed devices, which must attach again.
  mutating func expire(now: MonotonicInstant) -> [DeviceAddress] {
    guard let unansweredSince, now >= unansweredSince + Self.timeout else { return [] }
    defer { self = Presence() }
    return devices
  }

  /// The devices of the request that is due at `now`; empty if none is.
  mutating func announce(now: MonotonicInstant) -> ArraySlice<DeviceAddress> {
    guard let due, due <= now else { return [] }
    if next >= devices.count { next = 0 }
    // A relay that has not answered the last request gets no further one for an interval.
    let isAnswered = unansweredSince.map { now >= $0 + Self.interval } ?? true
    let announced = isAnswered ? devices[next...].prefix(Self.devicesPerRequest) : []
    next += announced.count
    // The requests of an interval are spread evenly. Missed announcements are skipped.
    let requests = (devices.count + Self.devicesPerRequest - 1) / Self.devicesPerRequest
    self.due = now + Self.interval / requests
    unansweredSince = unansweredSince ?? now
    return announced
  }
}
