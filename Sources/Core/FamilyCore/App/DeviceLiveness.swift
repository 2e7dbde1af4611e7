public import FamilyModel

/// Decides when an app's calls stop waiting for a device that is away.
///
/// - A call waits → (the device is silent for the ping interval) the device is pinged → (any
///   message) the call waits on.
/// - A call waits → (the device is silent for the limit) the call expires.
///
/// The limit bounds the silence of the device, not the time that a person takes for a prompt.
/// Moments are durations since an arbitrary start.
public struct DeviceLiveness: Sendable {
  private let limit: Duration
  private let interval: Duration
  private var started: [UInt64: Duration] = [:]
  private var lastReceived: Duration?
  private var lastPing: Duration?

  /// A liveness check without calls.
  ///
  /// - Parameter limit: The silence after which a call expires.
  /// - Parameter interval: The silence after which the device is pinged, and between two pings.
  public init(limit: Duration = Limits.deviceSilence, interval: Duration = Limits.devicePing) {
    self.limit = limit
    self.interval = interval
  }

  /// When to call ``ping(now:)`` and ``expire(now:)``; `nil` while no call waits.
  public var deadline: Duration? {
    started.isEmpty ? nil : min(pingDue, started.values.map(end(of:)).min()!)
  }

  /// A call waits from now on.
  public mutating func start(_ call: UInt64, now: Duration) { started[call] = now }

  /// The call no longer waits.
  public mutating func end(_ call: UInt64) { started[call] = nil }

  /// The device sent a message.
  public mutating func received(now: Duration) { lastReceived = now }

  /// Whether to ping the device now. `true` counts as a ping.
  public mutating func ping(now: Duration) -> Bool {
    guard !started.isEmpty, pingDue <= now else { return false }
    lastPing = now
    return true
  }

  /// Removes and returns the calls whose limit has passed, in order.
  public mutating func expire(now: Duration) -> [UInt64] {
    let expired = started.filter { end(of: $0.value) <= now }.keys.sorted()
    for call in expired { started[call] = nil }
    return expired
  }

  private var pingDue: Duration {
    // A call that starts after a long silence leaves the device one interval before the first ping.
    let quiet = max(lastReceived ?? .zero, started.values.min() ?? .zero)
    return max(quiet, lastPing ?? .zero) + interval
  }

  private func end(of start: Duration) -> Duration { max(start, lastReceived ?? start) + limit }
}
