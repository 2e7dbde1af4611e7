package import FamilyModel
package import Foundation

extension Instant {
  /// The moment of a date, rounded down and clamped, because an app may pass any date.
  package init(_ date: Date) {
    let milliseconds = (date.timeIntervalSince1970 * 1_000).rounded(.down)
    self.init(milliseconds: Int64(exactly: milliseconds) ?? (milliseconds > 0 ? .max : .min))
  }
}
