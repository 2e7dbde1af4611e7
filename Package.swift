// swift-tools-version:6.2
import PackageDescription

// MARK: Targets by folder

/// The strictest defaults of the language: imports are internal unless stated otherwise.
let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
]

/// A library in `Sources/<folder>/<name>`. A module imports only the dependencies listed here.
func library(
  _ folder: String, _ name: String, _ dependencies: [Target.Dependency] = [],
  exclude: [String] = [], resources: [Resource] = []
) -> Target {
  .target(
    name: name, dependencies: dependencies, path: "Sources/\(folder)/\(name)", exclude: exclude,
    resources: resources, swiftSettings: settings)
}

/// A system library or C shim in `Sources/<folder>/<name>`.
func system(_ folder: String, _ name: String) -> Target {
  .systemLibrary(name: name, path: "Sources/\(folder)/\(name)")
}

/// A shipped program in `Sources/Programs/<name>`.
func program(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = [])
  -> Target
{
  .executableTarget(
    name: name, dependencies: dependencies + [argumentParser], path: "Sources/Programs/\(name)",
    resources: resources, swiftSettings: settings)
}

/// A library in `Verification/<path>`.
func rig(_ name: String, _ dependencies: [Target.Dependency], path: String? = nil) -> Target {
  .target(
    name: name, dependencies: dependencies, path: "Verification/\(path ?? name)",
    swiftSettings: settings)
}

/// A program in `Verification/<path>` that measures or attacks the shipped programs.
func tool(
  _ name: String, _ dependencies: [Target.Dependency], path: String? = nil, exclude: [String] = [],
  linkerSettings: [LinkerSetting] = []
) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies + [argumentParser],
    path: "Verification/\(path ?? name)", exclude: exclude, swiftSettings: settings,
    linkerSettings: linkerSettings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(name: name, dependencies: dependencies, swiftSettings: settings)
}

// MARK: Dependencies

let argumentParser = Target.Dependency.product(
  name: "ArgumentParser", package: "swift-argument-parser")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let httpClient = Target.Dependency.product(
  name: "AsyncHTTPClient", package: "async-http-client")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let heap = Target.Dependency.product(name: "HeapModule", package: "swift-collections")
let histogram = Target.Dependency.product(name: "Histogram", package: "hdrhistogram-swift")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let lifecycle = Target.Dependency.product(
  name: "ServiceLifecycle", package: "swift-service-lifecycle")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let nio = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioHTTP = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let protobuf = Target.Dependency.product(name: "SwiftProtobuf", package: "swift-protobuf")
let sqlite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let subprocess = Target.Dependency.product(name: "Subprocess", package: "swift-subprocess")
let systemPackage = Target.Dependency.product(name: "SystemPackage", package: "swift-system")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")

// MARK: Shipped

/// Each folder imports only folders listed above it.
let sources: [Target] = [
  library("Core", "FamilyModel", resources: [.embedInCode("Age/regions.csv")]),
  library("Core", "FamilyCore", ["FamilyModel"]),
  library("Wire", "RelayWire", ["FamilyModel", "FamilyCore", protobuf], exclude: ["Protos"]),
  library("Core", "FamilyTrust", ["FamilyModel", "FamilyCore", "RelayWire", crypto]),

  system("Storage", "CChecksum"),
  library("Storage", "RelayStore", ["FamilyModel", "CChecksum"]),
  library("Storage", "SQLiteStore", ["FamilyModel", "RelayStore", grdb, sqlite]),

  system("Transport", "CZeroMQ"),
  library("Transport", "ZeroMQ", ["CZeroMQ"]),
  library("Transport", "SystemClock", ["FamilyModel"]),

  system("Client", "CProcess"),
  library("Client", "PrivateFiles", ["CProcess"]),
  library("Client", "BackupArchive", ["PrivateFiles", crypto]),
  system("Client", "CSodium"),
  library(
    "Client", "Credentials",
    [
      "FamilyModel", "FamilyCore", "FamilyTrust", "ZeroMQ", "PrivateFiles", "CSodium",
      "SystemClock",
      crypto, cryptoExtras,
    ]),
  library(
    "Client", "RelayClient",
    [
      "FamilyModel", "FamilyCore", "FamilyTrust", "RelayWire", "ZeroMQ", "Credentials",
      "SystemClock", crypto,
    ]),

  library(
    "Relay", "RelayPipeline",
    [
      "FamilyModel", "FamilyCore", "FamilyTrust", "RelayWire", "RelayStore", "ZeroMQ",
      "Credentials", "SystemClock", crypto, deque,
    ]),
  library("Relay", "RelayOperation", ["ZeroMQ"]),
  library(
    "Relay", "RelayServer",
    [
      "RelayOperation", "RelayPipeline", "FamilyModel", "RelayStore", "RelayWire", "ZeroMQ",
      "Credentials", "SystemClock", logging, lifecycle,
    ]),

  library("App", "DeviceConnection", ["FamilyModel"]),
  library("Device", "PerceptualHash"),
  .target(name: "CPictureExchange", path: "Sources/Device/CPictureExchange"),
  .target(
    name: "CPictureDecoder", dependencies: ["CPictureExchange"],
    path: "Sources/Device/CPictureDecoder",
    linkerSettings: ["avcodec", "avformat", "avutil", "swscale", "seccomp"].map {
      .linkedLibrary($0)
    }),
  library(
    "Device", "ContentCheck",
    ["CPictureExchange", "FamilyModel", "PerceptualHash", "ZeroMQ", "PrivateFiles", crypto],
    exclude: ["README.md"]),
  library(
    "Device", "DeviceTurn",
    [
      "FamilyModel", "FamilyCore", "RelayWire", "RelayStore", "ZeroMQ", "Credentials",
      "SystemClock", deque,
    ]),
  .target(name: "CAppLauncher", path: "Sources/Device/CAppLauncher"),
  library(
    "Device", "DeviceAgent",
    [
      "CAppLauncher", "ContentCheck", "DeviceTurn", "FamilyModel", "FamilyCore", "FamilyTrust",
      "RelayWire",
      "RelayStore", "ZeroMQ", "Credentials", "DeviceConnection", "SystemClock", crypto, deque,
      logging, lifecycle, subprocess, systemPackage,
    ]),

  library(
    "App", "AppClient",
    [
      "DeviceConnection", "FamilyModel", "FamilyCore", "FamilyTrust", "RelayWire", "RelayStore",
      "SQLiteStore", "ZeroMQ", "SystemClock", logging,
    ]),
  library(
    "App", "PermissionKit", ["AppClient", "DeviceConnection", "FamilyModel", "SystemClock"]),
  library("App", "DeclaredAgeRange", ["AppClient", "DeviceConnection", "FamilyModel"]),
  system("App", "CSiteNames"),
  library("App", "SiteNames", ["CSiteNames", "FamilyModel"]),
  library(
    "App", "ScreenTime", ["AppClient", "DeviceConnection", "FamilyModel", "SiteNames"]),
  library("App", "FamilyControls", ["AppClient", "DeviceConnection", "FamilyModel"]),
  library(
    "App", "ManagedSettings", ["AppClient", "DeviceConnection", "FamilyModel", "SiteNames"]),
  library(
    "App", "DeviceActivity",
    [
      "AppClient", "DeviceConnection", "FamilyCore", "FamilyModel", "ManagedSettings", "SiteNames",
    ]),
  library(
    "App", "SensitiveContentAnalysis",
    ["AppClient", "ContentCheck", "DeviceConnection", "FamilyModel", "PerceptualHash"]),
  library(
    "App", "PermissionKitTesting",
    [
      "PermissionKit", "AppClient", "Credentials", "DeviceConnection", "DeviceTurn", "FamilyModel",
      "FamilyCore", "FamilyTrust", "RelayPipeline", "RelayStore", "RelayWire", "SiteNames",
      "ZeroMQ",
    ]),

  library("Gateway", "GatewayModel", ["FamilyModel", "SystemClock", crypto]),
  library(
    "Gateway", "GatewayServer",
    [
      "AppClient", "DeviceConnection", "FamilyModel", "GatewayModel", "RelayStore", "SQLiteStore",
      "SystemClock", httpClient, hummingbird, logging, lifecycle, nioSSL,
    ], resources: [.embedInCode("Resources/openapi.json")]),

  library("Terminal", "TextTable"),
  library("Terminal", "QRCode"),
  library(
    "Terminal", "Wording", ["FamilyModel", "FamilyCore"], resources: [.process("Resources")]),
  library(
    "Terminal", "TerminalUI",
    [
      "FamilyModel", "FamilyCore", "FamilyTrust", "ContentCheck", "Credentials", "DeviceAgent",
      "QRCode", "SystemClock", "Wording", lifecycle,
    ]),
  library(
    "Terminal", "DeviceScreen",
    [
      "FamilyModel", "FamilyCore", "ContentCheck", "Credentials", "DeviceAgent", "SiteNames",
      "SystemClock", "TerminalUI", "Wording", "ZeroMQ", logging, lifecycle,
    ]),

  library("Programs", "ProgramOptions", ["PrivateFiles", argumentParser, logging]),
  library(
    "Programs", "AgentCommand",
    [
      "FamilyModel", "ContentCheck", "Credentials", "DeviceAgent", "DeviceScreen",
      "ProgramOptions", "RelayClient", "SQLiteStore", "SystemClock", "TerminalUI", "Wording",
      argumentParser,
      logging, lifecycle,
    ]),
  program(
    "relay",
    [
      "Credentials", "FamilyModel", "PrivateFiles", "ProgramOptions", "RelayOperation",
      "RelayServer",
      "RelayStore", "SQLiteStore", "ZeroMQ", logging, lifecycle,
    ]),
  program(
    "relayctl",
    [
      "FamilyModel", "FamilyCore", "FamilyTrust", "BackupArchive", "Credentials", "PrivateFiles",
      "ProgramOptions", "QRCode", "RelayClient", "RelayOperation", "RelayStore", "RelayWire",
      "SiteNames", "SQLiteStore", "SystemClock", "TextTable", "Wording", "ZeroMQ", yams,
    ]),
  program(
    "child-agent",
    ["FamilyModel", "AgentCommand", "Credentials", "DeviceAgent", "ProgramOptions"]),
  program("parent-agent", ["FamilyModel", "AgentCommand", "Credentials", "ProgramOptions"]),
  program(
    "app-agent",
    [
      "PermissionKit", "DeclaredAgeRange", "DeviceActivity", "FamilyControls", "ManagedSettings",
      "ScreenTime", "SensitiveContentAnalysis",
    ], resources: [.copy("manifest.json")]),
  program(
    "relay-monitor", ["ProgramOptions", "RelayOperation", hummingbird, logging, lifecycle]),
  program(
    "gateway",
    [
      "AppClient", "DeviceConnection", "GatewayModel", "GatewayServer", "PrivateFiles",
      "ProgramOptions", "SQLiteStore", "SystemClock", logging, lifecycle,
    ]),
  program(
    "content-worker",
    [
      "ContentCheck", "PerceptualHash", "PrivateFiles", "ProgramOptions", logging, lifecycle,
    ]),
  program(
    "content-decoder",
    ["CPictureDecoder", "CPictureExchange", "FamilyModel", "PerceptualHash", "ProgramOptions"]),
]

// MARK: Verification

let verification: [Target] = [
  rig("History", ["FamilyModel", "FamilyCore"]),
  rig("BlockStorage", ["FamilyCore"]),
  rig("FamilyHarness", ["FamilyModel", "FamilyCore"]),
  rig(
    "Simulation",
    [
      "BlockStorage", "FamilyModel", "FamilyCore", "Credentials", "DeviceTurn", "RelayPipeline",
      "RelayWire", "RelayStore", "ZeroMQ", "History", heap,
    ]),
  tool("simulate", ["FamilyModel", "Simulation", "History", "TextTable"]),

  rig("Processes", []),
  rig("Statistics", []),
  rig(
    "LoadFamilies",
    [
      "FamilyModel", "FamilyCore", "FamilyTrust", "Credentials", "SystemClock", "ZeroMQ", crypto,
    ]),
  rig(
    "ProcessCluster", ["Processes", "TextTable", argumentParser, subprocess, systemPackage]),
  rig("FaultNetwork", ["FamilyModel", "Credentials", "ProcessCluster", nio, nioPosix]),
  rig("AgentTraces", ["FamilyModel", "History", "SystemClock"]),
  .target(
    name: "ClusterConsole",
    dependencies: [
      "AgentTraces", "Credentials", "FaultNetwork", "FamilyModel", "GatewayModel", "History",
      "ProcessCluster", "Processes", "SystemClock", "ZeroMQ", hummingbird, logging, lifecycle,
      subprocess, systemPackage,
    ], path: "Verification/ClusterConsole", resources: [.copy("Page")], swiftSettings: settings),
  tool("web-proxy", ["ScreenTime", nio, nioPosix]),
  tool("cluster-console", ["ClusterConsole", "ProcessCluster", logging, lifecycle]),
  tool(
    "cluster", ["ProcessCluster", "TextTable", logging, lifecycle, subprocess, systemPackage]),

  .target(name: "ChaosShim", path: "Verification/ChaosShim"),
  tool(
    "chaos",
    [
      "AgentTraces", "FaultNetwork", "ProcessCluster", "Processes", "History", "LoadFamilies",
      "FamilyModel", "FamilyCore", "FamilyTrust", "Credentials", "DeviceAgent", "DeviceTurn",
      "RelayClient", "RelayStore", "RelayWire", "SQLiteStore", "SystemClock", "Statistics",
      "TextTable", "ZeroMQ", crypto, logging,
      lifecycle, subprocess, systemPackage, nio, nioPosix,
    ]),
  tool(
    "load",
    [
      "FamilyModel", "FamilyCore", "Credentials", "DeviceAgent", "LoadFamilies", "RelayClient",
      "RelayWire", "RelayStore", "SQLiteStore", "SystemClock", "ZeroMQ", "History", "TextTable",
      "Processes", histogram, logging, lifecycle,
    ]),
  tool(
    "bench",
    [
      "PermissionKit", "FamilyHarness", "FamilyModel", "FamilyCore", "FamilyTrust", "Credentials",
      "ContentCheck", "SensitiveContentAnalysis", "DeviceTurn", "DeviceAgent", "RelayClient",
      "RelayServer", "RelayStore", "RelayWire",
      "SQLiteStore",
      "SystemClock", "ZeroMQ",
      "Processes", "Statistics", "TextTable", logging, lifecycle,
    ], exclude: ["reference", "micro"]),
  tool(
    "bench-micro",
    [
      "FamilyModel", "FamilyCore", "FamilyTrust", "RelayStore", "RelayWire", "SQLiteStore",
      "SiteNames", "Statistics", "TextTable", sqlite,
    ],
    path: "bench/micro", exclude: ["thresholds.json"],
    // Valgrind 3.19 cannot read the debug information of swift-crypto.
    linkerSettings: [.unsafeFlags(["-Xlinker", "--strip-debug"])]),
  .executableTarget(
    name: "bench-reference", path: "Verification/bench/reference",
    linkerSettings: [.linkedLibrary("zmq"), .linkedLibrary("sqlite3")]),
  rig(
    "FuzzTargets",
    [
      "ContentCheck", "FamilyHarness", "FamilyModel", "FamilyCore", "PerceptualHash", "RelayStore",
      "RelayWire", "SiteNames",
    ],
    path: "fuzzing/targets"),
  tool("fuzz-volume", ["FamilyModel", "FuzzTargets"], path: "fuzzing/volume"),
]

// MARK: Tests

let suites: [Target] = [
  .target(name: "TestDisk", path: "Tests/TestDisk"),
  .target(name: "TestThreads", path: "Tests/TestThreads", swiftSettings: settings),
  .target(
    name: "RelayFixture",
    dependencies: [
      "FamilyModel", "FamilyCore", "FamilyTrust", "Credentials", "RelayClient", "RelayServer",
      "RelayStore", "RelayWire", "SQLiteStore", "SystemClock", "ZeroMQ", logging,
    ], path: "Tests/RelayFixture", swiftSettings: settings),
  tests("ArchitectureTests", []),

  tests("FamilyModelTests", ["FamilyModel"]),
  tests(
    "FamilyCoreTests",
    ["BlockStorage", "FamilyHarness", "TestThreads", "FamilyModel", "FamilyCore", "RelayWire"]),
  tests(
    "FamilyTrustTests",
    [
      "BlockStorage", "FamilyHarness", "TestThreads", "FamilyModel", "FamilyCore", "FamilyTrust",
      "RelayStore",
      "RelayWire", "SQLiteStore", crypto,
    ]),
  tests(
    "RelayWireTests",
    ["FamilyModel", "FamilyCore", "FamilyTrust", "Credentials", "RelayWire", "ZeroMQ"]),
  tests("SiteNamesTests", ["SiteNames", "FamilyModel"]),
  tests("PrivateFilesTests", ["PrivateFiles", "TestDisk"]),
  tests("BackupArchiveTests", ["BackupArchive"]),
  tests("StoreTests", ["FamilyModel", "RelayStore", "SQLiteStore", "TestDisk", grdb]),
  tests("ZeroMQTests", ["ZeroMQ"]),
  tests(
    "RelayPipelineTests",
    [
      "TestThreads", "FamilyModel", "FamilyCore", "FamilyTrust", "Credentials", "RelayPipeline",
      "RelayStore", "RelayWire", "ZeroMQ", deque,
    ]),
  tests(
    "RelayServerTests",
    [
      "RelayFixture", "TestThreads", "FamilyModel", "FamilyCore", "FamilyTrust", "Credentials",
      "RelayClient", "RelayOperation", "RelayPipeline", "RelayServer", "RelayStore", "RelayWire",
      "SQLiteStore", "SystemClock", "ZeroMQ", crypto, logging, lifecycle,
    ]),
  tests(
    "RelayOperationTests",
    ["ProgramOptions", "RelayOperation", "RelayServer", logging, subprocess, systemPackage]),
  tests("DeviceTurnTests", ["DeviceTurn", "FamilyModel", "FamilyCore", "RelayWire", "ZeroMQ"]),
  tests(
    "DeviceAgentTests",
    [
      "AppClient", "CAppLauncher", "ContentCheck", "content-decoder", "PerceptualHash",
      "SensitiveContentAnalysis", "DeviceTurn", "RelayFixture", "RelayClient", "RelayServer",
      "child-agent", "content-worker", "FamilyModel", "FamilyCore", "FamilyTrust", "Credentials",
      "DeviceAgent",
      "DeviceConnection", "RelayStore", "RelayWire", "SQLiteStore", "SystemClock", "ZeroMQ",
      crypto, logging, lifecycle,
    ]),
  tests("PerceptualHashTests", ["PerceptualHash"]),
  tests(
    "ContentCheckTests",
    [
      "ContentCheck", "content-decoder", "content-worker", "FamilyModel", "PerceptualHash",
      "ZeroMQ", crypto, subprocess, systemPackage,
    ]),
  tests(
    "AppClientTests",
    [
      "AppClient", "FamilyModel", "FamilyCore", "FamilyTrust", "Credentials", "DeviceConnection",
      "RelayStore", "RelayWire", "SensitiveContentAnalysis", "SQLiteStore", "SystemClock", "ZeroMQ",
      "child-agent", subprocess,
      systemPackage,
    ]),
  tests("PermissionKitTests", ["PermissionKit", "PermissionKitTesting"]),
  tests(
    "DeclaredAgeRangeTests", ["DeclaredAgeRange", "PermissionKit", "PermissionKitTesting"]),
  tests("ScreenTimeTests", ["FamilyModel", "PermissionKitTesting", "ScreenTime"]),
  tests(
    "FamilyControlsTests",
    [
      "DeviceActivity", "FamilyControls", "ManagedSettings", "PermissionKit",
      "PermissionKitTesting", "ScreenTime",
    ]),
  tests(
    "SensitiveContentAnalysisTests",
    [
      "ContentCheck", "content-decoder", "FamilyModel", "PerceptualHash", "PermissionKitTesting",
      "SensitiveContentAnalysis",
    ]),
  tests(
    "WebProxyTests",
    ["web-proxy", "PermissionKitTesting", nio, nioPosix, subprocess, systemPackage]),
  tests(
    "ExampleAppTests",
    ["DeclaredAgeRange", "PermissionKit", "PermissionKitTesting", nio, nioHTTP, nioPosix]),
  tests(
    "GatewayTests",
    [
      "GatewayModel", "GatewayServer", "FamilyModel", "ProcessCluster", "RelayStore",
      "SQLiteStore", "SystemClock", httpClient, logging, nio, nioHTTP, nioPosix, nioSSL,
    ]),
  tests("TextTableTests", ["TextTable"]),
  tests("QRCodeTests", ["QRCode"]),
  tests("WordingTests", ["FamilyModel", "FamilyCore", "Wording"]),
  tests(
    "TerminalUITests",
    [
      "FamilyModel", "FamilyCore", "FamilyTrust", "ContentCheck", "Credentials", "DeviceAgent",
      "DeviceScreen", "RelayClient", "RelayStore", "SystemClock", "TerminalUI", "Wording", "ZeroMQ",
      crypto,
      logging,
    ]),
  tests(
    "RelayControlTests",
    [
      "relayctl", "FamilyModel", "FamilyTrust", "Credentials", "RelayClient", "SQLiteStore",
      "BackupArchive", "RelayStore", "SystemClock", subprocess, systemPackage,
    ]),

  tests("HistoryTests", ["FamilyModel", "FamilyCore", "History"]),
  tests(
    "SimulationTests",
    [
      "TestThreads", "FamilyModel", "FamilyCore", "Simulation", "History", subprocess,
      systemPackage,
    ]),
  tests("FuzzTests", ["TestThreads", "FuzzTargets"]),
  tests("ConsoleTests", ["AgentTraces", "ClusterConsole", "GatewayModel", "History"]),
  tests(
    "ClusterTests",
    [
      "AppClient", "DeviceConnection", "ProcessCluster", "SensitiveContentAnalysis", crypto,
      subprocess, systemPackage,
    ]),
  tests(
    "LoadTests",
    [
      "load", "FamilyModel", "FamilyCore", "LoadFamilies", "RelayStore", "ZeroMQ", subprocess,
      systemPackage,
    ]),
  tests(
    "ChaosTests",
    [
      "chaos", "Credentials", "FamilyModel", "FamilyTrust", "FaultNetwork", "History",
      "LoadFamilies", "ProcessCluster", "SystemClock", "ZeroMQ", subprocess, systemPackage,
    ]),
]

// MARK: Selection

/// Names that `PERMISSION_RELAY_ONLY` accepts. The variable also takes names of targets, separated
/// by commas, such as two test targets. Everything that they do not need is left out of the build.
let selections: [String: [String]] = [
  "programs": [
    "relay", "relayctl", "child-agent", "parent-agent", "app-agent", "content-worker",
    "content-decoder", "relay-monitor", "gateway",
  ],
  "console": [
    "cluster", "cluster-console", "relay", "relayctl", "child-agent", "parent-agent", "app-agent",
  ],
  "demo": [
    "cluster", "relay", "relayctl", "child-agent", "parent-agent", "app-agent", "content-worker",
  ],
]

/// The targets with the given names and all targets below them.
func closure(of names: [String], in targets: [Target]) -> [Target] {
  var found: Set<String> = []
  var open = names
  while let name = open.popLast() {
    guard found.insert(name).inserted, let target = targets.first(where: { $0.name == name })
    else { continue }
    for case .byNameItem(let dependency, _) in target.dependencies { open.append(dependency) }
  }
  return targets.filter { found.contains($0.name) }
}

let everything = sources + verification + suites
let selection = Context.environment["PERMISSION_RELAY_ONLY"].map { only in
  selections[only] ?? only.split(separator: ",").map(String.init)
}
let selected = selection.map { closure(of: $0, in: everything) } ?? everything

// MARK: Package

let package = Package(
  name: "permission-relay",
  defaultLocalization: "en",
  products: selection != nil
    ? []
    : [
      .library(name: "PermissionKit", targets: ["PermissionKit"]),
      .library(name: "DeclaredAgeRange", targets: ["DeclaredAgeRange"]),
      .library(name: "ScreenTime", targets: ["ScreenTime"]),
      .library(name: "FamilyControls", targets: ["FamilyControls"]),
      .library(name: "ManagedSettings", targets: ["ManagedSettings"]),
      .library(name: "DeviceActivity", targets: ["DeviceActivity"]),
      .library(name: "SensitiveContentAnalysis", targets: ["SensitiveContentAnalysis"]),
      .library(name: "PermissionKitTesting", targets: ["PermissionKitTesting"]),
      .executable(name: "relay", targets: ["relay"]),
      .executable(name: "relayctl", targets: ["relayctl"]),
      .executable(name: "child-agent", targets: ["child-agent"]),
      .executable(name: "parent-agent", targets: ["parent-agent"]),
      .executable(name: "app-agent", targets: ["app-agent"]),
      .executable(name: "content-worker", targets: ["content-worker"]),
      .executable(name: "content-decoder", targets: ["content-decoder"]),
      .executable(name: "relay-monitor", targets: ["relay-monitor"]),
      .executable(name: "gateway", targets: ["gateway"]),
      .executable(name: "cluster", targets: ["cluster"]),
      .executable(name: "cluster-console", targets: ["cluster-console"]),
      .library(name: "ChaosShim", type: .dynamic, targets: ["ChaosShim"]),
    ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.6"),
    .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
    .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2"),
  ],
  targets: selected
)

// Only tests and verification use these.
if selected.contains(where: { $0.isTest || $0.path?.hasPrefix("Verification/") == true }) {
  package.dependencies += [
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
  ]
}

// libFuzzer provides `main`, so this program links only with its sanitizer: see tools/fuzz.
if Context.environment["PERMISSION_RELAY_FUZZ"] != nil {
  package.targets.append(
    .executableTarget(
      name: "fuzz", dependencies: ["FuzzTargets"], path: "Verification/fuzzing/fuzz",
      swiftSettings: settings + [.unsafeFlags(["-parse-as-library"])]))
}
