import ArgumentParser

/// A selection of families by number: the value of `--families`.
public enum FamilyRange {
  /// Parses one number, or a range such as `1-500`.
  ///
  /// - Throws: `ValidationError` for any other text.
  public static func parse(_ text: String) throws -> ClosedRange<UInt64> {
    let parts = text.split(separator: "-").compactMap { UInt64($0) }
    guard let first = parts.first, let last = parts.last, parts.count <= 2, first <= last else {
      throw ValidationError(
        "'\(text)' is not a range of families. Write a number or a range, for example 1-500.")
    }
    return first...last
  }
}
