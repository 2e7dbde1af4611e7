import Credentials
import FamilyCore
import FamilyModel
import FamilyTrust
import RelayStore
import RelayWire
import SystemClock

@testable import RelayPipeline

/// One run of a pipeline with real threads, in the order of a seed.
struct Exploration: Sendable {
  var seed: UInt64
  var defect: PipelineDefect?
  /// The number of the commit that fails.
  var failing: Int?

  /// The rules that the run violates, and the points that it passed.
  func run() -> (violations: [String], points: Int) {
    let scheduler = PriorityScheduler(seed: seed, changes: Int(seed % 6), length: 800)
    scheduler.run { explore { scheduler.report($0) } }
    return (scheduler.violations, scheduler.points)
  }

  private static let start = Instant(milliseconds: 1_795_000_000_000)

  /// The part of the socket thread.
  private func explore(_ report: @escaping @Sendable (String) -> Void) {
    var numbers = IDSource(seed: seed ^ 0x5EED)
    let store = CheckedStore(failing: failing, report)
    do { try store.found(Peers.families.map(Self.roster)) } catch { return report("\(error)") }
    let peers = Peers(store, report)
    var configuration = PipelineConfiguration().with(defect)
    configuration.shards = Peers.shards
    configuration.maxFamilies = seed.isMultiple(of: 3) ? 2 : 100
    configuration.requestsPerSlice = 2
    configuration.maxRequestsInFlight = 6
    configuration.wakeThreshold = 1 + numbers.below(3)
    configuration.cachedChannels = 16
    configuration.plainKey = Peers.key
    // Most results of commands are in the store only.
    configuration.resultsPerFamily = 1
    configuration.makeMachine = { shards in
      RelayMachine(
        verify: PasscodeCipher.verify, digest: KeyVault.digest,
        passcodes: PasscodeCipher.evaluator, resultsKept: 1,
        openFamilies: 4, snapshotEvery: RelayLimits.eventsPerSnapshot)
    }
    let turns = Semaphore()
    let clock = TestClock(Self.start)
    let pipeline = Pipeline(
      configuration, keys: Peers.keys, store: store, sockets: peers, clock: { clock.now },
      onDamage: { _, error in report("a read fails: \(error)") },
      onFailure: { _ in peers.hasFailed = true })
    let device = DeviceAddress(family: FamilyID(Peers.families[0]), device: DeviceID(30))
    _ = pipeline.inboxes.attached(device, PeerKey(Peers.key)!)
    pipeline.start { turns.signal() }
    for _ in 0..<4 {
      for _ in 0..<1 + numbers.below(7) {
        // One busy family evicts results before their commit.
        let isBusy = seed.isMultiple(of: 4)
        let kind = isBusy ? [0, 1, 5][numbers.below(3)] : numbers.below(7)
        let families = isBusy ? 1 : Peers.families.count
        peers.send(kind, in: Peers.families[numbers.below(families)])
      }
      // Cursors are due after a while.
      clock.advance(by: .seconds(11))
      serve(pipeline, peers, turns, untilIdle: numbers.below(2) == 0)
    }
    serve(pipeline, peers, turns, untilIdle: true)
    pipeline.finish()
    pipeline.stopShards()
    pipeline.stopCommits()
    if failing == nil { peers.checkEnd() }
    if let failure = pipeline.failure, failing == nil { report("the relay fails: \(failure)") }
  }

  /// Receives and turns as the socket thread does, until no request is left, or all have replies.
  private func serve(_ pipeline: Pipeline, _ peers: Peers, _ turns: Semaphore, untilIdle: Bool) {
    while pipeline.failure == nil {
      let sleep = pipeline.turn(uptime: .zero)
      guard pipeline.failure == nil else { return }
      if peers.isReadable {
        pipeline.drainRequests()
      } else if sleep != .zero {
        guard untilIdle ? peers.awaitsReplies : peers.isMuted else { return }
        // Deadlines do not wake the thread here: no wake-up may depend on them.
        turns.wait()
      }
    }
  }

  private static func roster(_ family: UInt64) -> StoredEvent {
    let roles: [(UInt32, Role)] = [(1, .organizer), (3, .child)]
    let roster = Roster(
      persons: roles.map { Person(id: PersonID($0), role: $1, displayName: "P\($0)") },
      devices: [10, 30].map { (id: UInt32) in
        let key = id == 30 ? Peers.key : [UInt8](repeating: UInt8(id), count: 32)
        return Device(
          id: DeviceID(id), person: PersonID(id / 10), publicKey: key, signingKey: key,
          agreementKey: key)
      })
    let event = Event(
      seq: 1, previous: 0, audience: .family, command: CommandID(high: 0, low: 0),
      device: DeviceID(0), at: start, body: .rosterChanged(roster))
    return StoredEvent(
      family: FamilyID(family), seq: 1, audience: .family, device: DeviceID(0),
      command: event.command, at: start, payload: event.encode())
  }
}

/// A clock that a test advances.
final class TestClock: Sendable {
  private let time: Lock<Instant>

  init(_ start: Instant) { time = Lock(start) }

  var now: Instant { time.withLock { $0 } }

  func advance(by step: Milliseconds) { time.withLock { $0 = $0 + step } }
}
