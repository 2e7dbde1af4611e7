import Foundation
package import Testing

/// Runs each part of a task between two suspensions on a thread of its own.
package final class OwnThread: TaskExecutor {
  package init() {}

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = asUnownedTaskExecutor()
    Thread.detachNewThread { job.runSynchronously(on: executor) }
  }
}

/// Runs tests on threads of their own.
///
/// A test that computes for seconds between two suspensions keeps one of the few threads that all tests
/// share. Others would not continue for minutes, and would exceed their limits.
package struct OwnThreadTrait: TestTrait, SuiteTrait, TestScoping {
  package var isRecursive: Bool { true }

  package func provideScope(
    for test: Test, testCase: Test.Case?,
    performing function: @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(OwnThread()) { try await function() }
  }
}

extension Trait where Self == OwnThreadTrait {
  /// See ``OwnThreadTrait``.
  package static var ownThread: Self { Self() }
}
