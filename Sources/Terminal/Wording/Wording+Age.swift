public import FamilyModel

extension Wording {
  /// The text for a range of ages in years, bounds included.
  public func ages(_ range: AgeRange) -> String {
    switch (range.lower, range.upper) {
    case (let lower?, let upper?): self(.ageBetween, "\(lower)", "\(upper)")
    case (nil, let upper?): self(.ageUpTo, "\(upper)")
    case (let lower?, nil): self(.ageFrom, "\(lower)")
    case (nil, nil): self(.ageAny)
    }
  }
}
