import DeclaredAgeRange

/// The place of the device's prompts. This app has no windows.
struct PhotoWindow: PresentationAnchor {}

/// Photo sharing, for people of 16 or more.
struct PhotoFeature {
  private(set) var isEnabled = false
  private(set) var needsApprovalOfNewPeople = true

  /// Requests the age range. Call this method whenever the feature appears.
  mutating func update() async throws {
    let response = try await AgeRangeService.shared.requestAgeRange(
      ageGates: 13, 16, in: PhotoWindow())
    guard case .sharing(let range) = response else {
      isEnabled = false
      return
    }
    isEnabled = (range.lowerBound ?? 0) >= 16
    // Controls are present below the age of majority only, where a range has an upper bound.
    needsApprovalOfNewPeople =
      range.upperBound != nil && range.activeParentalControls.contains(.communicationLimits)
  }
}
