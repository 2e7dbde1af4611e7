import FamilyCore
import FamilyModel
import SiteNames

/// The look-ups of a browser before it shows a page.
enum SitePart {
  private static let host = "www.example.co.uk"

  static func all() -> [Part] {
    [
      Part(
        name: "the site of a host", referenceName: "the host in lower case",
        run: { keep(Site(host: host)) }, reference: { keep(host.lowercased()) }),
      access(),
    ]
  }

  /// The access to ten sites in an app's full cache.
  private static func access() -> Part {
    let sites = (0..<Limits.cachedSites).map { Site("site-\($0).example")! }
    let asked = (0..<10).map { sites[$0 * (sites.count / 10)] }
    let machine = AppMachine(
      AppID("example.browser"), restoring: sites.map { .site(SiteAccess($0, .allow)) })
    let names = Dictionary(uniqueKeysWithValues: sites.map { ($0.name, WebAccess.allow) })
    let (known, now) = (machine.visibleSites, Instant(milliseconds: 1_763_000_000_000))
    return Part(
      name: "the access to 10 of \(sites.count) sites",
      referenceName: "the same in a dictionary of names",
      run: { for site in asked { keep(known[site]?.access(at: now)) } },
      reference: { for site in asked { keep(names[site.name]) } })
  }
}
