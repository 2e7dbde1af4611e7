package import Foundation
package import Subprocess
import Synchronization
import SystemPackage

/// A process that is restarted whenever it ends, until it is stopped.
package final class SupervisedProcess: Sendable {
  private struct State {
    var pid: pid_t?
    /// Whether a start is prepared whose pid is not known yet.
    var isStarting = false
    var lastEnd: (pid: pid_t, status: TerminationStatus)?
    var started = ContinuousClock.now
    var starts = 0
    var restarts = 0
    var isWanted = true
    var holds = 0
  }
  /// Milliseconds from a process's end to its restart.
  static let restartDelay = 100

  package let name: String
  let executable: String
  package let arguments: [String]
  let environment: [String: String]
  package let log: URL
  /// Called before each start.
  private let prepare: @Sendable (String) throws -> Void
  /// The program of a start, by the process's name, its executable and the number of earlier starts.
  private let program: @Sendable (String, String, Int) -> String
  private let state = Mutex(State())

  init(
    _ name: String, _ executable: String, _ arguments: [String],
    environment: [String: String] = [:], log: URL,
    prepare: @escaping @Sendable (String) throws -> Void = { _ in },
    program: @escaping @Sendable (String, String, Int) -> String = { _, own, _ in own }
  ) {
    self.name = name
    self.executable = executable
    self.arguments = arguments
    self.environment = environment
    self.log = log
    self.prepare = prepare
    self.program = program
  }

  /// The program with its arguments and environment variables.
  package var command: (program: String, arguments: [String], environment: [String: String]) {
    (executable, arguments, environment)
  }

  package var pid: pid_t? { state.withLock { $0.pid } }
  /// Whether the process neither runs nor starts. While restarts are held, this remains true.
  package var isDown: Bool { state.withLock { $0.pid == nil && !$0.isStarting } }
  /// The process that ended last, and how it ended.
  package var lastEnd: (pid: pid_t, status: TerminationStatus)? { state.withLock { $0.lastEnd } }
  /// The time since the last start.
  package var uptime: Duration { ContinuousClock.now - state.withLock { $0.started } }
  /// The number of starts.
  package var starts: Int { state.withLock { $0.starts } }
  package var restarts: Int { state.withLock { $0.restarts } }

  /// Sends a signal to this process alone.
  package func signal(_ number: Int32) {
    if let pid { kill(pid, number) }
  }

  /// Terminates the process without a restart.
  package func stop() {
    state.withLock { $0.isWanted = false }
    signal(SIGTERM)
  }

  /// Prevents restarts until each call is matched by `releaseRestart`.
  package func holdRestart() { state.withLock { $0.holds += 1 } }
  package func releaseRestart() { state.withLock { $0.holds -= 1 } }

  /// Runs and restarts the process until it is stopped.
  func run() async throws {
    while state.withLock({ $0.isWanted }) {
      let mayStart = state.withLock { state in
        state.isStarting = state.holds == 0
        return state.isStarting
      }
      guard mayStart else {
        try await Task.sleep(for: .milliseconds(10))
        continue
      }
      defer { state.withLock { $0.isStarting = false } }
      try prepare(name)
      let output = try FileDescriptor.open(
        FilePath(log.path), .writeOnly, options: [.create, .append],
        permissions: [.ownerReadWrite])
      defer { try? output.close() }
      let result = try await Subprocess.run(
        .path(FilePath(program(name, executable, starts))), arguments: Arguments(arguments),
        environment: .inherit.updating(
          Dictionary(
            uniqueKeysWithValues: environment.map { (Environment.Key(stringLiteral: $0), $1) })),
        input: .none,
        output: .fileDescriptor(output, closeAfterSpawningProcess: false),
        error: .fileDescriptor(output, closeAfterSpawningProcess: false)
      ) { execution in
        let pid = execution.processIdentifier.value
        // `stop` may have been called during the start.
        let isWanted = self.state.withLock { state in
          state.pid = pid
          state.isStarting = false
          state.started = .now
          state.starts += 1
          return state.isWanted
        }
        if !isWanted { kill(pid, SIGTERM) }
      }
      let isRestarting = state.withLock { state in
        if let pid = state.pid { state.lastEnd = (pid, result.terminationStatus) }
        state.pid = nil
        if state.isWanted { state.restarts += 1 }
        return state.isWanted
      }
      if isRestarting { try await Task.sleep(for: .milliseconds(Self.restartDelay)) }
    }
  }
}
