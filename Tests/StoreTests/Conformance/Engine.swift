import RelayStore
import SQLiteStore

/// The engines below `EventStore` and `AgentStore`. A new engine is a case: the compiler asks for
/// the rest.
enum Engine: CaseIterable {
  case memory, sqlite

  /// A part of the contract of `EventStore` that an engine may lack.
  enum Ability: CaseIterable { case durability, reader, copies, log, erasure, verification }

  var abilities: Set<Ability> {
    switch self {
    case .memory: []
    case .sqlite: Set(Ability.allCases)
    }
  }

  /// Opens the event store at `path`, or creates it.
  func open(_ path: String) throws -> any EventStore {
    switch self {
    case .memory: MemoryEventStore()
    case .sqlite: try SQLiteEventStore(path: path)
    }
  }

  /// Opens the agent's store at `path`, or creates it.
  func openAgentStore(_ path: String) throws -> any AgentStore {
    switch self {
    case .memory: MemoryAgentStore()
    case .sqlite: try SQLiteAgentStore(path: path)
    }
  }
}
