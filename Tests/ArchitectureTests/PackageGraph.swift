import Foundation

/// The targets of Package.swift and the targets that each of them names.
struct PackageGraph {
  struct Target: Equatable {
    var name: String
    var path: String
    var dependencies: [String]
  }

  var targets: [Target]
  /// The names of the products.
  var products: [String] = []

  /// The graph of the repository. Evaluated once, because SwiftPM compiles the manifest for it.
  static func ofRepository() throws -> PackageGraph { try repository.get() }

  private static let repository = Result { try evaluateManifest() }

  /// Reads the manifest of the repository as SwiftPM evaluates it.
  private static func evaluateManifest() throws -> PackageGraph {
    let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("pg-\(UUID())")
    defer { try? FileManager.default.removeItem(at: scratch) }
    let process = Process()
    // The graph is whole, even if the build of these tests is not.
    process.environment = ProcessInfo.processInfo.environment.filter {
      $0.key != "PERMISSION_RELAY_ONLY"
    }
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "swift", "package", "--scratch-path", scratch.path, "--package-path", Repository.root.path,
      "dump-package",
    ]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return PackageGraph(manifest: try JSONDecoder().decode(Manifest.self, from: text))
  }

  init(targets: [Target]) { self.targets = targets }

  private init(manifest: Manifest) {
    products = manifest.products.map(\.name)
    targets = manifest.targets.map { target in
      Target(
        name: target.name, path: target.path ?? "",
        dependencies: target.dependencies.compactMap { $0.byName?.first ?? $0.product?.first }
          .compactMap(\.self))
    }
  }

  /// Every target that `name` links, directly or through others.
  func closure(of name: String) -> Set<String> {
    var found: Set<String> = []
    var open = [name]
    while let next = open.popLast() {
      for dependency in targets.first(where: { $0.name == next })?.dependencies ?? []
      where found.insert(dependency).inserted {
        open.append(dependency)
      }
    }
    return found
  }

  /// Pairs of a target and a dependency that the manifest lists below it.
  func upwardDependencies() -> [String] {
    let position = Dictionary(
      uniqueKeysWithValues: targets.enumerated().map { ($1.name, $0) })
    return targets.flatMap { target in
      target.dependencies.filter { position[$0] ?? -1 > position[target.name]! }
        .map { "\(target.name) → \($0)" }
    }
  }
}

private struct Manifest: Decodable {
  struct Target: Decodable {
    struct Dependency: Decodable {
      var byName: [String?]?
      var product: [String?]?

      private enum Keys: String, CodingKey { case byName, product }

      init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Keys.self)
        byName = try? values.decodeIfPresent([String?].self, forKey: .byName)
        product = try? values.decodeIfPresent([String?].self, forKey: .product)
      }
    }

    var name: String
    var path: String?
    var dependencies: [Dependency]
  }

  struct Product: Decodable { var name: String }

  var targets: [Target]
  var products: [Product]
}
