import DeclaredAgeRange
import PermissionKit

/// The consent to a significant update, where the law of the region requires consent.
struct UpdateConsent {
  let description: String

  /// Asks a child's guardians, or notifies an adult.
  ///
  /// The guardians' decision arrives in `AskCenter.shared.responses(for:)`.
  func obtain(isChild: Bool) async throws {
    let features = try await AgeRangeService.shared.requiredRegulatoryFeatures
    if isChild, features.contains(.significantAppChangeRequiresParentalConsent) {
      let topic = SignificantAppUpdateTopic(description: description)
      try await AskCenter.shared.ask(
        PermissionQuestion(significantAppUpdateTopic: topic), in: PhotoWindow())
    } else if !isChild, features.contains(.significantAppChangeRequiresAdultNotification) {
      try await AgeRangeService.shared.showSignificantUpdateAcknowledgment(
        in: PhotoWindow(), updateDescription: description)
    }
  }
}
