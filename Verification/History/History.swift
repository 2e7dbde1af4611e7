public import FamilyModel

/// What happened in a run, in the order in which it was noted. It only grows.
///
/// Whoever drives the system writes it down: the simulator, a run of real processes, a load. The checkers
/// read it afterwards, and know nothing else.
public struct History: Sendable {
  /// One fact and when it was noted.
  public struct Entry: Sendable {
    /// The moment on the observer's clock.
    public var at: Instant
    /// What happened.
    public var fact: Fact
  }

  /// What happened.
  public private(set) var entries: [Entry] = []

  /// A history in which nothing happened.
  public init() {}

  /// Adds a fact.
  public mutating func note(_ fact: Fact, at: Instant) {
    entries.append(Entry(at: at, fact: fact))
  }

  /// The facts with their places, for checkers.
  var facts: some Sequence<(offset: Int, element: Fact)> {
    entries.lazy.map(\.fact).enumerated()
  }
}

/// An app on a device.
public struct AppAddress: Hashable, Comparable, Sendable {
  /// The device.
  public var device: DeviceAddress
  /// The app.
  public var app: AppID
  /// The app `app` on `device`.
  public init(_ device: DeviceAddress, _ app: AppID) {
    self.device = device
    self.app = app
  }
  public static func < (a: AppAddress, b: AppAddress) -> Bool {
    (a.device, a.app) < (b.device, b.app)
  }
}
