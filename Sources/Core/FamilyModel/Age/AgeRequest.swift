/// A request of `DeclaredAgeRange`.
public enum AgeRequest: Hashable, Sendable {
  /// The range between these gates.
  case range(gates: [Int32])
  /// The legal requirements of the person's region.
  case status
  /// An adult's confirmation of having read about a significant update.
  case acknowledge(description: String)
  /// The app's own age rating.
  case rating
}

/// The answer to an ``AgeRequest``.
public enum AgeReply: Hashable, Sendable {
  /// The person shares the range.
  case shared(AgeRange)
  /// The person shares nothing.
  case declined
  /// The legal requirements of the region; eligible if there are any.
  case status(isEligible: Bool, features: RegulatoryFeatures)
  /// The person confirmed having read about the update.
  case acknowledged
  /// The app's rating; `nil`: its manifest has none.
  case rating(AgeRating?)
  /// The device refused the request.
  case failed(Problem)
}
