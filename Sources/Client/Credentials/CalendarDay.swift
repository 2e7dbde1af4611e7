public import FamilyModel
import Foundation

extension Account.Day {
  /// The Gregorian day of a moment in an IANA time zone, for example `Europe/Paris`.
  ///
  /// An empty or unknown time zone means the current zone of this device.
  public init(_ moment: Instant, in timeZone: String) {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(identifier: timeZone) ?? .current
    let date = Date(timeIntervalSince1970: Double(moment.milliseconds) / 1_000)
    let parts = calendar.dateComponents([.year, .month, .day], from: date)
    self.init(
      year: Int32(clamping: parts.year ?? 0), month: UInt8(clamping: parts.month ?? 1),
      day: UInt8(clamping: parts.day ?? 1))
  }
}
