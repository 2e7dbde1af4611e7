/// The rules for birthdates and regions.
extension Account.Day {
  /// Checks a birthdate. The newest valid birthdate is the day of the moment in the time zone where
  /// days begin first, so that the rule holds on every device alike.
  ///
  /// - Throws: `badBirthdate` for a day that does not exist, before 1900, or in the future.
  public func validate(asBirthdateAt now: Instant) throws(Problem) {
    guard Account.Day(iso: iso) == self, self <= Account.Day(utc: now + Self.firstZone) else {
      throw .badBirthdate
    }
  }

  /// The time by which UTC+14 is ahead of UTC.
  private static let firstZone = Milliseconds.hours(14)
}

extension Account {
  /// Whether the text has the form of ISO 3166-1 alpha-2 (`FR`) or ISO 3166-2 (`US-TX`).
  public static func isRegion(_ text: String) -> Bool {
    func isUpper(_ byte: UInt8) -> Bool { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte }
    func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }
    let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard parts.count <= 2, let country = parts.first, country.count == 2,
      country.allSatisfy(isUpper)
    else { return false }
    guard parts.count == 2 else { return true }
    return 1...3 ~= parts[1].count && parts[1].allSatisfy { isUpper($0) || isDigit($0) }
  }

  /// Checks the birthdate.
  ///
  /// - Throws: `badBirthdate`.
  public func validate(now: Instant) throws(Problem) {
    try birthdate?.validate(asBirthdateAt: now)
  }
}
