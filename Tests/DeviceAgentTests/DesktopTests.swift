@testable import DeviceAgent
import FamilyModel
import Foundation
import Testing

@Suite struct DesktopTests {
  /// A program that appends its last argument to a file, in the place of `notify-send`.
  private func program(in folder: URL, ending: String = "") throws -> (path: String, log: URL) {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let log = folder.appendingPathComponent("log")
    let file = folder.appendingPathComponent("notify-send")
    let script = "#!/bin/sh\nfor last; do :; done\necho \"$last\" >> '\(log.path)'\n\(ending)\n"
    try script.write(to: file, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: file.path)
    return (file.path, log)
  }

  private func folder() -> URL {
    FileManager.default.temporaryDirectory.appendingPathComponent("dt-\(UUID().uuidString)")
  }

  @Test("R5: shows notices in order, each with one call of the service", .timeLimit(.minutes(10)))
  func order() async throws {
    let folder = folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let (_, log) = try program(in: folder)
    let environment = [
      "PATH": "\(folder.path):/usr/bin:/bin", "DBUS_SESSION_BUS_ADDRESS": "unix:x",
    ]
    let desktop = try #require(
      DesktopNotifications(environment: environment) { _, _ in "text" })
    for number in 1...3 { desktop.show("notice \(number)") }
    while (try? String(contentsOf: log, encoding: .utf8))?.split(separator: "\n").count != 3 {
      try await Task.sleep(for: .milliseconds(20))
    }
    #expect(
      try String(contentsOf: log, encoding: .utf8) == "notice 1\nnotice 2\nnotice 3\n")
  }

  @Test("R5: without a session bus or a program there is no service")
  func absent() throws {
    let folder = folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    _ = try program(in: folder)
    func finds(_ environment: [String: String]) -> Bool {
      DesktopNotifications(environment: environment) { _, _ in nil } != nil
    }
    #expect(!finds(["PATH": folder.path]))
    #expect(!finds(["PATH": folder.path, "XDG_RUNTIME_DIR": folder.path]))
    #expect(!finds(["PATH": "/nowhere", "DBUS_SESSION_BUS_ADDRESS": "unix:x"]))
    #expect(finds(["PATH": folder.path, "DBUS_SESSION_BUS_ADDRESS": "unix:x"]))
    try Data().write(to: folder.appendingPathComponent("bus"))
    #expect(finds(["PATH": folder.path, "XDG_RUNTIME_DIR": folder.path]))
  }

  @Test("R5: a service that hangs is killed after its time limit", .timeLimit(.minutes(10)))
  func hangs() async throws {
    let folder = folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let (path, log) = try program(in: folder, ending: "exec sleep 1000")
    let desktop = DesktopNotifications(
      program: path, environment: ["PATH": "/usr/bin:/bin"]
    ) { _, _ in nil }
    desktop.show("first")
    desktop.show("second")
    while (try? String(contentsOf: log, encoding: .utf8))?.split(separator: "\n").count != 2 {
      try await Task.sleep(for: .milliseconds(50))
    }
  }
}
