import FamilyModel
import SiteNames

/// The restrictions of the web. An app sets them in a ``ManagedSettingsStore``.
public struct WebContentSettings: Hashable, Sendable {
  /// The sites that a filter blocks.
  public enum FilterPolicy: Hashable, Sendable {
    /// No site.
    case none
    /// These domains, at most 50.
    case specific(Set<WebDomain>)
    /// All domains except these, at most 50. The guardians' rules decide about the exceptions.
    case all(except: Set<WebDomain> = [])
  }
  /// The filter; `nil` is ``FilterPolicy/none``. Domains that are no host are left out.
  public var blockedByFilter: FilterPolicy?
}

/// The restrictions of apps. An app sets them in a ``ManagedSettingsStore``.
public struct ApplicationSettings: Hashable, Sendable {
  /// The apps that the device neither launches nor serves, at most 50; `nil`: none. An app does not block
  /// itself.
  public var blockedApplications: Set<Application>?
}

/// The restrictions of communication. An app sets them in a ``ManagedSettingsStore``.
///
/// An addition to Apple's API, which denies friends of Game Center only.
public struct CommunicationSettings: Hashable, Sendable {
  /// Whether the device refuses questions about people, of all apps; `nil` is `false`.
  public var denyNewPeople: Bool?
}

extension WebContentSettings {
  init(_ filter: FamilyModel.ManagedSettings.SiteFilter) {
    func domains(_ sites: Set<Site>) -> Set<WebDomain> {
      Set(sites.map { WebDomain(domain: $0.name) })
    }
    blockedByFilter =
      switch filter {
      case .none: nil
      case .specific(let sites): .specific(domains(sites))
      case .all(let sites): .all(except: domains(sites))
      }
  }

  var filter: FamilyModel.ManagedSettings.SiteFilter {
    func sites(_ domains: Set<WebDomain>) -> Set<Site> {
      Set(domains.compactMap { $0.domain.flatMap { Site(host: $0) } })
    }
    return switch blockedByFilter ?? .none {
    case .none: .none
    case .specific(let domains): .specific(sites(domains))
    case .all(let domains): .all(except: sites(domains))
    }
  }
}
