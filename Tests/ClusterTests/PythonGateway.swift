import Foundation
import ProcessCluster
import Subprocess
import SystemPackage
import Testing

/// The programs of Verification/gateway-python, with a Python of their own, and the gateway of
/// Emily's app, which a cluster runs beside its agents.
struct PythonGateway {
  static let name = "gateway"
  static let folder = PythonDevice.folder.deletingLastPathComponent()
    .appendingPathComponent("gateway-python")

  let python: URL
  let layout: Layout

  /// Installs the packages of the programs.
  ///
  /// - Returns: `nil` if the package index has no answer. The output then has the reason.
  static func prepare(_ layout: Layout) async throws -> PythonGateway? {
    try await PythonDevice.install(folder, for: "an app in Python").map {
      PythonGateway(python: $0, layout: layout)
    }
  }

  func remove() { try? FileManager.default.removeItem(at: python) }

  private static func directory(_ layout: Layout) -> URL {
    layout.root.appendingPathComponent(name)
  }

  /// The gateway's start, after the agents.
  static func process(_ layout: Layout) -> RunningCluster.ExtraProcess {
    RunningCluster.ExtraProcess(
      name: name, program: Layout.program(name),
      arguments: [
        "--directory", directory(layout).path, "--port", "0",
        "--app", layout.appCredential(family: 1, device: 3).path,
      ])
  }

  var socket: String { Self.directory(layout).appendingPathComponent("gateway.sock").path }
  var token: String {
    Self.directory(layout).appendingPathComponent("token-\(RunningCluster.app)").path
  }
  /// The address that the gateway's last start reported; `nil` before the first one.
  var url: String? {
    let log = (try? String(contentsOf: layout.log(Self.name), encoding: .utf8)) ?? ""
    let lines = log.split(separator: "\n").filter { $0.hasPrefix("ready http://") }
    return lines.last.map { String($0.dropFirst("ready ".count)) }
  }

  /// Runs a program of the folder.
  ///
  /// - Returns: The standard output.
  @discardableResult
  func run(_ program: String, _ arguments: String...) async throws -> String {
    let isShell = program.hasSuffix(".sh")
    let path = isShell ? "/bin/bash" : python.appendingPathComponent("bin/python").path
    let words = (isShell ? [] : ["-B"]) + [program].filter { !$0.isEmpty } + arguments
    let result = try await Subprocess.run(
      .path(FilePath(path)), arguments: Arguments(words),
      workingDirectory: FilePath(Self.folder.path), output: .string(limit: 1 << 22),
      error: .string(limit: 1 << 22))
    try #require(
      result.terminationStatus.isSuccess, "\(result.standardOutput)\(result.standardError)")
    return result.standardOutput
  }

  /// The value of an expression with the client's `device`, as JSON.
  ///
  /// - Throws: An error if the call fails.
  func call(_ expression: String) async throws -> String {
    let program = """
      import json, sys
      from permission_relay import *
      device = Device(sys.argv[1], open(sys.argv[2]).read())
      print(json.dumps(\(expression), sort_keys=True))
      """
    let result = try await Subprocess.run(
      .path(FilePath(python.appendingPathComponent("bin/python").path)),
      arguments: ["-B", "-c", program, socket, token],
      workingDirectory: FilePath(Self.folder.path), output: .string(limit: 1 << 20),
      error: .string(limit: 1 << 20))
    guard result.terminationStatus.isSuccess else { throw ClusterError(result.standardError) }
    return result.standardOutput
  }
}
