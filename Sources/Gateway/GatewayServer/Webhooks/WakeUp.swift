import FamilyModel
import Synchronization

/// A signal that ends another task's wait early. A signal without a waiter ends the next wait.
final class WakeUp: Sendable {
  private struct State {
    var isSignalled = false
    var waiter: CheckedContinuation<Void, Never>?
  }
  private let state = Mutex(State())

  func signal() {
    let waiter = state.withLock { state in
      state.isSignalled = state.waiter == nil
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume()
  }

  /// Returns after a signal, at the end of the sleep, or when the task is cancelled.
  ///
  /// Precondition: one task waits at a time.
  func wait(sleep: @escaping @Sendable () async throws -> Void) async {
    await withTaskGroup { group in
      group.addTask { try? await sleep() }
      group.addTask { await self.wait() }
      await group.next()
      group.cancelAll()
    }
  }

  private func wait() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isSignalled = state.withLock { state in
          defer { state.isSignalled = false }
          if !state.isSignalled { state.waiter = continuation }
          return state.isSignalled
        }
        if isSignalled { continuation.resume() }
      }
    } onCancel: {
      signal()
    }
  }
}
