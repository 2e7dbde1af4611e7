package import DeviceAgent
package import FamilyCore
package import FamilyModel
package import Wording

extension Renderer {
  /// The apps on a child's devices: each with its rating, device and times.
  func apps(_ apps: [ChildApp], of child: String, ceiling: AgeRating?) -> [Row] {
    guard !apps.isEmpty else { return text(wording(.appsNone, child), .faint) }
    return [rule(wording(.appsTitle, child))]
      + apps.flatMap { app -> [Row] in
        let line = "\(name(of: app.listed.app)) · \(rating(of: app))"
        let isAllowed = app.listed.isAllowed(by: ceiling)
        return hanging("• ", line, .bold)
          + (isAllowed ? [] : hanging("  ", wording(.appAboveCeiling), .bad))
          + hanging("  ", device(of: app), .faint)
      }
  }

  /// The app's rating.
  package func rating(of app: ChildApp) -> String {
    app.listed.rating.map { "\($0.rawValue)+" } ?? wording(.appNotRated)
  }

  /// The device with the app, and the time of its first report.
  package func device(of app: ChildApp) -> String {
    wording(.appOnDevice, "\(app.device.rawValue)", time(app.since))
  }

  /// The apps with their new ratings, as a list in a sentence.
  func list(_ risen: [RisenRating]) -> String {
    wording.list(risen.map { "\(name(of: $0.app)) \($0.rating.rawValue)+" })
  }
}

extension DeviceView {
  /// The apps with a name, as the device's owner reads them.
  ///
  /// - Parameter manifests: The manifests of the host's apps, whose names precede the reported ones.
  package func appNames(
    _ manifests: [AppID: AppManifest], _ wording: Wording
  ) -> [AppID: String] {
    let names = link.appNames.merging(manifests.compactMapValues(\.name)) { $1 }
    return names.reduce(into: [:]) { names, app in
      names[app.key] =
        isGuardian
        ? wording.app(app.key.rawValue, named: app.value)
        : wording.name(app.key.rawValue, app.value)
    }
  }
}

extension TerminalSession {

  /// Lists the apps of the selected child or, on a child's device, of the child's devices.
  func showApps(_ timeline: Timeline) {
    guard let child = pickedChild else { return }
    let ceiling = timeline.link.age(of: child.id).settings.ceiling
    write(
      renderer.apps(
        timeline.link.apps(of: child.id), of: child.displayName, ceiling: ceiling))
  }
}
