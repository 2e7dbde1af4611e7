import Testing

/// Code that would make a machine depend on anything but its inputs, and so break replay.
private let impure = [
  "import Foundation", "import Glibc", "import Dispatch", "import Synchronization", "async ",
  "await ", "Task ", "Task{", "Date(", "ContinuousClock", "SystemRandomNumberGenerator", ".random(",
  ".shuffled(", ".keys {", ".values {", ".keys.forEach", ".values.forEach",
]

private func violations(_ text: String) -> [String] {
  text.split(separator: "\n").filter { !$0.contains("//") }.flatMap { line in
    impure.filter { line.contains($0) }
  }
}

/// Imports that one module alone may use.
private let exclusiveImports = [
  "import CZeroMQ": "ZeroMQ", "import CSodium": "Credentials", "import GRDB": "SQLiteStore",
  "import CSiteNames": "SiteNames",
]

@Suite struct LayerTests {
  @Test(
    "machines use no clock, randomness, concurrency or unordered iteration",
    arguments: ["FamilyModel", "FamilyCore"])
  func pure(_ module: String) throws {
    let files = try Repository.files(below: "Sources/Core/\(module)")
    #expect(files.count > 5)
    for file in files { #expect(violations(file.text) == [], "\(file.path)") }
  }

  @Test("the purity check finds each kind of violation") func purityCanFail() {
    #expect(violations("import Foundation") == ["import Foundation"])
    #expect(violations("for key in table.keys {") == [".keys {"])
    #expect(violations("let seed = UInt64.random(in: 0...1)") == [".random("])
  }

  @Test("T1: no program seeds the ids that it sends") func seeds() throws {
    // Families in memory can be replayed, and an outbox derives its delays from random ids.
    let exceptions = [
      "PermissionKitTesting/", "FamilyModel/IDSource.swift", "Sending/Outbox.swift",
    ]
    for file in try Repository.files(below: "Sources") where file.text.contains("IDSource(seed:") {
      #expect(exceptions.contains { file.path.contains($0) }, "\(file.path)")
    }
  }

  @Test("one module imports libzmq, one libsodium, one libpsl, one the database") func exclusive()
    throws
  {
    let files = try Repository.files(below: "Sources")
    #expect(files.count > 200)
    for file in files {
      for (statement, owner) in exclusiveImports where file.module != owner {
        #expect(!file.text.contains(statement), "\(file.path): \(statement)")
      }
    }
  }

  @Test("each target depends only on targets that Package.swift lists above it") func order() throws
  {
    let graph = try PackageGraph.ofRepository()
    #expect(graph.targets.count > 40)
    #expect(graph.upwardDependencies() == [])
  }

  @Test("a target's folder carries its name") func folders() throws {
    for target in try PackageGraph.ofRepository().targets where target.path.hasPrefix("Sources/") {
      #expect(target.path.split(separator: "/").last.map(String.init) == target.name)
    }
  }

  @Test("relay links no terminal, wording, QR code, launcher or content check") func relayIsLean()
    throws
  {
    let linked = try PackageGraph.ofRepository().closure(of: "relay")
    #expect(linked.contains("RelayServer"))
    let forbidden: Set = [
      "TerminalUI", "Wording", "QRCode", "TextTable", "ContentCheck", "DeviceAgent",
      "AgentCommand", "Subprocess", "AppClient",
    ]
    #expect(linked.intersection(forbidden) == [])
  }

  @Test("X4, X5: only the programs that speak HTTP link it") func httpIsRare() throws {
    let graph = try PackageGraph.ofRepository()
    let speakers = graph.targets.map(\.name).filter { name in
      !name.hasSuffix("Tests") && graph.closure(of: name).contains("Hummingbird")
    }
    let libraries = ["ClusterConsole", "GatewayServer"]
    #expect(Set(speakers) == Set(["cluster-console", "gateway", "relay-monitor"] + libraries))
  }

  @Test("X2: the simulator and the test kit run the relay's pipeline and the turn of agents")
  func simulatesTheProduct() throws {
    let graph = try PackageGraph.ofRepository()
    let simulators = ["Simulation", "PermissionKitTesting"]
    for (driver, programs) in [
      ("RelayPipeline", ["relay"]), ("DeviceTurn", ["child-agent", "parent-agent"]),
    ] {
      for user in programs + simulators {
        #expect(graph.closure(of: user).contains(driver), "\(user) without \(driver)")
      }
    }
    for simulator in simulators {
      // A simulator has no shell of a process, and no driver of its own.
      let linked = graph.closure(of: simulator)
      #expect(linked.isDisjoint(with: ["RelayServer", "DeviceAgent", "FamilyHarness"]))
    }
  }

  @Test("X1: the programs are products, so that an app's package builds and runs them")
  func programsAreProducts() throws {
    let graph = try PackageGraph.ofRepository()
    let libraries = ["ProgramOptions", "AgentCommand"]
    let programs = graph.targets.filter { $0.path.hasPrefix("Sources/Programs/") }.map(\.name)
      .filter { !libraries.contains($0) }
    #expect(programs.count >= 6)
    #expect(Set(programs + ["cluster"]).subtracting(graph.products) == [])
  }

  @Test("the graph checks find a hidden link and an upward dependency") func graphCanFail() {
    let graph = PackageGraph(targets: [
      .init(name: "relay", path: "", dependencies: ["Server"]),
      .init(name: "Server", path: "", dependencies: ["Wording"]),
    ])
    #expect(graph.closure(of: "relay") == ["Server", "Wording"])
    #expect(graph.upwardDependencies() == ["relay → Server"])
  }
}
