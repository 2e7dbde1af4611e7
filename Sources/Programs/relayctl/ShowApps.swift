import ArgumentParser
import FamilyCore
import FamilyModel

struct Apps: ExplainedCommand {
  static let configuration = CommandConfiguration(
    abstract: "List the apps on the children's devices, with their age ratings.",
    discussion: "Each device of a child reports its apps. An app above the child's ceiling is "
      + "refused everything. An app without a rating counts as 18+.")
  @OptionGroup var guardian: GuardianOptions
  @OptionGroup var child: ChildOption
  @OptionGroup var output: OutputOptions

  func perform() throws {
    let view = try guardian.view()
    var listing = Listing(
      ofChildren: [
        .init("app"), .init("name"), .init("rating"),
        .init("ceiling", "aboveCeiling"), .init("uses", "frameworks"), .init("device"),
        .init("since"), .init("rated since", "ratedSince"),
      ])
    for child in try view.children(child.name) {
      let ceiling = view.link.age(of: child.id).settings.ceiling
      for app in view.link.apps(of: child.id) {
        let isAllowed = app.listed.isAllowed(by: ceiling)
        listing.add(
          child, .text(app.listed.app.rawValue), app.listed.name.map { .text($0) } ?? .none,
          app.listed.rating.map { .shown("\($0.rawValue)+", .number(UInt64($0.rawValue))) }
            ?? .shown("not rated", .none),
          .shown(ceiling == nil ? "" : isAllowed ? "allowed" : "above", .flag(!isAllowed)),
          .list(app.listed.frameworks.names.map { .text($0) }),
          .number(UInt64(app.device.rawValue)), .time(app.since), .time(app.ratedSince))
      }
    }
    output.show(listing, empty: "No device of a child has reported an app yet.")
  }
}

extension AppFrameworks {
  /// The names of the frameworks that an app imports.
  fileprivate var names: [String] {
    (contains(.permissions) ? ["PermissionKit"] : [])
      + (contains(.ageRanges) ? ["DeclaredAgeRange"] : [])
  }
}

extension FamilyView {
  /// The app: its name and identifier in a table, its identifier in JSON.
  func cell(_ app: AppID) -> Cell { .shown(name(of: app), .text(app.rawValue)) }
}
