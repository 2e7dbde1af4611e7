public import FamilyModel

extension ChildMachine {
  /// The owner's access to the site: the guardians' rule, or an approval where the rule makes the child
  /// ask.
  ///
  /// A rule that blocks, and the settings of an authorized app, count before every approval. Without a family, and for an adult, each site is
  /// allowed.
  public func access(to site: Site) -> WebAccess {
    guard isInFamily, link.person?.role == .child else { return .allow }
    if isBlocked(site) { return .block }
    let access = link.settings(of: link.personID).webRules.access(to: site)
    guard access == .ask else { return access }
    return known.isKnownEverywhere(Handle(site)) ? .allow : .ask
  }

  /// The end of the site's approval; `nil` without an approval that ends.
  public func end(ofAccessTo site: Site) -> Instant? { known.endEverywhere(of: Handle(site)) }
}

extension KnownHandles {
  /// Whether the handle is known in each app.
  func isKnownEverywhere(_ handle: Handle) -> Bool { contains(handle, in: AppID("")) }

  /// The end by which the handle stops to be known in each app; `nil`: unknown, or no end.
  func endEverywhere(of handle: Handle) -> Instant? { end(of: handle, in: AppID("")) }
}
