import Foundation
import Processes
import Synchronization

/// Backups of a running relay, one after the other.
final class RunningBackups: Sendable {
  private struct State: Sendable {
    var isWanted = false
    var isRunning = false
    var made = 0
    var lastBytes = 0
    var failure: (any Error)?
  }

  private let folder: URL
  private let publicKey: String
  private let state = Mutex(State())

  /// Makes the key of the backups. The relay runs in the folder.
  init(of folder: URL) throws {
    self.folder = folder
    let file = folder.appendingPathComponent("backup-key.json").path
    publicKey = try Self.relayctl(["backup-key", "--file", file])
      .trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// The number of complete backups.
  var made: Int { state.withLock { $0.made } }
  /// The size of the last backup in bytes.
  var lastBytes: Int { state.withLock { $0.lastBytes } }

  /// Begins to make backups on a thread.
  func begin() throws {
    try check()
    state.withLock { ($0.isWanted, $0.isRunning) = (true, true) }
    Thread { [self] in
      do {
        while state.withLock({ $0.isWanted }) { try makeOne() }
      } catch {
        state.withLock { $0.failure = error }
      }
      state.withLock { $0.isRunning = false }
    }.start()
  }

  /// Waits for the end of the last backup, so that none costs a phase without backups.
  func end() throws {
    state.withLock { $0.isWanted = false }
    while state.withLock({ $0.isRunning }) { usleep(10_000) }
    try check()
  }

  private func check() throws {
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }

  private func makeOne() throws {
    let file = folder.appendingPathComponent("bench.backup")
    defer { try? FileManager.default.removeItem(at: file) }
    _ = try Self.relayctl([
      "backup", "--directory", folder.path, "--public-key", publicKey, "--to", file.path,
    ])
    let bytes = try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
    state.withLock {
      $0.made += 1
      $0.lastBytes = bytes
    }
  }

  /// Runs relayctl, whose errors go to standard error.
  ///
  /// - Returns: The standard output.
  private static func relayctl(_ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = try Program("relayctl").file
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    ChildProcesses.add(process.processIdentifier)
    let text = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failed(command: arguments[0]) }
    return String(decoding: text, as: UTF8.self)
  }

  /// A command of relayctl failed. Its standard error states the reason.
  private struct Failed: Error, CustomStringConvertible {
    let command: String
    var description: String { "relayctl \(command) failed: see its message above." }
  }
}
