import FamilyModel

extension ManagedSettings {
  func wire(_ name: String) -> PBManagedStore {
    .with {
      $0.name = name
      $0.filter =
        switch sites {
        case .none: 0
        case .specific: 1
        case .all: 2
        }
      $0.sites = sites.sites.map(\.name).sorted()
      $0.blockedApps = blockedApps.map(\.rawValue).sorted()
      $0.deniesPeople = deniesPeople
    }
  }

  init(_ wire: PBManagedStore) throws(Problem) {
    self.init()
    let sites = try Wire.sites(wire.sites, limit: Limits.managedSites)
    switch wire.filter {
    case 0: guard sites.isEmpty else { throw .malformed }
    case 1: self.sites = .specific(Set(sites))
    case 2: self.sites = .all(except: Set(sites))
    default: throw .malformed
    }
    guard wire.blockedApps.count <= Limits.blockedApps else { throw .tooLarge }
    blockedApps = Set(wire.blockedApps.map { AppID($0) })
    deniesPeople = wire.deniesPeople
  }
}
