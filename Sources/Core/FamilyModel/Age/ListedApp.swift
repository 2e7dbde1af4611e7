/// The frameworks of the system that an app uses.
public struct AppFrameworks: OptionSet, Hashable, Sendable {
  /// One bit per framework, in the order of the constants.
  public var rawValue: UInt32
  /// Creates a set from its bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }
  /// The app has asked for permission, or listens for answers.
  public static let permissions = AppFrameworks(rawValue: 1)
  /// The app's manifest declares the use of age ranges.
  public static let ageRanges = AppFrameworks(rawValue: 2)
}

/// An app in the list with which a child's device informs the guardians.
public struct ListedApp: Hashable, Sendable {
  /// The app.
  public var app: AppID
  /// The name in the app's manifest; `nil`: none. The text is untrusted.
  public var name: String?
  /// The rating in the app's manifest; `nil` counts as the highest.
  public var rating: AgeRating?
  /// The frameworks that the app uses.
  public var frameworks: AppFrameworks
  /// Creates an entry of the list.
  public init(
    app: AppID, name: String? = nil, rating: AgeRating? = nil, frameworks: AppFrameworks = []
  ) {
    self.app = app
    self.name = name
    self.rating = rating
    self.frameworks = frameworks
  }

  /// The rating that a ceiling is compared with: an app without a rating counts as the highest.
  public var effectiveRating: AgeRating { rating ?? .eighteen }

  /// Whether a child with this ceiling may use the app.
  public func isAllowed(by ceiling: AgeRating?) -> Bool {
    ceiling.map { effectiveRating <= $0 } ?? true
  }

  /// Checks the identifier and the name.
  ///
  /// - Throws: `badText`.
  public func validate() throws(Problem) {
    try checkText(app.rawValue, Limits.identifierBytes)
    if let name { try checkText(name, Limits.titleBytes) }
  }
}

/// An app whose rating has risen, and the new rating.
public struct RisenRating: Hashable, Sendable {
  /// The app.
  public var app: AppID
  /// The new rating.
  public var rating: AgeRating
  /// Creates the rise of an app's rating.
  public init(app: AppID, rating: AgeRating) {
    self.app = app
    self.rating = rating
  }
}
