import Foundation
import Subprocess
import Synchronization
import SystemPackage

/// A process of the cluster: started, watched, and started again when it dies.
final class Managed: Sendable {
  struct State {
    var pid: pid_t?
    var restarts = 0
    var isWanted = true
  }
  /// Milliseconds before a dead process is started again.
  static let restartDelay = 100

  let name: String
  let executable: String
  let arguments: [String]
  let log: URL
  private let state = Mutex(State())

  init(_ name: String, _ executable: String, _ arguments: [String], log: URL) {
    self.name = name
    self.executable = executable
    self.arguments = arguments
    self.log = log
  }

  var pid: pid_t? { state.withLock { $0.pid } }
  var restarts: Int { state.withLock { $0.restarts } }

  /// Sends a signal to this process alone.
  func signal(_ number: Int32) {
    if let pid { kill(pid, number) }
  }

  /// Ends it, and does not start it again.
  func stop() {
    state.withLock { $0.isWanted = false }
    signal(SIGTERM)
  }

  /// Runs it, again and again, until it is stopped.
  func run() async throws {
    while state.withLock({ $0.isWanted }) {
      let output = try FileDescriptor.open(
        FilePath(log.path), .writeOnly, options: [.create, .append],
        permissions: [.ownerReadWrite])
      defer { try? output.close() }
      _ = try await Subprocess.run(
        .path(FilePath(executable)), arguments: Arguments(arguments), input: .none,
        output: .fileDescriptor(output, closeAfterSpawningProcess: false),
        error: .fileDescriptor(output, closeAfterSpawningProcess: false)
      ) { execution in
        let pid = execution.processIdentifier.value
        // A stop that came while it was being started counts.
        let isWanted = self.state.withLock { state in
          state.pid = pid
          return state.isWanted
        }
        if !isWanted { kill(pid, SIGTERM) }
      }
      let again = state.withLock { state in
        state.pid = nil
        if state.isWanted { state.restarts += 1 }
        return state.isWanted
      }
      if again { try await Task.sleep(for: .milliseconds(Self.restartDelay)) }
    }
  }
}
