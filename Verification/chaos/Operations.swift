import Foundation
import Synchronization

/// One thing that a person of the workload did.
struct Operation: Sendable {
  enum Outcome: String, Sendable { case ok, refused, unknown }
  var kind: String
  var family: UInt64
  /// Seconds after the beginning.
  var from: Double
  var to: Double
  var outcome: Outcome
}

/// A fault as it happened.
struct Injected: Sendable {
  var fault: Fault
  var from: Double
  var to: Double
  /// Who was hit: a process that was down already is not.
  var hit: [String]
  /// Seconds from the fault's end until everybody who was hit had what was said after it.
  var recovery: Double?
  /// What else is worth a line.
  var note: String?
}

/// What was done in the run, by people and by chaos.
final class Log: Sendable {
  private let state = Mutex((operations: [Operation](), faults: [Injected](), findings: [String]()))

  func add(_ operation: Operation) { state.withLock { $0.operations.append(operation) } }
  func add(_ fault: Injected) { state.withLock { $0.faults.append(fault) } }
  /// Something that must not be, and that no checker of histories sees.
  func find(_ text: String) { state.withLock { $0.findings.append(text) } }

  var operations: [Operation] { state.withLock { $0.operations } }
  var faults: [Injected] { state.withLock { $0.faults.sorted { $0.from < $1.from } } }
  var findings: [String] { state.withLock { $0.findings } }
}

/// Runs blocking work on a thread of its own, not on one of the pool.
func blocking<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result(catching: body)) }
  }
}

/// Kills the process when its time is over, unless that is cancelled.
func killLater(_ pid: pid_t, after seconds: Double) -> Task<Void, any Error> {
  Task {
    try await Task.sleep(for: .seconds(seconds))
    kill(pid, SIGKILL)
  }
}
