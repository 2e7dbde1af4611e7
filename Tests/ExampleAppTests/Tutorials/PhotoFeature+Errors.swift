import DeclaredAgeRange

extension PhotoFeature {
  /// Updates the feature; returns a text for the person, or `nil` after success.
  mutating func updateOrExplain() async -> String? {
    do {
      try await update()
      return nil
    } catch AgeRangeService.Error.invalidRequest {
      // A mistake of the developer: the gates, or the manifest.
      assertionFailure("The gates are invalid, or the manifest lacks usesDeclaredAgeRange.")
      return "Photos are not available."
    } catch AgeRangeService.Error.declinedOnboarding, AgeRangeService.Error.invalidAccount {
      return "Finish the set-up of the account on this device to share photos."
    } catch AgeRangeService.Error.network {
      return "Try again later."
    } catch {
      return "Photos are not available on this device."
    }
  }
}
