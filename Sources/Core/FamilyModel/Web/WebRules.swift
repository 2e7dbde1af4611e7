/// The access that a child has to a site.
public enum WebAccess: UInt8, Sendable, CaseIterable {
  /// The site opens.
  case allow = 1
  /// The site stays closed, and the child cannot ask.
  case block = 2
  /// The site opens after a guardian approved it.
  case ask = 3
}

/// The detail in which guardians read about a child's use of the web.
public enum WebReport: UInt8, Sendable, CaseIterable {
  /// Nothing.
  case off = 0
  /// The time of each day, without sites.
  case days = 1
  /// The time of each day and site.
  case sites = 2
}

/// A child's rules for the web, which guardians choose.
public struct WebRules: Hashable, Sendable {
  /// The access to sites without a rule of their own.
  public var others: WebAccess = .allow
  /// The access to individual sites.
  public var sites: [Site: WebAccess] = [:]
  /// The detail of the report.
  public var report: WebReport = .off
  /// Creates the rules that allow every site and report nothing.
  public init() {}

  /// The access to the site. Approvals are not part of the rules.
  public func access(to site: Site) -> WebAccess { sites[site] ?? others }

  /// Checks the number of sites.
  ///
  /// - Throws: `tooMany`.
  public func validate() throws(Problem) {
    guard sites.count <= Limits.webSites else { throw .tooMany }
  }
}
