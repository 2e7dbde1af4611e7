import ZeroMQ

/// Reports changes to one waiting task at a time.
package final class Signal: Sendable {
  private let changes: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  package init() {
    (changes, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Reports a change.
  package func notify() { continuation.yield() }

  /// Waits until the condition holds, and checks it after each change.
  ///
  /// - Returns: `false` if the condition does not hold within ``patience``.
  package func wait(until condition: () -> Bool) async -> Bool {
    if condition() { return true }
    let end = ContinuousClock.now + Duration(patience)
    let timeout = Task { [continuation] in
      try? await Task.sleep(until: end)
      continuation.yield()
    }
    defer { timeout.cancel() }
    for await _ in changes {
      if condition() { return true }
      if ContinuousClock.now >= end { break }
    }
    return false
  }
}

/// Waits until the condition holds, for state that reports no changes.
///
/// - Returns: `false` if the condition does not hold within ``patience``.
package func poll(_ condition: () async throws -> Bool) async throws -> Bool {
  let end = ContinuousClock.now + Duration(patience)
  while ContinuousClock.now < end {
    if try await condition() { return true }
    try await Task.sleep(for: .milliseconds(5))
  }
  return try await condition()
}
