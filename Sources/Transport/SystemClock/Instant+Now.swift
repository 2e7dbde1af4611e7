public import FamilyModel
import Foundation

extension Instant {
  /// The present time of the wall clock, which may be set back.
  public static var now: Instant {
    Instant(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
  }
}
