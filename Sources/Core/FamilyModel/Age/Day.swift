extension Account.Day: Comparable {
  public static func < (a: Self, b: Self) -> Bool {
    (a.year, a.month, a.day) < (b.year, b.month, b.day)
  }

  /// Whole years from this day to the other, rounded down; negative for an earlier day.
  ///
  /// From a birthday the result is the age; from an answer, the number of anniversaries. The
  /// anniversary of a 29 February in a common year is 1 March.
  public func years(to other: Account.Day) -> Int32 {
    let years = other.year &- year
    return (other.month, other.day) < (month, day) ? years - 1 : years
  }

  /// The UTC day of the moment.
  ///
  /// Shells use a calendar with the account's time zone; this initializer serves callers without
  /// one.
  public init(utc moment: Instant) {
    // The clamp keeps the sums below in range for every clock.
    let milliseconds = min(
      max(moment.milliseconds, -Limits.times.upperBound), Limits.times.upperBound)
    // Years start in March and eras have 400 years, so a leap day is the last day of its year.
    let days = Self.floor(milliseconds, 86_400_000) + 719_468
    let era = Self.floor(days, 146_097)
    let dayOfEra = days - era * 146_097
    let year = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * year + year / 4 - year / 100)
    let month = (5 * dayOfYear + 2) / 153
    self.init(
      year: Int32(clamping: year + era * 400 + (month >= 10 ? 1 : 0)),
      month: UInt8(month < 10 ? month + 3 : month - 9),
      day: UInt8(dayOfYear - (153 * month + 2) / 5 + 1))
  }

  private static func floor(_ a: Int64, _ b: Int64) -> Int64 { (a - (a % b + b) % b) / b }
}
