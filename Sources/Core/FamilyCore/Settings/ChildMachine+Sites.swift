import FamilyModel

/// The answers to apps about the access to sites.
///
/// - A device that has not read the owner's web rules gives no answer. The app blocks the site.
/// - Each change after an answer is reported once per step, without content. The app then requests the
///   sites that it has named.
///
/// An app learns about no other site, and whether rules restrict the web at all.
extension ChildMachine {
  /// The state behind the answers, except the approvals.
  struct WebState: Equatable, Sendable {
    var isAnswered: Bool
    var rules: WebRules
    var filters: [ManagedSettings.SiteFilter]
    var hasThresholds: Bool

    /// Whether rules, filters or thresholds concern the web.
    var isRestricted: Bool { rules != WebRules() || !filters.isEmpty || hasThresholds }
  }

  /// The owner's rules for the web; the default ones for an adult and without a family.
  var webRules: WebRules {
    guard isInFamily, link.person?.role == .child else { return WebRules() }
    return link.settings(of: link.personID).webRules
  }

  private var webState: WebState {
    WebState(
      isAnswered: !isInFamily || link.hasReadWebRules, rules: webRules, filters: siteFilters,
      hasThresholds: hasThresholds)
  }

  /// Answers an app about the sites that it names. A device that left the family gives no new answers.
  mutating func answer(_ sites: [Site], of app: AppID, effects: inout [DeviceEffect]) {
    update(app) { $0.requestSites() }
    let state = webState
    if reportedWeb == nil { reportedWeb = state }
    guard state.isAnswered, !link.isShutOut else { return }
    let answers = sites.prefix(Limits.sitesInMessage).map { site in
      let access = access(to: site)
      let until =
        access == .allow && webRules.access(to: site) == .ask ? end(ofAccessTo: site) : nil
      return SiteAccess(site, access, until: until)
    }
    effects.append(.app(app, .sites(answers, isRestricted: state.isRestricted)))
  }

  /// Reports to the apps that have requested sites that an answer may differ now.
  ///
  /// - Parameter haveMoved: Whether an approval of a site began or ended in this step.
  mutating func reportSites(haveMoved: Bool, effects: inout [DeviceEffect]) {
    guard feeds.contains(where: { $0.requestsSites }) else {
      if reportedWeb != nil { reportedWeb = nil }
      return
    }
    let state = webState
    guard haveMoved || state != reportedWeb else { return }
    reportedWeb = state
    for feed in feeds where feed.requestsSites {
      effects.append(.app(feed.app, .sitesChanged))
    }
  }
}

extension DeviceLink {
  /// Whether the device has read the owner's web rules, or knows that guardians stated none.
  ///
  /// A device that joins reads older rosters first, and waits for the keys of older contents.
  var hasReadWebRules: Bool { hasRead { $0.web.current != nil } }

  /// Whether the device has read the owner's setting for sensitive pictures, or knows that guardians
  /// stated none.
  var hasReadSafety: Bool { hasRead { $0.safety.current != nil } }

  private func hasRead(_ isStated: (ChildSettings) -> Bool) -> Bool {
    guard person != nil else { return false }
    if let settings = family.settings[personID], isStated(settings) { return true }
    return delivered(.account(personID)) >= accountHead && unopenedCount == 0
  }
}
