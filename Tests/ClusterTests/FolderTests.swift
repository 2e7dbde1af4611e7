import Foundation
import ProcessCluster
import Testing

/// Tests the exclusive use of a cluster's folder.
@Suite struct FolderTests {
  private func inFolder(_ body: (URL) throws -> Void) throws {
    let folder = URL(fileURLWithPath: "/tmp/pr-\(UUID().uuidString.prefix(8))")
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder)
  }

  @Test("removes the folder of an earlier cluster but no other folder")
  func foreign() throws {
    try inFolder { folder in
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let file = folder.appendingPathComponent("thesis.txt")
      try Data().write(to: file)
      #expect(throws: ClusterError.self) { try Layout(folder.path).clear() }
      #expect(FileManager.default.fileExists(atPath: file.path))

      try Data().write(to: Layout(folder.path).families)
      try Layout(folder.path).clear()
      #expect(!FileManager.default.fileExists(atPath: folder.path))
    }
  }

  @Test("refuses a second cluster in one folder and keeps the folder")
  func taken() throws {
    try inFolder { folder in
      let layout = Layout(folder.path)
      var cluster: RunningCluster? = try RunningCluster(layout, .example(1))
      #expect(FolderLock.owner(of: layout) == getpid())
      #expect(throws: ClusterError.self) { _ = try RunningCluster(layout, .example(1)) }
      #expect(throws: ClusterError.self) { try layout.clear() }
      #expect(cluster != nil)
      cluster = nil
      #expect(FolderLock.owner(of: layout) == nil)
      _ = try RunningCluster(layout, .example(1))
    }
  }

  @Test("names the processes of a killed cluster and starts no others")
  func orphans() throws {
    try inFolder { folder in
      let layout = Layout(folder.path)
      try layout.prepare()
      let relay = Process()
      let output = Pipe()
      for (program, arguments) in [("relayctl", ["init"]), ("relay", [])] {
        let process = program == "relay" ? relay : Process()
        process.executableURL = URL(fileURLWithPath: Layout.program(program))
        process.arguments = arguments + ["--directory", layout.relay.path]
        process.standardError = FileHandle.nullDevice
        process.standardOutput = program == "relay" ? output as Any : FileHandle.nullDevice
        try process.run()
        if process !== relay { process.waitUntilExit() }
      }
      // The relay runs when it says so.
      #expect(!output.fileHandleForReading.availableData.isEmpty)
      let error = #expect(throws: ClusterError.self) {
        _ = try RunningCluster(layout, .example(1))
      }
      #expect(error?.description.hasSuffix("kill \(relay.processIdentifier)") == true)
      relay.terminate()
      relay.waitUntilExit()
      _ = try RunningCluster(layout, .example(1))
    }
  }
}
