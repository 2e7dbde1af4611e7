import Foundation
import Synchronization

/// An operation of a person in the workload.
struct Operation: Sendable {
  enum Outcome: String, Sendable { case ok, refused, unknown }
  var kind: String
  var family: UInt64
  /// Seconds after the run's start.
  var from: Double
  var to: Double
  var outcome: Outcome
}

/// An injected fault and its outcome.
struct InjectedFault: Sendable {
  var fault: Fault
  var from: Double
  var to: Double
  /// The affected processes, without those that were already down.
  var victims: [String]
  /// Seconds from the fault's end until all affected devices had a later event; `nil` after a
  /// timeout.
  var recovery: Double?
  /// Details for the report.
  var note: String?
}

/// The operations, faults and findings of a run.
final class RunLog: Sendable {
  private let state = Mutex(
    (operations: [Operation](), faults: [InjectedFault](), findings: [String]()))

  private let lost = Mutex([GivenBack.Text]())

  func add(_ operation: Operation) { state.withLock { $0.operations.append(operation) } }
  func add(_ fault: InjectedFault) { state.withLock { $0.faults.append(fault) } }
  /// Adds a failure that no checker of histories can see.
  func addFinding(_ text: String) { state.withLock { $0.findings.append(text) } }

  /// Adds texts that a restored relay has lost, and that their devices have to give back.
  func addLost(_ texts: [GivenBack.Text]) { lost.withLock { $0 += texts } }
  /// Whether the relay continued from an earlier copy of its store.
  var hasRestoredCopy: Bool {
    faults.contains { $0.fault.kind == .restoredCopy && !$0.victims.isEmpty }
  }
  var lostTexts: [GivenBack.Text] { lost.withLock { $0 } }

  var operations: [Operation] { state.withLock { $0.operations } }
  var faults: [InjectedFault] { state.withLock { $0.faults.sorted { $0.from < $1.from } } }
  var findings: [String] { state.withLock { $0.findings } }
}

/// Runs blocking work on a new thread instead of the cooperative pool.
func blocking<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result(catching: body)) }
  }
}

/// Kills the process after a delay unless the task is cancelled.
func killLater(_ pid: pid_t, after seconds: Double) -> Task<Void, any Error> {
  Task {
    try await Task.sleep(for: .seconds(seconds))
    kill(pid, SIGKILL)
  }
}
