// swift-tools-version:6.2
import PackageDescription

/// The language's strictest defaults: imports are internal unless said otherwise.
let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
]

/// A target of the layers: what is not named here cannot be imported.
func layer(
  _ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = [],
  resources: [Resource] = [], path: String? = nil
) -> Target {
  .target(
    name: name, dependencies: dependencies, path: path, exclude: exclude, resources: resources,
    swiftSettings: settings)
}

func program(
  _ name: String, _ dependencies: [Target.Dependency], path: String? = nil,
  resources: [Resource] = []
) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies + [argumentParser], path: path, resources: resources,
    swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(name: name, dependencies: dependencies, swiftSettings: settings)
}

let protobuf = Target.Dependency.product(name: "SwiftProtobuf", package: "swift-protobuf")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let sqlite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let lifecycle = Target.Dependency.product(
  name: "ServiceLifecycle", package: "swift-service-lifecycle")
let subprocess = Target.Dependency.product(name: "Subprocess", package: "swift-subprocess")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")
let nio = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioHTTP = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let system = Target.Dependency.product(name: "SystemPackage", package: "swift-system")
let histogram = Target.Dependency.product(name: "Histogram", package: "hdrhistogram-swift")
let argumentParser = Target.Dependency.product(
  name: "ArgumentParser", package: "swift-argument-parser")

let package = Package(
  name: "permission-relay",
  defaultLocalization: "en",
  products: [
    .library(name: "PermissionKit", targets: ["PermissionKit"]),
    .library(name: "DeclaredAgeRange", targets: ["DeclaredAgeRange"]),
    .library(name: "PermissionKitTesting", targets: ["PermissionKitTesting"]),
    .library(name: "ChaosShim", type: .dynamic, targets: ["ChaosShim"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2"),
  ],
  targets: [
    .systemLibrary(name: "CZeroMQ"),
    .systemLibrary(name: "CSodium"),
    layer("ZeroMQ", ["CZeroMQ"]),
    layer("FamilyModel", resources: [.embedInCode("Age/regions.csv")]),
    layer("FamilyCore", ["FamilyModel"]),
    layer("Wording", ["FamilyModel"], resources: [.process("Resources")]),
    layer("TextTable"),
    layer("QRCode"),
    layer("RelayWire", ["FamilyModel", "FamilyCore", protobuf], exclude: ["Protos"]),
    layer("FamilyTrust", ["FamilyModel", "FamilyCore", "RelayWire", crypto]),
    .systemLibrary(name: "CChecksum"),
    layer("RelayStore", ["FamilyModel", "CChecksum"]),
    layer("SQLiteStore", ["FamilyModel", "RelayStore", grdb, sqlite]),
    layer("DeviceConnection", ["FamilyModel"]),
    layer(
      "RelayRuntime",
      [
        "FamilyModel", "FamilyCore", "FamilyTrust", "RelayWire", "RelayStore", "SQLiteStore",
        "ZeroMQ", "CSodium", "DeviceConnection", "QRCode", "Wording", "ContentCheck", crypto,
        cryptoExtras,
        deque, logging, lifecycle, subprocess, system, argumentParser,
      ]),
    layer("ContentCheck", ["FamilyModel", "ZeroMQ", crypto], exclude: ["README.md"]),
    layer("DeviceSocket", ["DeviceConnection", "FamilyModel", "RelayWire", "ZeroMQ"]),
    layer(
      "AppClient",
      [
        "DeviceConnection", "DeviceSocket", "FamilyModel", "FamilyCore", "FamilyTrust", "RelayWire",
        "RelayStore", "SQLiteStore", logging,
      ]),
    layer("Presentation", []),
    layer("PermissionKit", ["AppClient", "FamilyModel", "Presentation"]),
    layer("DeclaredAgeRange", ["AppClient", "FamilyModel", "Presentation"]),
    layer(
      "PermissionKitTesting",
      [
        "PermissionKit", "AppClient", "DeviceConnection", "FamilyModel", "FamilyCore",
        "FamilyTrust", "RelayStore",
      ]),
    layer("History", ["FamilyModel", "FamilyCore"]),
    layer(
      "Simulation", ["FamilyModel", "FamilyCore", "RelayWire", "RelayStore", "History"]),
    program(
      "app-agent", ["PermissionKit", "DeclaredAgeRange"], resources: [.copy("manifest.json")]),
    program("relay", ["RelayRuntime", "SQLiteStore", "ZeroMQ", logging, lifecycle]),
    program("content-worker", ["ContentCheck", logging, lifecycle]),
    program(
      "relayctl",
      [
        "FamilyModel", "FamilyCore", "FamilyTrust", "QRCode", "RelayRuntime", "RelayWire",
        "TextTable",
        "Wording", "ZeroMQ", yams,
      ]),
    program("child-agent", ["FamilyModel", "RelayRuntime"]),
    program("parent-agent", ["FamilyModel", "RelayRuntime"]),
    .target(
      name: "ProcessCluster", dependencies: ["Processes", "TextTable", subprocess, system],
      path: "tools/ProcessCluster", swiftSettings: settings),
    program(
      "cluster", ["ProcessCluster", "TextTable", logging, lifecycle, subprocess, system],
      path: "tools/cluster"),
    .target(name: "ChaosShim", path: "tools/chaos-shim"),
    program(
      "chaos",
      [
        "ProcessCluster", "Processes", "History", "FamilyModel", "FamilyCore", "RelayRuntime",
        "RelayStore", "RelayWire", "SQLiteStore", "TextTable", subprocess, system, nio, nioPosix,
      ],
      path: "tools/chaos"),
    .executableTarget(
      name: "bench",
      dependencies: [
        "PermissionKit", "FamilyModel", "FamilyCore", "FamilyTrust", "RelayRuntime", "RelayStore",
        "RelayWire",
        "SQLiteStore", "ZeroMQ", "Processes", argumentParser, logging, lifecycle,
      ], path: "tools/bench", exclude: ["reference", "micro"], swiftSettings: settings),
    .executableTarget(
      name: "bench-micro",
      dependencies: [
        "FamilyModel", "FamilyCore", "RelayStore", "RelayWire", "SQLiteStore", sqlite,
        argumentParser,
      ], path: "tools/bench/micro", exclude: ["thresholds.json"], swiftSettings: settings),
    .executableTarget(
      name: "bench-reference", path: "tools/bench/reference",
      linkerSettings: [.linkedLibrary("zmq"), .linkedLibrary("sqlite3")]),
    .target(name: "Processes", path: "tools/processes", swiftSettings: settings),
    program("simulate", ["Simulation", "History", "TextTable"], path: "tools/simulate"),
    layer(
      "FuzzTargets", ["FamilyModel", "FamilyCore", "RelayStore", "RelayWire"],
      path: "tools/fuzzing/targets"),
    tests("FuzzTests", ["FuzzTargets"]),
    program(
      "load",
      [
        "FamilyModel", "FamilyCore", "RelayRuntime", "RelayWire", "RelayStore", "SQLiteStore",
        "ZeroMQ", "History", "TextTable", "Processes", "FamilyTrust", crypto, histogram, logging,
      ],
      path: "tools/load"),
    tests("ZeroMQTests", ["ZeroMQ"]),
    tests("FamilyModelTests", ["FamilyModel"]),
    tests("HistoryTests", ["FamilyModel", "FamilyCore", "History"]),
    tests(
      "SimulationTests", ["FamilyModel", "FamilyCore", "Simulation", "History", subprocess, system]),
    tests("FamilyCoreTests", ["FamilyModel", "FamilyCore", "RelayWire"]),
    tests("FamilyTrustTests", ["FamilyModel", "FamilyCore", "FamilyTrust", "RelayWire"]),
    tests("WordingTests", ["FamilyModel", "Wording"]),
    tests("RelayWireTests", ["FamilyModel", "FamilyCore", "RelayWire"]),
    tests(
      "RelayRuntimeTests",
      [
        "FamilyModel", "FamilyCore", "FamilyTrust", "RelayWire", "RelayStore", "SQLiteStore",
        "RelayRuntime", "ZeroMQ", "DeviceConnection", crypto, logging, lifecycle,
      ]),
    tests(
      "DeclaredAgeRangeTests", ["DeclaredAgeRange", "PermissionKit", "PermissionKitTesting"]),
    tests("PermissionKitTests", ["PermissionKit", "PermissionKitTesting"]),
    tests(
      "ExampleAppTests",
      ["DeclaredAgeRange", "PermissionKit", "PermissionKitTesting", nio, nioHTTP, nioPosix]),
    tests("ContentCheckTests", ["ContentCheck", "FamilyModel", "ZeroMQ", crypto]),
    tests(
      "TerminalTests",
      ["FamilyModel", "FamilyCore", "RelayRuntime", "ContentCheck", "Wording", crypto]),
    tests("ArchitectureTests", []),
    tests("ClusterTests", ["ProcessCluster", subprocess, system]),
    tests(
      "LoadTests",
      ["load", "FamilyModel", "FamilyCore", "RelayStore", "ZeroMQ", subprocess, system]),
    tests(
      "ChaosTests", ["chaos", "FamilyModel", "History", "ProcessCluster", subprocess, system]),
    tests("TextTableTests", ["TextTable"]),
    tests("QRCodeTests", ["QRCode"]),
    tests(
      "RelayControlTests",
      ["FamilyModel", "RelayRuntime", subprocess, system]),
    .target(name: "TestDisk", path: "Tests/TestDisk"),
    tests("StoreTests", ["FamilyModel", "RelayStore", "SQLiteStore", "TestDisk", grdb]),
  ]
)

// libFuzzer brings the main function, so this program links with its sanitizer only: see tools/fuzz.
if Context.environment["PERMISSION_RELAY_FUZZ"] != nil {
  package.targets.append(
    .executableTarget(
      name: "fuzz", dependencies: ["FuzzTargets"], path: "tools/fuzzing/fuzz",
      swiftSettings: settings + [.unsafeFlags(["-parse-as-library"])]))
}
