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
    } catch {
      return "Set a birthdate on this device to share photos."
    }
  }
}
