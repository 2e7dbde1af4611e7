import Foundation
import RelayOperation

/// The relay that this program asks. Requests that arrive together share one question to the relay.
actor WatchedRelay {
  private let directory: URL
  private var question: Task<RelayStatistics?, Never>?

  init(directory: URL) { self.directory = directory }

  /// The relay's statistics; `nil` if the relay does not answer.
  func statistics() async -> RelayStatistics? {
    if let question { return await question.value }
    let directory = directory
    let task = Task.detached { () -> RelayStatistics? in
      // The client blocks its thread, at most for its patience.
      await withCheckedContinuation { continuation in
        Thread.detachNewThread {
          let result = Result { try OperatorClient(directory: directory).statistics() }
          continuation.resume(returning: try? result.get())
        }
      }
    }
    question = task
    defer { question = nil }
    return await task.value
  }

  /// Why the relay is not alive; `nil` if it is.
  func health() async -> String? {
    guard let statistics = await statistics() else { return "the relay does not answer" }
    if let failure = statistics.failure { return "the relay failed: \(failure)" }
    return statistics.isAlive ? nil : "the relay hangs"
  }

  /// Why the relay is not ready for questions; `nil` if it is.
  func readiness() async -> String? {
    guard let statistics = await statistics() else { return "the relay does not answer" }
    guard statistics.isAlive else { return "the relay is not alive" }
    return statistics.levels.isShedding ? "the relay is overloaded" : nil
  }
}
