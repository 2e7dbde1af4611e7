import AppClient
import FamilyModel
import Foundation
import SiteNames

/// An address, as the rules for the web see it.
enum WebPage: Sendable {
  /// The address belongs to no site of the web, such as `about:blank` and files.
  case local
  /// The address names a host that no rule can name, or no host. The page is blocked.
  case nameless
  /// The rule of the site decides.
  case site(Site)

  init(_ url: URL?) {
    let scheme = url?.scheme?.lowercased()
    guard let url, scheme != "file" else {
      self = .local
      return
    }
    guard let host = url.host(percentEncoded: false), !host.isEmpty else {
      self = scheme == "http" || scheme == "https" ? .nameless : .local
      return
    }
    let isBare = host.contains(":") && !host.hasPrefix("[")
    self = Site(host: isBare ? "[\(host)]" : host).map { .site($0) } ?? .nameless
  }

  /// The site whose rule decides.
  var site: Site? { if case .site(let site) = self { site } else { nil } }

  /// Whether the page is blocked, by the device's answer about its site.
  func isBlocked(_ access: WebAccess?) -> Bool {
    switch self {
    case .local: false
    case .nameless: true
    case .site: access != .allow
    }
  }
}
