import FamilyModel

extension Account.Day {
  private static let lengths: [UInt8] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

  /// Parses `2014-05-17`; `nil` unless the text is a day of the years 1900 to 2200.
  init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 3, let year = Int32(parts[0]), let month = UInt8(parts[1]),
      let day = UInt8(parts[2]), 1900...2200 ~= year, 1...12 ~= month,
      1...Self.lengths[Int(month) - 1] ~= day
    else { return nil }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    guard isLeap || (month, day) != (2, 29) else { return nil }
    self.init(year: year, month: month, day: day)
  }

  /// The day in ISO 8601: `2014-05-17`.
  var text: String { "\(year)-\(Self.two(month))-\(Self.two(day))" }

  private static func two(_ number: UInt8) -> String { (number < 10 ? "0" : "") + "\(number)" }
}

extension Account {
  /// Whether the text has the form of ISO 3166-1 alpha-2 (`FR`) or ISO 3166-2 (`US-TX`).
  static func isRegion(_ text: String) -> Bool {
    text.wholeMatch(of: /[A-Z]{2}(-[A-Z0-9]{1,3})?/) != nil
  }
}
