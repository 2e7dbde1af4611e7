// swift-tools-version: 6.1
import PackageDescription

/// The language's strictest defaults: imports are internal unless said otherwise.
let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
]

/// A target of the layers that DESIGN draws: what is not named here cannot be imported.
func layer(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

let package = Package(
  name: "permission-relay",
  dependencies: [
    .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0")
  ],
  targets: [
    layer("FamilyModel"),
    layer("FamilyCore", ["FamilyModel"]),
  ]
)
