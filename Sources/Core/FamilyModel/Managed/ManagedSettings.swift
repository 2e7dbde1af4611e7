/// The restrictions of one store of an app that guardians authorized to manage the child.
///
/// The device enforces the settings of all stores together: each restriction of a store counts.
public struct ManagedSettings: Hashable, Sendable {
  /// The restriction of the web.
  public enum SiteFilter: Hashable, Sendable {
    /// No restriction.
    case none
    /// These sites are blocked.
    case specific(Set<Site>)
    /// Each site is blocked, except these. The guardians' rules decide about them.
    case all(except: Set<Site>)

    /// The sites that the filter names.
    public var sites: Set<Site> {
      switch self {
      case .none: []
      case .specific(let sites), .all(let sites): sites
      }
    }

    /// Whether the filter blocks the site.
    public func blocks(_ site: Site) -> Bool {
      switch self {
      case .none: false
      case .specific(let sites): sites.contains(site)
      case .all(let sites): !sites.contains(site)
      }
    }
  }

  /// The restriction of the web.
  public var sites = SiteFilter.none
  /// The apps that the device does not launch, and whose requests the device refuses.
  public var blockedApps: Set<AppID> = []
  /// Whether the device refuses questions about people.
  public var deniesPeople = false

  /// Creates settings without a restriction.
  public init() {}

  /// Whether the settings restrict nothing.
  public var isEmpty: Bool { self == ManagedSettings() }

  /// Checks the numbers of sites and apps.
  ///
  /// - Throws: `tooMany`, or `badText` for an app's identifier that no message can carry.
  public func validate() throws(Problem) {
    guard sites.sites.count <= Limits.managedSites, blockedApps.count <= Limits.blockedApps else {
      throw .tooMany
    }
    for app in blockedApps { try checkText(app.rawValue, Limits.identifierBytes) }
  }
}
