public import FamilyModel
import Foundation

extension Instant {
  /// The wall clock.
  public static var now: Instant {
    Instant(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
  }
}
