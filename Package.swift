// swift-tools-version: 6.1
import PackageDescription

/// Every target keeps the language's strictest defaults: imports are internal unless said otherwise.
let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
]

let package = Package(
  name: "permission-relay",
  products: [
  ],
  dependencies: [],
  targets: [
    .target(name: "FamilyModel", swiftSettings: settings),
  ]
)
