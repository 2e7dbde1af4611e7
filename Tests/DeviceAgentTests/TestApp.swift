import DeviceAgent
import Foundation
import Testing

/// An app that has not written a number in time.
struct Unwritten: Error {
  var name: String
  /// The app's log.
  var output: String
}

/// A shell script that a launcher runs as an app, in a device's folder with secrets.
struct TestApp {
  /// The child-agent of this build, which supervises apps.
  static let program = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    .appendingPathComponent("child-agent").path

  let device = URL(fileURLWithPath: "/tmp/pr-\(UUID().uuidString.prefix(8))")
  var folder: URL { device.appendingPathComponent("app-1-3-own") }
  var log: URL { device.appendingPathComponent("1-3-own.log") }
  /// The folder of the program.
  var programs: URL {
    device.deletingLastPathComponent().appendingPathComponent("\(device.lastPathComponent)-bin")
  }
  let launcher = Launcher(program: program)

  init() throws {
    for folder in [
      folder.appendingPathComponent("tmp"), device.appendingPathComponent("app-1-3-other"),
      programs,
    ] {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
    for name in Self.secrets + ["app-1-3-own.json"] {
      try Data("secret".utf8).write(to: device.appendingPathComponent(name))
    }
  }

  /// The files of the device, relative to its folder.
  static let secrets = [
    "device.key", "agent.sqlite", "status.json", "app-1-3-other.json",
    "app-1-3-other/permissionkit.sqlite", "family-1-Emily-1.json",
  ]

  func remove() {
    for folder in [device, programs] { try? FileManager.default.removeItem(at: folder) }
  }

  /// Runs the script as the app.
  func run(_ script: String, started: @escaping @Sendable (Int32, Bool) -> Void = { _, _ in })
    async throws -> Launcher.End
  {
    let program = programs.appendingPathComponent("app.sh")
    // The shell reads the script. The kernel would refuse to start a program that another thread of
    // the tests has just inherited as an open file.
    try Data("\(script)\n".utf8).write(to: program)
    return await launcher.run(
      Launcher.Installed(
        executable: "/bin/sh", arguments: [program.path, "background"],
        credential: device.appendingPathComponent("app-1-3-own.json"), folder: folder, log: log,
        environment: [
          "HOME": folder.path, "TMPDIR": "\(folder.path)/tmp", "PATH": "/usr/bin:/bin",
          "LC_ALL": "C", "PERMISSION_RELAY_DEVICE": "fd:3",
        ],
        access: AppAccess(program: program, folder: folder, secrets: [device])),
      name: "own", started: started)
  }

  var output: String { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }

  /// Waits until a process of the app has written its number to a file in the app's folder.
  func number(_ name: String) async throws -> pid_t {
    let file = folder.appendingPathComponent(name)
    for _ in 0..<12_000 {
      if let text = try? String(contentsOf: file, encoding: .utf8),
        text.hasSuffix("\n"), let number = pid_t(text.dropLast())
      {
        return number
      }
      try await Task.sleep(for: .milliseconds(10))
    }
    // After two minutes.
    throw Unwritten(name: name, output: output)
  }

  /// Whether the process runs. A process that has ended and is not reaped counts as ended.
  static func isRunning(_ process: pid_t) -> Bool {
    guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
      let state = text.split(separator: ")").last?.split(separator: " ").first
    else { return false }
    return state != "Z" && state != "X"
  }
}
