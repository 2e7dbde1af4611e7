import AppClient

/// The app's entry in the store, in the place of StoreKit's type.
public enum AppStore {
  /// The age rating in the app's manifest: 4, 9, 13, 16 or 18.
  ///
  /// An app compares the code with the last one that it stored. For a higher one it asks the
  /// guardians for consent, by a question about a significant update. The device reports a rating
  /// that rises to its owner, too.
  ///
  /// The code is `nil` for a manifest without a rating, and without an answer of the device.
  public static var ageRatingCode: Int? {
    get async {
      guard let session = try? AppSession.current(),
        case .rating(let rating?) = try? await session.ask(.rating)
      else { return nil }
      return Int(rating.rawValue)
    }
  }
}
