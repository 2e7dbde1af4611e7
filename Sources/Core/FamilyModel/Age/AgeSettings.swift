/// A person's choice whether apps receive age ranges.
public enum AgeSharing: UInt8, Sendable, CaseIterable {
  /// Shared without a prompt; a notification reports each new range.
  case always = 1
  /// The device prompts the person.
  case askFirst = 2
  /// Declined without a prompt.
  case never = 3
}

/// An app's rating: the lowest age of its intended users.
public enum AgeRating: UInt8, Comparable, Sendable, CaseIterable {
  case four = 4
  case nine = 9
  case thirteen = 13
  case sixteen = 16
  case eighteen = 18
  public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// The declarations of an app's manifest.
public struct AppManifest: Hashable, Sendable {
  /// Whether the app may request age ranges.
  public var usesDeclaredAgeRange: Bool
  /// The app's rating; `nil` counts as the highest.
  public var ageRating: AgeRating?
  /// The app's name for people; `nil`: the identifier.
  public var name: String?
  /// The names of further variables of the device's environment that the app inherits.
  public var environment: [String]
  /// Creates a manifest.
  public init(
    usesDeclaredAgeRange: Bool = false, ageRating: AgeRating? = nil, name: String? = nil,
    environment: [String] = []
  ) {
    self.environment = environment
    self.usesDeclaredAgeRange = usesDeclaredAgeRange
    self.ageRating = ageRating
    self.name = name
  }

  /// Whether a child with this ceiling may use the app.
  public func isAllowed(by ceiling: AgeRating?) -> Bool {
    ceiling.map { (ageRating ?? .eighteen) <= $0 } ?? true
  }
}

/// A person's age settings. Guardians choose those of their children.
public struct AgeSettings: Hashable, Sendable {
  /// The setting for apps without their own; by default the device asks first.
  public var sharing = AgeSharing.askFirst
  /// The settings of individual apps.
  public var apps: [AppID: AgeSharing] = [:]
  /// The highest rating of an app that the child may use; `nil`: no ceiling.
  public var ceiling: AgeRating?
  /// The case of Apple's sandbox that answers for the person; `nil`: the account answers.
  ///
  /// While a case is set, guardians' devices answer the person's questions as the case defines.
  public var sandbox: SandboxCase?
  /// Creates the default settings.
  public init() {}

  /// The setting that applies to the app.
  public func sharing(with app: AppID) -> AgeSharing { apps[app] ?? sharing }

  /// Checks the number of apps and their identifiers.
  ///
  /// - Throws: `tooMany` or `badText`.
  public func validate() throws(Problem) {
    guard apps.count <= Limits.ageApps else { throw .tooMany }
    for app in apps.keys.sorted() { try checkText(app.rawValue, Limits.identifierBytes) }
  }
}
