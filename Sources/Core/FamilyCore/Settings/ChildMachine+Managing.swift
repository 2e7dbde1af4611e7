public import FamilyModel

/// The settings of the apps that guardians authorized to manage the child.
///
/// A store's settings are durable. The device enforces them, also without a connection, as long as the
/// app's authorization is in force, and deletes them in the step in which the authorization ends.
extension ChildMachine {
  /// The stores of one app, by name.
  typealias ManagedStores = [String: ManagedSettings]

  /// Whether the app's authorization to manage the child is in force. While the consent to the app is
  /// withdrawn, none is.
  public func isAuthorized(_ app: AppID) -> Bool {
    isInFamily && link.person?.role == .child && known.contains(.authorization, in: app)
      && !consents.isWithdrawn(app)
  }

  /// The settings in force, of all apps in order.
  public var managedSettings: [(app: AppID, settings: ManagedSettings)] {
    guard !managed.isEmpty else { return [] }
    return managed.keys.sorted().filter(isAuthorized).flatMap { app in
      managed[app]!.sorted { $0.key < $1.key }.map { (app, $0.value) }
    }
  }

  /// Replaces the settings of an app's store.
  ///
  /// - Returns: The problem for which the device refuses the settings; `nil` for none.
  mutating func manage(
    _ name: String, _ settings: ManagedSettings, of app: AppID, into out: inout DeviceLink.Output
  ) -> Problem? {
    do throws(Problem) {
      try change(name, settings, of: app, into: &out)
      return nil
    } catch { return error }
  }

  private mutating func change(
    _ name: String, _ settings: ManagedSettings, of app: AppID, into out: inout DeviceLink.Output
  ) throws(Problem) {
    guard isAuthorized(app) else { throw .notAuthorized }
    try checkStore(name)
    try settings.validate()
    let stores = managed[app] ?? [:]
    guard settings != stores[name] ?? ManagedSettings() else { return }
    guard stores[name] != nil || stores.count < Limits.managedStores else { throw .tooMany }
    managed[app, default: [:]][name] = settings.isEmpty ? nil : settings
    if managed[app]!.isEmpty { managed[app] = nil }
    out.changes.append(
      settings.isEmpty ? .delete(.managed(app, name)) : .put(.managed(app, name, settings)))
  }

  /// Deletes the settings and activities of each app whose authorization has ended.
  mutating func endManaging(into out: inout DeviceLink.Output) {
    guard !managed.isEmpty || !activities.isEmpty else { return }
    for app in managed.keys.sorted() where !isAuthorized(app) {
      let stores = managed.removeValue(forKey: app)!
      out.changes += stores.keys.sorted().map { .delete(.managed(app, $0)) }
    }
    for app in activities.keys.sorted() where !isAuthorized(app) {
      for name in activities[app]!.keys.sorted() { unwatch(name, of: app, into: &out) }
    }
  }

  /// Whether settings in force block the site.
  func isBlocked(_ site: Site) -> Bool {
    managedSettings.contains { $0.settings.sites.blocks(site) }
  }

  /// The filters of the web in force.
  var siteFilters: [ManagedSettings.SiteFilter] {
    managedSettings.map(\.settings.sites).filter { $0 != .none }
  }

  /// Whether settings in force of another app block the app.
  func isBlocked(_ app: AppID) -> Bool {
    managedSettings.contains { $0.app != app && $0.settings.blockedApps.contains(app) }
  }

  /// Whether settings in force deny questions about people.
  var arePeopleDenied: Bool { managedSettings.contains(where: \.settings.deniesPeople) }
}
