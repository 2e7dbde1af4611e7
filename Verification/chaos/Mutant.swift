import ArgumentParser
import DeviceAgent
import FamilyCore
import FamilyModel
import Foundation
import RelayStore
import RelayWire
import SQLiteStore

/// A deliberate defect, made from outside the programs. A run with a mutant must fail.
enum Mutant: String, ExpressibleByArgument, CaseIterable {
  /// The relay's store does not sync, as with `synchronous=OFF`.
  case noSync = "no-sync"
  /// The agents' stores do not sync.
  case noAgentSync = "no-agent-sync"
  /// All stores ignore the error of a failed sync.
  case syncError = "sync-error"
  /// Devices lose their stores when the relay goes back to a copy, and chaos does not know.
  case noGivingBack = "no-giving-back"
  /// All processes end with code 1 after SIGTERM.
  case badExit = "bad-exit"
  /// Agents lose their outboxes when they end.
  case noOutbox = "no-outbox"

  /// The environment variables that give a process the defect.
  func environment(_ process: String) -> [String: String] {
    switch self {
    case .noSync: process == "relay" ? ["CHAOS_NOSYNC": "1"] : [:]
    case .noAgentSync: process == "relay" ? [:] : ["CHAOS_NOSYNC": "1"]
    case .syncError: ["CHAOS_HIDES_SYNC_ERRORS": "1"]
    case .badExit: ["CHAOS_EXIT": "1"]
    case .noOutbox, .noGivingBack: [:]
    }
  }

  /// Deletes all commands in the outboxes of an agent.
  ///
  /// Precondition: the agent does not run.
  static func deleteOutboxes(in agent: URL) throws {
    let file = agent.appendingPathComponent("agent.sqlite")
    guard FileManager.default.fileExists(atPath: file.path) else { return }
    let store = try SQLiteAgentStore(path: file.path)
    defer { store.close() }
    let prefix = DeviceAddress(family: FamilyID(0), device: DeviceID(0)).recordKeyPrefix.count
    let outbox = try store.load(prefix: []).filter { stored in
      let key = Array(stored.key.dropFirst(prefix))
      guard case .outbox? = try? DeviceRecord.decode(key: key, value: stored.value) else {
        return false
      }
      return true
    }
    try store.apply(outbox.map { Change(key: $0.key, value: nil) })
  }
}
