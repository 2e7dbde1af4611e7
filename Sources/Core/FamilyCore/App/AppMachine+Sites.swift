import FamilyModel

/// The access to the sites that the app's code names, and whether rules restrict the web.
///
/// - named → `unansweredSites` → (the device answers) `sites`.
///
/// Each attachment, and each report of a change, requests all of them again. The answers are durable,
/// so that a restarted app has them without its device. A site without an answer is not open.
extension AppMachine {
  /// Names sites. An unanswered one is requested again, because a busy device drops requests.
  mutating func name(_ named: [Site]) -> [Effect] {
    requestsSites = true
    var changes: [AppRecordChange] = []
    for site in named where sites[site] == nil && !unansweredSites.contains(site) {
      changes += forgetFirstSite()
      unansweredSites.append(site)
    }
    let open = named.filter { sites[$0] == nil }
    guard !changes.isEmpty else { return requestSites(open, always: named.isEmpty) }
    return [.persist(changes), .sitesChanged] + requestSites(open)
  }

  /// Forgets the site that the app named first, if the cache is full.
  private mutating func forgetFirstSite() -> [AppRecordChange] {
    guard siteOrder.count + unansweredSites.count >= Limits.cachedSites else { return [] }
    guard !siteOrder.isEmpty else {
      unansweredSites.removeFirst()
      return []
    }
    return sites.removeValue(forKey: siteOrder.removeFirst()).map { [.remove(.site($0))] } ?? []
  }

  private func requestSites(_ sites: [Site], always: Bool = false) -> [Effect] {
    guard isConnected, isAttached, always || !sites.isEmpty else { return [] }
    return AppRequest.requesting(sites).map { .send($0) }
  }

  /// Requests everything that the app has named. An app that named nothing sends nothing.
  func requestAllSites() -> [Effect] {
    requestSites(siteOrder + unansweredSites, always: requestsSites)
  }

  /// Stores the device's answers about sites that the app has named.
  mutating func apply(_ answers: [SiteAccess], isRestricted: Bool) -> [Effect] {
    guard requestsSites else { return [] }
    var changes: [AppRecordChange] = []
    for answer in answers {
      let count = unansweredSites.count
      unansweredSites.removeAll { $0 == answer.site }
      if unansweredSites.count < count { siteOrder.append(answer.site) }
      guard unansweredSites.count < count || sites[answer.site] != nil,
        sites[answer.site] != answer
      else { continue }
      sites[answer.site] = answer
      changes.append(.put(.site(answer)))
    }
    if isWebRestricted != isRestricted {
      isWebRestricted = isRestricted
      changes.append(.put(.webRestricted(isRestricted)))
    }
    return changes.isEmpty ? [] : [.persist(changes), .sitesChanged]
  }

  mutating func restore(_ access: SiteAccess) {
    requestsSites = true
    sites[access.site] = access
    siteOrder.append(access.site)
  }
}
