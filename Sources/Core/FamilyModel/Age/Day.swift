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
    return (other.month, other.day) < (month, day) ? years &- 1 : years
  }

  /// The same day a number of years later. The anniversary of a 29 February in a common year is
  /// 1 March.
  public func anniversary(_ years: Int32) -> Account.Day {
    let (year, overflow) = year.addingReportingOverflow(years)
    guard !overflow else { return Account.Day(year: .max, month: month, day: day) }
    guard (month, day) == (2, 29), !Self.isLeap(year) else {
      return Account.Day(year: year, month: month, day: day)
    }
    return Account.Day(year: year, month: 3, day: 1)
  }

  /// The day in ISO 8601: `2014-05-17`.
  public var iso: String {
    func two(_ number: UInt8) -> String { (number < 10 ? "0" : "") + "\(number)" }
    return "\(year)-\(two(month))-\(two(day))"
  }

  /// Parses `2014-05-17`; `nil` unless the text is a day of the years 1900 to 2200.
  public init?(iso text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0].count == 4, let year = Int32(parts[0]),
      let month = UInt8(parts[1]), let day = UInt8(parts[2]), Limits.years ~= year,
      1...12 ~= month
    else { return nil }
    let days: [UInt8] = [31, Self.isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    guard 1...days[Int(month) - 1] ~= day else { return nil }
    self.init(year: year, month: month, day: day)
  }

  private static func isLeap(_ year: Int32) -> Bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
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
