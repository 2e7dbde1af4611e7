import FamilyModel
public import Foundation
public import ManagedSettings
import SiteNames

/// A limit of the time for which the child uses the web during each interval of an activity.
///
/// The time of the apps counts that report their pages with the module `ScreenTime`, in the order of their
/// reports.
public struct DeviceActivityEvent: Hashable, Sendable {
  /// The name of an event.
  public struct Name: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
    /// The name, 1 to 128 bytes.
    public let rawValue: String
    /// Creates a name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Creates a name.
    public init(_ rawValue: String) { self.init(rawValue: rawValue) }
    public init(stringLiteral value: String) { self.init(rawValue: value) }
  }

  /// The domains whose time counts, at most 50; empty: the time of all pages counts.
  public let webDomains: Set<WebDomain>
  /// The time after which the event comes. Days, hours, minutes and seconds count.
  public let threshold: DateComponents

  /// Creates an event.
  public init(webDomains: Set<WebDomain> = [], threshold: DateComponents) {
    (self.webDomains, self.threshold) = (webDomains, threshold)
  }
}

extension DeviceActivityEvent {
  init(_ threshold: Activity.Threshold) {
    self.init(
      webDomains: Set(threshold.sites.map { WebDomain(domain: $0.name) }),
      threshold: DateComponents(second: Int(threshold.seconds)))
  }
}

extension Activity.Threshold {
  /// - Returns: `nil` for a threshold that no device accepts. Domains that are no host are left out.
  init?(_ name: DeviceActivityEvent.Name, _ event: DeviceActivityEvent) {
    let sites = Set(event.webDomains.compactMap { $0.domain.flatMap { Site(host: $0) } })
    // Without any host, all pages would count.
    guard let seconds = event.threshold.durationSeconds, sites.isEmpty == event.webDomains.isEmpty
    else { return nil }
    self.init(name.rawValue, seconds: seconds, sites: sites)
  }
}
