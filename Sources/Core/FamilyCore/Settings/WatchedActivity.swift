public import FamilyModel

/// An activity that an app watches, and what the device has reported of its interval.
///
/// - *Waiting* → (the start has come) *running* → (the end has come) *removed*.
///
/// Each moment is reported once. An interval that has passed while the device was off starts and ends in one
/// step. An app that restricts the child for the interval thus takes its restrictions back.
public struct WatchedActivity: Hashable, Sendable {
  /// The use of the web that counts towards one threshold.
  public struct Use: Hashable, Sendable {
    /// The time so far, in seconds.
    public var seconds: UInt32 = 0
    /// Whether the warning is reported.
    public var isWarned = false
    /// Whether the threshold is reported.
    public var isReached = false
    /// No use.
    public init() {}
  }

  /// The activity.
  public var activity: Activity
  /// Whether the warning of the start is reported.
  public var isStartWarned = false
  /// Whether the start is reported.
  public var isStarted = false
  /// Whether the warning of the end is reported.
  public var isEndWarned = false
  /// The use of each threshold, in order.
  public var uses: [Use]
  /// The number of the last message of each app whose pages count.
  public var counted: [AppID: UInt64] = [:]

  /// An activity of which nothing is reported.
  public init(_ activity: Activity) {
    self.activity = activity
    uses = activity.thresholds.map { _ in Use() }
  }

  private var warning: Milliseconds { .seconds(activity.warning) }

  /// Reports the moments that have come.
  ///
  /// - Parameters:
  ///   - latest: The later one of the device's clock and the proven time, by which an interval starts.
  ///   - proven: The time that the child cannot bring forward, by which an interval ends.
  /// - Returns: The moments, in order. After ``ActivityMoment/ended`` the activity is over.
  mutating func moments(latest: Instant, proven: Instant) -> [ActivityMoment] {
    var moments: [ActivityMoment] = []
    // Without a warning time, no moment lies between the warning and the start or end.
    if !isStarted, !isStartWarned, latest < activity.start, latest >= activity.start - warning {
      isStartWarned = true
      moments.append(.startsSoon)
    }
    if !isStarted, latest >= activity.start {
      isStarted = true
      moments.append(.started)
    }
    guard isStarted else { return moments }
    if !isEndWarned, proven < activity.end, proven >= activity.end - warning {
      isEndWarned = true
      moments.append(.endsSoon)
    }
    if proven >= activity.end { moments.append(.ended) }
    return moments
  }

  /// Counts the pages of a new message that an app has shown during the interval.
  ///
  /// - Returns: The moments of the thresholds, in order; `nil` if nothing has changed.
  mutating func count(_ pages: ShownPages, _ message: UInt64, of app: AppID) -> [ActivityMoment]? {
    guard isStarted, !uses.isEmpty else { return nil }
    counted[app] = message
    var moments: [ActivityMoment] = []
    for (index, threshold) in activity.thresholds.enumerated() where !uses[index].isReached {
      let seconds =
        threshold.sites.isEmpty
        ? UInt64(pages.seconds)
        : threshold.sites.reduce(0) { $0 + UInt64(pages.sites[$1] ?? 0) }
      uses[index].seconds = UInt32(clamping: UInt64(uses[index].seconds) + seconds)
      let rest = Int64(threshold.seconds) - Int64(uses[index].seconds)
      if rest <= 0 {
        uses[index].isReached = true
        moments.append(.reached(threshold.name))
      } else if rest <= Int64(activity.warning), !uses[index].isWarned, seconds > 0 {
        uses[index].isWarned = true
        moments.append(.reachesSoon(threshold.name))
      }
    }
    return moments
  }

  /// When the next moment comes, and whether the child cannot bring the time forward.
  var next: (time: Instant, isProven: Bool) {
    isStarted
      ? (isEndWarned ? activity.end : activity.end - warning, true)
      : (isStartWarned ? activity.start : activity.start - warning, false)
  }
}
