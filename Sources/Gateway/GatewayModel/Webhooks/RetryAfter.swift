package import FamilyModel

/// The header with which a server postpones the next request.
package enum RetryAfter {
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// The delay of a value in seconds or of a date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
  ///
  /// - Returns: `nil` if the value is neither. A date in the past is no delay.
  package static func delay(_ value: String, now: Instant) -> Milliseconds? {
    if !value.isEmpty, value.utf8.allSatisfy({ (48...57).contains($0) }) {
      return Int64(value).map { .seconds($0) } ?? .max
    }
    return date(value).map { max($0 - now, .zero) }
  }

  /// The moment of a date in the preferred format of HTTP (RFC 9110, 5.6.7).
  static func date(_ text: String) -> Instant? {
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 6, words[0].utf8.last == UInt8(ascii: ","), words[5] == "GMT",
      let day = number(words[1], in: 1...31), let month = months.firstIndex(of: String(words[2])),
      let year = number(words[3], in: 1970...9999)
    else { return nil }
    let time = words[4].split(separator: ":", omittingEmptySubsequences: false)
    guard time.count == 3, let hour = number(time[0], in: 0...23),
      let minute = number(time[1], in: 0...59), let second = number(time[2], in: 0...60)
    else { return nil }
    let days = Self.days(year: year, month: month + 1, day: day)
    return Instant(milliseconds: Int64(((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000)
  }

  private static func number(_ text: Substring, in range: ClosedRange<Int>) -> Int? {
    guard text.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(text) else {
      return nil
    }
    return range.contains(number) ? number : nil
  }

  /// The days from 1970 to this day of the Gregorian calendar.
  private static func days(year: Int, month: Int, day: Int) -> Int {
    // Years begin in March, so that the leap day is the last one.
    let year = month < 3 ? year - 1 : year
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    return 365 * year + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
  }
}
