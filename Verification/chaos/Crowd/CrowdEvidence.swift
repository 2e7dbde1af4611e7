import Credentials
import FamilyModel
import FamilyTrust
import Foundation
import History
import ProcessCluster
import SQLiteStore
import Synchronization

/// The evidence of a run about the families of a crowd: journals, the recorder's facts and stores.
final class CrowdEvidence: Sendable {
  private struct Stores {
    var agents: [String: SQLiteAgentStore] = [:]
    var relay: SQLiteEventStore
  }

  /// The families' devices, each with the name of its agent.
  let devices: [FamilyID: [(agent: String, credential: Credential)]]
  private let journals: RecordedFacts
  private let ofRecorder: RecorderFacts
  private let stores: Mutex<Stores>
  private let clock: RunClock

  init(_ crowd: Crowd, _ recorded: History, _ clock: RunClock) throws {
    self.clock = clock
    journals = try RecordedFacts(crowd.plan.names.indices.map(crowd.journal))
    ofRecorder = RecorderFacts(recorded)
    var stores = Stores(
      relay: try SQLiteEventStore(
        path: crowd.layout.relay.appendingPathComponent("relay.sqlite").path))
    for name in crowd.plan.names {
      stores.agents[name] = try SQLiteAgentStore(
        path: crowd.layout.agent(name).appendingPathComponent("agent.sqlite").path)
    }
    self.stores = Mutex(stores)
    devices = Dictionary(grouping: try crowd.devices()) { $0.credential.address.family }
  }

  func close() {
    stores.withLock { stores in
      for store in stores.agents.values { store.close() }
      stores.relay.close()
    }
  }

  /// The number of facts in the journals.
  var facts: Int { journals.count }

  /// The history of a family.
  func history(of family: FamilyID) throws -> History {
    var entries = journals.facts(of: family).map { ($0.fact, clock.instant($0.at)) }
    // The sort is stable.
    entries = (entries + ofRecorder.facts(of: family)).sorted { $0.at < $1.at }
    var history = History()
    for (fact, at) in entries { history.record(fact, at: at) }
    var opened: OpenedEvents = [:]
    // Each device reads the whole history, so that a cache of less would have no hit.
    let verified = SignatureCache(capacity: .max)
    for (agent, credential) in devices[family]! {
      let records = try stores.withLock { try $0.agents[agent]!.records(of: credential.address) }
      let holdings = Fact.holdings(of: credential, records, sharing: verified, &opened)
      for fact in holdings { history.record(fact, at: clock.now) }
    }
    let log = try stores.withLock { try $0.relay.log(of: family) }
    for fact in Fact.log(of: family, log, opened) { history.record(fact, at: clock.now) }
    history.record(.storeRead, at: clock.now)
    return history
  }
}

/// The recorder's facts about the families of a crowd.
private struct RecorderFacts {
  private var ofFamily: [FamilyID: [(fact: Fact, at: Instant)]] = [:]
  private var ofAll: [(fact: Fact, at: Instant)] = []

  init(_ history: History) {
    for entry in history.entries {
      switch entry.fact {
      case .lostState(let device), .acknowledged(let device, _, _):
        ofFamily[device.family, default: []].append((entry.fact, entry.at))
      case .appLostState(let app):
        ofFamily[app.device.family, default: []].append((entry.fact, entry.at))
      case .healed, .converged, .notConverged: ofAll.append((entry.fact, entry.at))
      default: break
      }
    }
  }

  /// The facts of the family, then those of all families.
  func facts(of family: FamilyID) -> [(fact: Fact, at: Instant)] {
    (ofFamily[family] ?? []) + ofAll
  }
}
