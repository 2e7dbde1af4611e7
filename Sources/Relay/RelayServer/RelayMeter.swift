public import RelayOperation
import RelayPipeline
import Synchronization
import ZeroMQ

/// The measurements of a relay. Its threads write them, and any thread reads them.
public final class RelayMeter: Sendable {
  private struct State {
    var counters = RelayCounters()
    var levels = RelayLevels(
      requestsInFlight: 0, bytesInFlight: 0, families: 0, isShedding: false,
      isFull: false)
    var connections = (requests: 0, broadcasts: 0)
    var queued = (unsent: 0, unread: 0)
    var turn = MonotonicInstant.now
    var commitBegin: MonotonicInstant?
    var commits = DurationHistogram()
    var reads = DurationHistogram()
    var failure: String?
  }

  private let start = MonotonicInstant.now
  private let state = Mutex(State())

  /// A meter whose uptime begins now.
  public init() {}

  /// Runs a commit and measures its duration.
  func measureCommit<E: Error>(_ body: () throws(E) -> Void) throws(E) {
    let begin = MonotonicInstant.now
    state.withLock { $0.commitBegin = begin }
    defer {
      state.withLock { state in
        state.commitBegin = nil
        state.commits.record((MonotonicInstant.now - begin).seconds)
      }
    }
    try body()
  }

  /// Runs a read from the store and measures its duration.
  func measureRead<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    let begin = MonotonicInstant.now
    defer { state.withLock { $0.reads.record((MonotonicInstant.now - begin).seconds) } }
    return try body()
  }

  /// Records the state of the socket thread.
  func recordTurn(
    _ counters: RelayCounters, _ levels: RelayLevels,
    connections: (requests: Int, broadcasts: Int), queued: (unsent: Int, unread: Int)
  ) {
    state.withLock { state in
      state.counters = counters
      state.levels = levels
      state.connections = connections
      state.queued = queued
      state.turn = .now
    }
  }

  /// The last known number of families.
  var families: Int { state.withLock { $0.levels.families } }

  /// Records that the relay failed.
  func recordFailure(_ reason: String) { state.withLock { $0.failure = reason } }

  /// The measurements, without those of the files and of the process.
  public func statistics() -> RelayStatistics {
    let state = state.withLock { $0 }
    let now = MonotonicInstant.now
    var result = RelayStatistics()
    result.times.uptime = (now - start).seconds
    result.times.sinceTurn = (now - state.turn).seconds
    result.times.presentCommit = state.commitBegin.map { (now - $0).seconds } ?? 0
    result.counters = state.counters.byName
    result.refusals = state.counters.refusals
    result.levels.requestsInFlight = state.levels.requestsInFlight
    result.levels.bytesInFlight = state.levels.bytesInFlight
    result.levels.families = state.levels.families
    result.levels.isShedding = state.levels.isShedding
    result.levels.isFull = state.levels.isFull
    result.levels.requestConnections = state.connections.requests
    result.levels.broadcastConnections = state.connections.broadcasts
    result.levels.unsentBytes = state.queued.unsent
    result.levels.unreadBytes = state.queued.unread
    result.levels.memoryLevel = state.levels.memory.rawValue
    result.commits = state.commits
    result.reads = state.reads
    result.failure = state.failure
    return result
  }
}

extension Nanoseconds {
  fileprivate var seconds: Double { Double(count) / 1e9 }
}

extension RelayCounters {
  /// The counters by the names of their properties.
  fileprivate var byName: [String: Int] {
    Dictionary(
      uniqueKeysWithValues: Mirror(reflecting: self).children.compactMap { child in
        guard let name = child.label, let count = child.value as? Int else { return nil }
        return (name, count)
      })
  }
}
