import Foundation
import ProcessCluster
import Subprocess
import SystemPackage
import Testing

/// The device in Verification/python-device, with a Python of its own in a temporary folder.
struct PythonDevice {
  /// A line of a conversation, as the device prints it.
  struct Line: Decodable, Hashable {
    var seq: UInt64
    var childID: UInt64
    var by: String
    var kind: String
    var text: String
  }

  /// The results of one run.
  struct Run {
    var lines: [Line]
    /// The steps, a line each.
    var steps: [String]

    /// The cursors at the start and at the end, by audience.
    var cursors: (first: [UInt64: UInt64], last: [UInt64: UInt64]) {
      let all = steps.filter { $0.hasPrefix("cursors") }.map { step in
        Dictionary(
          uniqueKeysWithValues: step.split(separator: " ").dropFirst().map { cursor in
            let numbers = cursor.split(separator: "=").map { UInt64($0)! }
            return (numbers[0], numbers[1])
          })
      }
      return (all.first ?? [:], all.last ?? [:])
    }
  }

  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Verification/python-device")

  let python: URL

  /// Installs the packages of the device.
  ///
  /// - Returns: `nil` if the package index has no answer. The output then has the reason.
  static func prepare() async throws -> PythonDevice? {
    try await install(folder, for: "a device in Python").map(PythonDevice.init(python:))
  }

  /// Runs the program `prepare` of a folder, which makes a Python with the packages of the folder.
  ///
  /// - Returns: The Python's folder; `nil` if the package index has no answer, which the output then
  ///   states about the purpose.
  static func install(_ folder: URL, for purpose: String) async throws -> URL? {
    let python = FileManager.default.temporaryDirectory
      .appendingPathComponent("python-\(UUID().uuidString.prefix(8))")
    let result = try await Subprocess.run(
      .path(FilePath(folder.appendingPathComponent("prepare").path)),
      arguments: [python.path], output: .discarded, error: .string(limit: 1 << 20))
    if case .exited(77) = result.terminationStatus {
      print("skipped  \(purpose): the package index has no answer")
      return nil
    }
    try #require(result.terminationStatus.isSuccess, "\(result.standardError)")
    return python
  }

  func remove() { try? FileManager.default.removeItem(at: python) }

  /// Runs a program of the folder.
  ///
  /// - Parameter errors: The file that gets the standard error while the program runs.
  func run(_ arguments: [String], errors: String? = nil) async throws -> Run {
    let log = errors ?? python.appendingPathComponent("\(UUID().uuidString).log").path
    let file = try FileDescriptor.open(
      FilePath(log), .writeOnly, options: [.create, .truncate], permissions: [.ownerReadWrite])
    let result = try await Subprocess.run(
      .path(FilePath(python.appendingPathComponent("bin/python").path)),
      arguments: Arguments(["-B"] + arguments),
      workingDirectory: FilePath(Self.folder.path), output: .data(limit: 1 << 20),
      error: .fileDescriptor(file, closeAfterSpawningProcess: true))
    let steps = try String(contentsOfFile: log, encoding: .utf8)
    try #require(result.terminationStatus.isSuccess, "\(steps)")
    let lines = result.standardOutput.split(separator: UInt8(ascii: "\n")).compactMap {
      try? JSONDecoder().decode(Line.self, from: Data($0))
    }
    return Run(lines: lines, steps: steps.split(separator: "\n").map(String.init))
  }
}
