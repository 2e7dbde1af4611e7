import ArgumentParser

/// The values of `--retention`, which the relay and the agents share.
public enum RetentionDays {
  /// The days that a program accepts: up to a century.
  static let range = 1...36_500

  /// Rejects a number of days out of range. Without a number nothing is erased.
  ///
  /// - Throws: `ValidationError` with the range.
  public static func check(_ days: Int?) throws {
    guard let days, !range.contains(days) else { return }
    throw ValidationError("--retention takes \(range.lowerBound) to \(range.upperBound) days.")
  }
}
