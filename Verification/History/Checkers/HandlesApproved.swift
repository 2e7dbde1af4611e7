import FamilyModel

/// Checks that an app knows only handles that a guardian approved before, on an own device or with
/// the passcode.
///
/// The decisions are the facts of the devices themselves, so the checker trusts no relay.
public struct HandlesApproved: Checker {
  public let name = "no handle without a guardian's approval"
  /// Creates the checker.
  public init() {}

  private struct Scope: Hashable {
    var family: FamilyID
    var child: PersonID
    /// `nil` for all apps.
    var app: AppID?
  }

  public func check(_ history: History) -> Verdict {
    var owners: [DeviceAddress: PersonID] = [:]
    var approved: [Scope: Set<Handle>] = [:]
    for (index, fact) in history.facts {
      switch fact {
      case .belongs(let device, let person, _): owners[device] = person
      case .approves(let device, let child, let handles, let app):
        approved[Scope(family: device.family, child: child, app: app), default: []]
          .formUnion(handles.map(\.canonical))
      case .knows(let app, let handles, _):
        guard let child = owners[app.device] else { continue }
        let everywhere = Scope(family: app.device.family, child: child)
        let here = Scope(family: app.device.family, child: child, app: app.app)
        let allowed = approved[everywhere, default: []].union(approved[here] ?? [])
        if !allowed.isSuperset(of: handles) {
          return .violated("an app knows a handle that no guardian approved", at: index)
        }
      default: break
      }
    }
    return .ok
  }
}
