/// Whether age ranges are shared with apps (D6).
public enum AgeSharing: UInt8, Sendable, CaseIterable {
  /// Without a prompt, with a notification of whatever is new.
  case always = 1
  /// The person is asked.
  case askFirst = 2
  /// Declined, and nothing is shown.
  case never = 3
}

/// How an app is rated (D13): from which age on it is meant to be used.
public enum AgeRating: UInt8, Comparable, Sendable, CaseIterable {
  case four = 4
  case nine = 9
  case thirteen = 13
  case sixteen = 16
  case eighteen = 18
  public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// What an app says of itself (D13, D14).
public struct AppManifest: Hashable, Sendable {
  /// Whether it may ask for age ranges.
  public var usesDeclaredAgeRange: Bool
  /// Its rating; an app without one counts as the highest.
  public var ageRating: AgeRating?
  /// A manifest of these entries.
  public init(usesDeclaredAgeRange: Bool = false, ageRating: AgeRating? = nil) {
    self.usesDeclaredAgeRange = usesDeclaredAgeRange
    self.ageRating = ageRating
  }

  /// Whether a child with this ceiling may use the app.
  public func isAllowed(by ceiling: AgeRating?) -> Bool {
    ceiling.map { (ageRating ?? .eighteen) <= $0 } ?? true
  }
}

/// A person's settings, which guardians choose for their children (D6, D7, D13).
public struct AgeSettings: Hashable, Sendable {
  /// With apps that have no setting of their own; unless chosen, the person is asked first (F4).
  public var sharing = AgeSharing.askFirst
  /// With these apps.
  public var apps: [AppID: AgeSharing] = [:]
  /// The highest rating of an app that the child may use; `nil`: all.
  public var ceiling: AgeRating?
  /// Settings that nobody changed.
  public init() {}

  /// What is set for the app.
  public func sharing(with app: AppID) -> AgeSharing { apps[app] ?? sharing }

  /// Refuses settings of too many apps, or of one without a usable name.
  public func validate() throws(Problem) {
    guard apps.count <= Limits.ageApps else { throw .tooMany }
    for app in apps.keys.sorted() { try checkText(app.rawValue, Limits.identifierBytes) }
  }
}
