import Foundation
import Testing

@testable import chaos

@Suite struct VersionsTests {
  @Test("each process changes its version with each start, if the earlier version has the program")
  func alternates() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let old = folder.appendingPathComponent("relay").path
    #expect(
      FileManager.default.createFile(
        atPath: old, contents: nil, attributes: [.posixPermissions: 0o755]))
    for seed in UInt64(1)...2 {
      let versions = Versions(previous: folder, seed: seed)
      let started = (0..<4).map { versions.program("relay", "/new/relay", start: $0) }
      #expect(started == [started[0], started[1], started[0], started[1]])
      #expect(Set(started) == [old, "/new/relay"])
      #expect(versions.finding == nil)
      #expect(versions.program("app", "/new/app-agent", start: 1) == "/new/app-agent")
    }
  }

  @Test("a run that never started one of the versions has a finding")
  func oneVersion() {
    let versions = Versions(previous: URL(fileURLWithPath: "/nonexistent"), seed: 1)
    #expect(versions.program("relay", "/new/relay", start: 0) == "/new/relay")
    #expect(versions.finding != nil)
  }
}
