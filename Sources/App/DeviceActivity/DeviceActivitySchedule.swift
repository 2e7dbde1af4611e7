import AppClient
import FamilyModel
public import Foundation

/// The intervals in which an app monitors an activity.
///
/// ```swift
/// DeviceActivitySchedule(
///   intervalStart: DateComponents(hour: 20), intervalEnd: DateComponents(hour: 7), repeats: true)
/// ```
///
/// An interval begins when the date matches the first components, and ends when the date then matches the
/// second ones. Each interval has 15 minutes at least, and a week at most.
public struct DeviceActivitySchedule: Hashable, Sendable, Codable {
  /// The components that match the start of each interval, in the calendar of the app.
  public let intervalStart: DateComponents
  /// The components that match the end of each interval.
  public let intervalEnd: DateComponents
  /// Whether more intervals follow the first one.
  public let repeats: Bool
  /// The time between a warning and the start, the end or a threshold; `nil`: no warnings.
  public let warningTime: DateComponents?

  /// Creates a schedule.
  ///
  /// - Parameters:
  ///   - intervalStart: The components that match the start of each interval.
  ///   - intervalEnd: The components that match the end of each interval.
  ///   - repeats: Whether more intervals follow the first one.
  ///   - warningTime: The time between a warning and the start, the end or a threshold. Days, hours, minutes
  ///     and seconds count.
  public init(
    intervalStart: DateComponents, intervalEnd: DateComponents, repeats: Bool,
    warningTime: DateComponents? = nil
  ) {
    (self.intervalStart, self.intervalEnd) = (intervalStart, intervalEnd)
    (self.repeats, self.warningTime) = (repeats, warningTime)
  }

  /// The present interval or, between two intervals, the next one; `nil`: no date matches.
  public var nextInterval: DateInterval? { interval(at: Date(), after: nil) }

  private func calendar(of components: DateComponents) -> Calendar {
    var calendar = components.calendar ?? .current
    if let zone = components.timeZone { calendar.timeZone = zone }
    return calendar
  }

  /// The present interval or, between two intervals, the next one.
  ///
  /// - Parameter former: The end of an interval, before which no other one starts.
  func interval(at now: Date, after former: Date?) -> DateInterval? {
    let calendar = calendar(of: intervalStart)
    let last = calendar.nextDate(
      // A match at this moment counts.
      after: now.addingTimeInterval(1), matching: intervalStart, matchingPolicy: .nextTime,
      direction: .backward)
    if let last, last >= former ?? .distantPast, let interval = interval(from: last),
      interval.end > now
    {
      return interval
    }
    return calendar.nextDate(
      after: max(now, former?.addingTimeInterval(-1) ?? now), matching: intervalStart,
      matchingPolicy: .nextTime
    ).flatMap(interval(from:))
  }

  /// The interval after an activity's; `nil` after the last one.
  ///
  /// An interval may be too short or too long at a change of summer time. Such intervals are left out.
  ///
  /// - Parameter now: The device's time, which the child cannot bring forward.
  func next(after activity: Activity, at now: Date) -> Activity? {
    guard repeats else { return nil }
    var next = activity
    for _ in 0..<Self.leftOut {
      guard let interval = interval(at: now, after: next.end.date) else { return nil }
      (next.start, next.end) = (Instant(interval.start), Instant(interval.end))
      if (try? next.validate()) != nil { return next }
    }
    return nil
  }

  /// The most intervals that are left out before a schedule counts as over.
  private static let leftOut = 16

  /// The schedule as the app's library stores it; `nil` for components that cannot be encoded.
  var encoded: [UInt8]? { (try? JSONEncoder().encode(self)).map { Array($0) } }

  /// A stored schedule; `nil` for bytes of another version.
  init?(encoded: [UInt8]) {
    guard let schedule = try? JSONDecoder().decode(Self.self, from: Data(encoded)) else {
      return nil
    }
    self = schedule
  }

  private func interval(from start: Date) -> DateInterval? {
    calendar(of: intervalEnd)
      .nextDate(after: start, matching: intervalEnd, matchingPolicy: .nextTime)
      .map { DateInterval(start: start, end: $0) }
  }
}

extension DateComponents {
  /// The seconds of a duration in days, hours, minutes and seconds; `nil` if the duration is negative or has
  /// more than a year.
  var durationSeconds: UInt32? {
    let parts = [(day, 86_400), (hour, 3_600), (minute, 60), (second, 1)]
    var sum = 0
    for (value, unit) in parts {
      guard let value else { continue }
      guard 0...31_536_000 ~= value else { return nil }
      sum += value * unit
    }
    return sum <= 31_536_000 ? UInt32(sum) : nil
  }
}
