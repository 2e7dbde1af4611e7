/// An interval of time in which an app watches the child's use of the web.
///
/// The app's library derives the intervals of a schedule one by one, because the device knows neither the
/// app's calendar nor its time zone.
public struct Activity: Hashable, Sendable {
  /// A limit of the time for which the child uses the web during the interval.
  public struct Threshold: Hashable, Sendable {
    /// The name, 1 to 128 bytes.
    public var name: String
    /// The time in seconds, 1 to 604,800.
    public var seconds: UInt32
    /// The sites whose time counts; empty: the time of all pages counts.
    public var sites: Set<Site>
    /// Creates a threshold.
    public init(_ name: String, seconds: UInt32, sites: Set<Site> = []) {
      (self.name, self.seconds, self.sites) = (name, seconds, sites)
    }
  }

  /// The name, 1 to 128 bytes.
  public var name: String
  /// Chosen by the app. No other interval of the app has the number.
  public var number: UInt64
  /// When the interval starts.
  public var start: Instant
  /// When the interval ends.
  public var end: Instant
  /// The seconds between a warning and the start, the end or a threshold; zero: no warning.
  public var warning: UInt32
  /// The limits, each with a name of its own.
  public var thresholds: [Threshold]

  /// Creates an activity.
  public init(
    _ name: String, number: UInt64 = 0, from start: Instant, to end: Instant, warning: UInt32 = 0,
    thresholds: [Threshold] = []
  ) {
    (self.name, self.number, self.start, self.end) = (name, number, start, end)
    (self.warning, self.thresholds) = (warning, thresholds)
  }

  /// Checks the names, the length and the thresholds.
  ///
  /// - Throws: `badText`, `activityLength` for an interval that is too short or too long, or `tooMany`.
  public func validate() throws(Problem) {
    try checkText(name, Limits.identifierBytes)
    guard Limits.activityLength.contains(end - start) else { throw .activityLength }
    guard thresholds.count <= Limits.activityThresholds,
      thresholds.allSatisfy({ $0.sites.count <= Limits.managedSites })
    else { throw .tooMany }
    guard Set(thresholds.map(\.name)).count == thresholds.count,
      thresholds.allSatisfy({ Limits.thresholdSeconds.contains($0.seconds) })
    else { throw .malformed }
    for threshold in thresholds { try checkText(threshold.name, Limits.identifierBytes) }
  }
}

/// A moment of an activity, which the device reports to the app.
public enum ActivityMoment: Hashable, Sendable {
  /// The interval starts soon.
  case startsSoon
  /// The interval has started.
  case started
  /// The interval ends soon.
  case endsSoon
  /// The interval has ended.
  case ended
  /// The child reaches the threshold with this name soon.
  case reachesSoon(String)
  /// The child has reached the threshold with this name.
  case reached(String)
}
