import ArgumentParser
import Foundation
import RelayStore
import SQLiteStore

/// A system made worse on purpose, from outside: a run of it must fail.
enum Mutant: String, ExpressibleByArgument, CaseIterable {
  /// The relay's store does not sync, as with `synchronous=OFF`.
  case noSync = "no-sync"
  /// Agents forget their outbox when they end.
  case noOutbox = "no-outbox"

  /// Deletes what waits in the outboxes of an agent that does not run.
  static func forgetOutbox(_ agent: URL) throws {
    let file = agent.appendingPathComponent("agent.sqlite")
    guard FileManager.default.fileExists(atPath: file.path) else { return }
    let store = try SQLiteAgentStore(path: file.path)
    defer { store.close() }
    // Family and device are twelve bytes, then comes the kind of the record.
    let waiting = try store.load(prefix: []).map(\.key).filter { $0.count > 12 && $0[12] == 4 }
    try store.apply(waiting.map { Change(key: $0, value: nil) })
  }
}
