import Foundation
import Testing

/// What must not stand in the machines and their values, and why it would spoil a replay.
private let forbidden = [
  "import Foundation", "import Glibc", "import Dispatch", "import Synchronization", "async ",
  "await ", "Task ", "Task{", "Date(", "ContinuousClock", "SystemRandomNumberGenerator", ".random(",
  ".shuffled(", ".keys {", ".values {", ".keys.forEach", ".values.forEach",
]

private func violations(_ text: String) -> [String] {
  text.split(separator: "\n").filter { !$0.contains("//") }.flatMap { line in
    forbidden.filter { line.contains($0) }
  }
}

@Suite struct LayerTests {
  private let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Sources")

  private func files(_ target: String) throws -> [(name: String, text: String)] {
    let folder = sources.appendingPathComponent(target)
    let found = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    return try (found?.allObjects as? [URL] ?? []).filter { $0.pathExtension == "swift" }
      .map { ($0.lastPathComponent, try String(contentsOf: $0, encoding: .utf8)) }
  }

  @Test(
    "the machines have no clock, no randomness of their own, no concurrency, no unordered loops",
    arguments: ["FamilyModel", "FamilyCore"])
  func pure(_ target: String) throws {
    let files = try files(target)
    #expect(files.count > 5)
    for (name, text) in files { #expect(violations(text) == [], "\(name)") }
  }

  @Test("the check finds what it is for") func canFail() {
    #expect(violations("import Foundation") == ["import Foundation"])
    #expect(violations("for key in table.keys {") == [".keys {"])
    #expect(violations("let seed = UInt64.random(in: 0...1)") == [".random("])
  }

  @Test("only ZeroMQ imports CZeroMQ, only the shell libsodium, and only the store a database")
  func imports() throws {
    for target in try FileManager.default.contentsOfDirectory(atPath: sources.path) {
      for (name, text) in try files(target) {
        if target != "ZeroMQ" { #expect(!text.contains("import CZeroMQ"), "\(name)") }
        if target != "RelayRuntime" { #expect(!text.contains("import CSodium"), "\(name)") }
        if target != "SQLiteStore" { #expect(!text.contains("import GRDB"), "\(name)") }
      }
    }
  }
}
