import FamilyModel

extension ListedApp {
  var wire: PBAppList.App {
    .with {
      $0.app = app.rawValue
      $0.name = name ?? ""
      $0.rating = rating.wire
      $0.frameworks = frameworks.rawValue
    }
  }

  init(_ wire: PBAppList.App) throws(Problem) {
    guard 1...Limits.identifierBytes ~= wire.app.utf8.count,
      wire.name.utf8.count <= Limits.titleBytes
    else { throw .tooLarge }
    self.init(
      app: AppID(wire.app), name: wire.name.isEmpty ? nil : wire.name,
      rating: try AgeRating?(wire: wire.rating),
      frameworks: AppFrameworks(rawValue: wire.frameworks))
  }
}

/// The apps of a list.
///
/// - Throws: `tooLarge`, or `malformed` for an unknown rating or a repeated identifier.
func appList(_ wire: PBAppList) throws(Problem) -> [ListedApp] {
  let apps = try Wire.map(wire.apps, limit: Limits.listedApps, ListedApp.init)
  guard Set(apps.map(\.app)).count == apps.count else { throw .malformed }
  return apps
}
