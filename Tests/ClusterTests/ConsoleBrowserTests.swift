import Foundation
import ProcessCluster
import Subprocess
import SystemPackage
import Testing

/// The console's page in a browser, with real clusters. Verification/console-browser has the tests.
@Suite(.serialized, .timeLimit(.minutes(30))) struct ConsoleBrowserTests {
  private static let folder = PythonDevice.folder.deletingLastPathComponent()
    .appendingPathComponent("console-browser")

  @Test("X4, X6: people use a family on the page, kill processes, and nothing is lost")
  func page() async throws {
    guard
      let python = try await PythonDevice.install(Self.folder, for: "the page in a browser")
    else { return }
    defer { try? FileManager.default.removeItem(at: python) }
    let result = try await Subprocess.run(
      .path(FilePath(python.appendingPathComponent("bin/python").path)),
      arguments: ["-B", "-m", "unittest"],
      environment: .inherit.updating(["PERMISSION_RELAY_BIN": Layout.program("cluster")]),
      workingDirectory: FilePath(Self.folder.path), output: .string(limit: 1 << 22),
      error: .string(limit: 1 << 22))
    #expect(
      result.terminationStatus.isSuccess, "\(result.standardOutput)\(result.standardError)")
  }
}
