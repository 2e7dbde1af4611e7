/// The ages between which an app asks for a range.
public enum AgeGates {
  /// The smallest number of years that a bounded range spans.
  public static let span: Int32 = 2

  /// Refuses gates that no app may ask with (D1): one to three, positive, ascending, two years apart.
  public static func check(_ gates: [Int32]) throws(Problem) {
    guard 1...3 ~= gates.count, gates[0] > 0,
      zip(gates, gates.dropFirst()).allSatisfy({ $1 > $0 && $1 - $0 >= span })
    else { throw .badAgeGates }
  }

  /// The gates as they count where majority is at this age (D2): none above it.
  ///
  /// A gate that comes too close to majority in this way is left out: what is between would be one year.
  public static func clamped(_ gates: [Int32], majority: Int32) -> [Int32] {
    var kept = gates.filter { $0 < majority }
    guard kept.count < gates.count else { return kept }
    while let last = kept.last, majority - last < span { kept.removeLast() }
    return kept + [majority]
  }
}

/// Ages in completed years, from `lower` to `upper`; `nil`: without a bound on that side.
public struct AgeSpan: Hashable, Sendable {
  /// The lowest age.
  public var lower: Int32?
  /// The highest age.
  public var upper: Int32?
  /// The ages between these.
  public init(lower: Int32? = nil, upper: Int32? = nil) {
    self.lower = lower
    self.upper = upper
  }

  /// Whether the age is one of them.
  public func contains(_ age: Int32) -> Bool { age >= lower ?? .min && age <= upper ?? .max }

  /// The ages of both.
  public func intersection(_ other: AgeSpan) -> AgeSpan {
    AgeSpan(
      lower: [lower, other.lower].compactMap { $0 }.max(),
      upper: [upper, other.upper].compactMap { $0 }.min())
  }

  /// Whether it has no age, or just one.
  public var isTooNarrow: Bool {
    guard let lower, let upper else { return false }
    return Int64(upper) - Int64(lower) + 1 < Int64(AgeGates.span)
  }

  /// Whether an age of the span is below the gate, and another is not.
  public func isCut(by gate: Int32) -> Bool { contains(gate) && contains(gate - 1) }

  /// The part between two neighbouring gates in which the age is.
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
