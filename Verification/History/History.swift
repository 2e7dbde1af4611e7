public import FamilyModel

/// An append-only record of a run's facts, in the order of observation.
///
/// The simulator, chaos and load record histories. Checkers judge a run by its history alone.
public struct History: Sendable {
  /// A fact and the time of its observation.
  public struct Entry: Sendable {
    /// The time on the observer's clock.
    public var at: Instant
    /// The observed fact.
    public var fact: Fact
  }

  /// All facts in order.
  public private(set) var entries: [Entry] = []

  /// Creates an empty history.
  public init() {}

  /// Appends a fact.
  public mutating func record(_ fact: Fact, at: Instant) {
    entries.append(Entry(at: at, fact: fact))
  }

  /// The facts with their indices, for checkers.
  var facts: some Sequence<(offset: Int, element: Fact)> {
    entries.lazy.map(\.fact).enumerated()
  }
}

/// An app on a device.
public struct AppAddress: Hashable, Comparable, Sendable {
  /// The device on which the app runs.
  public var device: DeviceAddress
  /// The app's identifier.
  public var app: AppID
  /// Creates the address of `app` on `device`.
  public init(_ device: DeviceAddress, _ app: AppID) {
    self.device = device
    self.app = app
  }
  public static func < (a: AppAddress, b: AppAddress) -> Bool {
    (a.device, a.app) < (b.device, b.app)
  }
}
