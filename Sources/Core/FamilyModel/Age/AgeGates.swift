/// The rules for the ages at which an app divides its users into ranges.
public enum AgeGates {
  /// The smallest number of years that a bounded range may span.
  public static let span: Int32 = 2

  /// Checks that there are one to three gates, positive, ascending, and at least two years apart.
  ///
  /// - Throws: `badAgeGates`.
  public static func check(_ gates: [Int32]) throws(Problem) {
    guard 1...3 ~= gates.count, gates[0] > 0,
      zip(gates, gates.dropFirst()).allSatisfy({ $1 > $0 && $1 - $0 >= span })
    else { throw .badAgeGates }
  }

  /// The gates limited to the age of majority: gates above it are replaced by it.
  ///
  /// A gate less than two years below majority is dropped, because the range between them would
  /// span one year.
  public static func clamped(_ gates: [Int32], majority: Int32) -> [Int32] {
    var kept = gates.filter { $0 < majority }
    guard kept.count < gates.count else { return kept }
    while let last = kept.last, majority - last < span { kept.removeLast() }
    return kept + [majority]
  }
}

/// The ages from `lower` to `upper` in completed years; `nil` means no bound.
public struct AgeSpan: Hashable, Sendable {
  /// The lowest age.
  public var lower: Int32?
  /// The highest age.
  public var upper: Int32?
  /// Creates a span.
  public init(lower: Int32? = nil, upper: Int32? = nil) {
    self.lower = lower
    self.upper = upper
  }

  /// Whether the span contains the age.
  public func contains(_ age: Int32) -> Bool { age >= lower ?? .min && age <= upper ?? .max }

  /// The ages that both spans contain.
  public func intersection(_ other: AgeSpan) -> AgeSpan {
    AgeSpan(
      lower: [lower, other.lower].compactMap { $0 }.max(),
      upper: [upper, other.upper].compactMap { $0 }.min())
  }

  /// Whether the span has fewer than `AgeGates.span` ages.
  public var isTooNarrow: Bool {
    guard let lower, let upper else { return false }
    return Int64(upper) - Int64(lower) + 1 < Int64(AgeGates.span)
  }

  /// Whether the gate lies inside the span: ages on both sides belong to it.
  public func isCut(by gate: Int32) -> Bool { contains(gate) && contains(gate - 1) }

  /// The part between two neighbouring gates that contains the age.
  public func part(_ gates: [Int32], of age: Int32) -> AgeSpan {
    intersection(
      AgeSpan(lower: gates.last { $0 <= age }, upper: gates.first { $0 > age }.map { $0 - 1 }))
  }

  /// All parts between neighbouring gates.
  public func parts(_ gates: [Int32]) -> [AgeSpan] {
    let cuts = gates.filter(isCut)
    return zip([lower] + cuts, cuts.map { $0 - 1 } + [upper]).map { AgeSpan(lower: $0, upper: $1) }
  }
}
