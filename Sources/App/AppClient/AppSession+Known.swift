package import FamilyModel
import Foundation
import Synchronization

extension AppSession {
  /// Waits until the app has received every entry that waited on the device at the start.
  ///
  /// - Returns: `false` after `limit` without the device.
  package func untilCaughtUp(within limit: Duration) async -> Bool {
    guard !isCaughtUp.withLock({ $0 }) else { return true }
    let id = UUID()
    let timeout = Task {
      try? await Task.sleep(for: limit, clock: .suspending)
      resumeReader(id)
    }
    defer { timeout.cancel() }
    await withTaskCancellationHandler {
      await withCheckedContinuation { readers[id] = $0 }
    } onCancel: {
      // The end of its sleep resumes the reader.
      timeout.cancel()
    }
    return isCaughtUp.withLock { $0 }
  }

  /// Waits for the device's newest entries during the first moments of the process only.
  package nonisolated func untilStarted() async {
    guard !isCaughtUp.withLock({ $0 }) else { return }
    let left = timing.startWait - elapsed
    if left > .zero { _ = await untilCaughtUp(within: left) }
  }

  func caughtUp() {
    isCaughtUp.withLock { $0 = true }
    resumeReaders()
  }

  private func resumeReaders() { for id in readers.keys { resumeReader(id) } }

  private func resumeReader(_ id: UUID) { readers.removeValue(forKey: id)?.resume() }

  /// Replaces the known handles, and reports those that changed.
  func publishKnown(_ new: HandleSet) {
    let old = known.withLock { known in
      defer { known = new }
      return known
    }
    guard !knownWatchers.isEmpty else { return }
    let changed = answered.withLock { answered in
      answered.sorted().filter { old.contains($0) != new.contains($0) }
    }
    guard !changed.isEmpty else { return }
    for watcher in knownWatchers.values { watcher.yield(changed) }
  }

  /// The handles that become known or unknown from now on.
  package func knownChanges() -> AsyncStream<[Handle]> {
    let (stream, continuation) = AsyncStream<[Handle]>.makeStream()
    let id = UUID()
    knownWatchers[id] = continuation
    continuation.onTermination = { [weak self] _ in
      Task { await self?.removeKnownWatcher(id) }
    }
    return stream
  }

  private func removeKnownWatcher(_ id: UUID) { knownWatchers[id] = nil }

  /// The current value of `isConsentWithdrawn`, then every change.
  package func consent() -> AsyncStream<Bool> {
    let (stream, continuation) = AsyncStream<Bool>.makeStream()
    let id = UUID()
    consentWatchers[id] = continuation
    continuation.onTermination = { [weak self] _ in
      Task { await self?.removeConsentWatcher(id) }
    }
    continuation.yield(isConsentWithdrawn)
    return stream
  }

  private func removeConsentWatcher(_ id: UUID) { consentWatchers[id] = nil }
}
