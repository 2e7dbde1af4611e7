package import FamilyModel

extension AgeRange {
  private static let controlNames: KeyValuePairs<String, AgeControls> = [
    "communicationLimits": .communicationLimits,
    "significantAppChangeApprovalRequired": .significantAppChangeApprovalRequired,
  ]

  package var json: JSONValue {
    .object([
      "lowerBound": .orNull(lower), "upperBound": .orNull(upper),
      "declaration": .orNull(declaration.map { "\($0)" }),
      "activeParentalControls": .array(
        Self.controlNames.filter { controls.contains($0.value) }.map { .string($0.key) }),
    ])
  }
}

extension RegulatoryFeatures {
  private static let names: KeyValuePairs<String, RegulatoryFeatures> = [
    "declaredAgeRangeRequired": .declaredAgeRangeRequired,
    "significantAppChangeRequiresParentalConsent": .significantAppChangeRequiresParentalConsent,
    "significantAppChangeRequiresAdultNotification":
      .significantAppChangeRequiresAdultNotification,
  ]

  package var json: JSONValue {
    .array(Self.names.filter { contains($0.value) }.map { .string($0.key) })
  }
}

extension AgeReply {
  /// The reply to a request for an age range: shared or declined; `nil` for any other.
  package var rangeJSON: JSONValue? {
    switch self {
    case .shared(let range): .object(["outcome": .string("sharing"), "range": range.json])
    case .declined: .object(["outcome": .string("declined")])
    default: nil
    }
  }
}
