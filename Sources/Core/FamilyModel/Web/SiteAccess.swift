/// The access to one site as a device reports it to an app.
public struct SiteAccess: Hashable, Sendable {
  /// The site.
  public var site: Site
  /// The access.
  public var access: WebAccess
  /// The end of the approval that opens the site; `nil`: no end.
  public var until: Instant?
  /// Creates the access to a site.
  public init(_ site: Site, _ access: WebAccess, until: Instant? = nil) {
    (self.site, self.access, self.until) = (site, access, until)
  }

  /// The access at a moment: from the end of the approval on, the child asks again.
  public func access(at now: Instant) -> WebAccess {
    if access == .allow, let until, until <= now { .ask } else { access }
  }
}
