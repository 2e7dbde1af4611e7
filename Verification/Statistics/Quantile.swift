extension Collection<Double> {
  /// The value below which a part of the values lies (nearest rank).
  ///
  /// - Parameter part: 0 to 1; 0.5 is the median.
  /// - Returns: `nil` for an empty collection.
  public func quantile(_ part: Double) -> Double? {
    isEmpty ? nil : sorted()[Swift.min(count - 1, Int(Double(count) * part))]
  }
}
