import Credentials
package import FamilyModel
import ZeroMQ

/// The relay's lanes, each with a thread, which go on by themselves as long as something waits for them.
final class ShardPool: Sendable {
  /// The lanes.
  let workers: [ShardWorker]

  init(_ configuration: RelayService.Configuration, _ keys: RelayKeys) {
    let count = max(1, min(configuration.shards, RelayLimits.shards))
    workers = (0..<count).map { _ in ShardWorker(Shard(configuration, keys, shards: count)) }
  }

  /// The lane of the family.
  subscript(family: FamilyID) -> ShardWorker { workers[family.shard(of: workers.count)] }

  /// Whether no lane is at work.
  var isAtRest: Bool { workers.allSatisfy { $0.isAtRest } }

  /// Whether a lane waits until somebody takes what it has put aside.
  var isStuck: Bool { workers.contains { $0.isStuck } }

  /// Messages that wait for the lanes, which are at rest.
  var waiting: Int { workers.reduce(0) { $0 + $1.waiting } }

  /// Families in memory, of the lanes, which are at rest.
  var families: Int { workers.reduce(0) { $0 + $1.with { $0.machine.count } } }

  /// Sets all to work that rest and have something to do; tells whether there is one.
  func wake() -> Bool { workers.reduce(false) { $1.wake() || $0 } }

  /// Returns when no lane is at work: each finishes its slice. They rest until ``wake()``.
  func rest() {
    let stopping = workers.filter { $0.askToRest() }
    for worker in stopping { worker.waitUntilAtRest() }
  }
}

extension FamilyID {
  /// The family's lane of so many: numbers that follow each other, or that differ by a power of two or by
  /// the number of lanes, do not meet in one.
  package func shard(of shards: Int) -> Int {
    Int((rawValue.scattered * UInt64(shards)) >> 32)
  }
}
