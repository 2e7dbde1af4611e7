package import FamilyModel
package import Foundation

extension Instant {
  /// The moment as a date.
  package var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1_000) }

  /// The moment of a date, rounded down and clamped to ``Limits/times``, because an app may pass any date.
  package init(_ date: Date) {
    let milliseconds = (date.timeIntervalSince1970 * 1_000).rounded(.down)
    let (first, last) = (Limits.times.lowerBound, Limits.times.upperBound)
    self.init(
      milliseconds: Int64(exactly: milliseconds).map { min(max($0, first), last) }
        ?? (milliseconds > 0 ? last : first))
  }
}
