import AppClient
import Credentials
import DeviceConnection
import FamilyModel
import FamilyTrust
import Foundation
import Subprocess
import SystemPackage
import ZeroMQ

/// A child-agent in its own process, for a person without a family. The device needs no relay.
struct RealDevice {
  private let folder = URL(fileURLWithPath: "/tmp/pr-\(UUID().uuidString.prefix(8))")
  /// The script that the device launches as the app.
  let app: String

  private static var program: Executable {
    let bundle = URL(fileURLWithPath: CommandLine.arguments[0])
    return .path(
      FilePath(bundle.deletingLastPathComponent().appendingPathComponent("child-agent").path))
  }

  private func write(_ text: String, to name: String) throws -> String {
    let file = folder.appendingPathComponent(name)
    try text.write(to: file, atomically: true, encoding: .utf8)
    return file.path
  }

  /// Opens the gate behind which the device's person answers prompts.
  func openGate() throws { _ = try write("", to: "gate") }

  /// Runs the device, calls the body with the device's process, and kills the device.
  func run(_ body: (pid_t) async throws -> Void) async throws {
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: folder) }
    let credential = folder.appendingPathComponent("family-0-Ben-1.json")
    try Credential(
      address: DeviceAddress(family: FamilyID(0), device: DeviceID(1)), personID: PersonID(1),
      role: .child, name: "Ben", keys: try .generate(), deviceKeys: DeviceKeys(), organizerKey: [],
      relayKey: try CurveKeyPair.generate().publicKey, requests: "ipc:///nowhere",
      broadcasts: "ipc:///nowhere"
    ).write(to: credential)
    let rules = #"{"rules": [{"acknowledge": "acknowledge", "after": "gate"}]}"#
    let program = try write("#!/bin/sh\n\(app)\n", to: "app.sh")
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: program)
    _ = try await Subprocess.run(
      Self.program,
      arguments: [
        "--credential", credential.path, "--directory", folder.path, "--script",
        try write(rules, to: "script.json"), "--app", "example.landmarks=\(program)",
      ], input: .none, output: .discarded, error: .discarded
    ) { execution in
      defer { kill(execution.processIdentifier.value, SIGKILL) }
      try await body(execution.processIdentifier.value)
    }
  }

  /// A session of the app with short time limits, as a person starts it.
  func session() async throws -> AppSession {
    let file = folder.appendingPathComponent("app-0-1-example.landmarks.json")
    while !FileManager.default.fileExists(atPath: file.path) {
      try await Task.sleep(for: .milliseconds(20))
    }
    let credential = try JSONDecoder().decode(AppCredential.self, from: Data(contentsOf: file))
    var timing = SessionTiming()
    timing.deviceSilence = .seconds(3)
    timing.devicePing = .milliseconds(200)
    return try AppSession.session(of: credential, timing: timing)
  }

  /// The output of `child-agent apps`.
  func apps() async throws -> String {
    let result = try await Subprocess.run(
      Self.program, arguments: ["apps", "--directory", folder.path],
      output: .string(limit: 65_536), error: .discarded)
    return result.standardOutput
  }

  /// Waits until the output of `child-agent apps` contains the text; returns whether it did.
  func shows(_ text: String) async throws -> Bool {
    for _ in 0..<300 {
      if try await apps().contains(text) { return true }
      try await Task.sleep(for: .milliseconds(100))
    }
    return false
  }
}
