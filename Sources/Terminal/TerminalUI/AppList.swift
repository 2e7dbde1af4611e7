import DeviceAgent
import FamilyCore
import FamilyModel
import Wording

extension Renderer {
  /// The apps on a child's devices: each with its rating, device and times.
  func apps(_ apps: [ChildApp], of child: String, ceiling: AgeRating?) -> [Row] {
    guard !apps.isEmpty else { return text(wording(.appsNone, child), .faint) }
    return [rule(wording(.appsTitle, child))]
      + apps.flatMap { app -> [Row] in
        let rating = app.listed.rating.map { "\($0.rawValue)+" } ?? wording(.appNotRated)
        let line = "\(name(of: app.listed.app)) · \(rating)"
        let isAllowed = app.listed.isAllowed(by: ceiling)
        return hanging("• ", line, .bold)
          + (isAllowed ? [] : hanging("  ", wording(.appAboveCeiling), .bad))
          + hanging(
            "  ", wording(.appOnDevice, "\(app.device.rawValue)", time(app.since)), .faint)
      }
  }

  /// The apps with their new ratings, as a list in a sentence.
  func list(_ risen: [RisenRating]) -> String {
    wording.list(risen.map { "\(name(of: $0.app)) \($0.rating.rawValue)+" })
  }
}

extension TerminalSession {
  /// The apps with a name, as this person reads them. The manifests of this device come first.
  func names(_ view: DeviceView) -> [AppID: String] {
    let own = host.configuration.manifests.compactMapValues(\.name)
    let names = view.link.appNames.merging(own) { $1 }
    return names.reduce(into: [:]) { names, app in
      names[app.key] =
        view.isGuardian
        ? wording.app(app.key.rawValue, named: app.value)
        : wording.name(app.key.rawValue, app.value)
    }
  }

  /// Lists the apps of the selected child or, on a child's device, of the child's devices.
  func showApps(_ timeline: Timeline) {
    guard let child = pickedChild else { return }
    let ceiling = timeline.link.age(of: child.id).settings.ceiling
    write(
      renderer.apps(
        timeline.link.apps(of: child.id), of: child.displayName, ceiling: ceiling))
  }
}
