import FamilyCore
import FamilyModel
import History
import RelayStore
import RelayWire

/// All processes of a run, the network between them, and virtual time.
///
/// Machines and encoding are production code. Clocks, sockets, disks and processes are simulated.
final class World {
  /// A scheduled event of a process. Events of an ended life or connection are dropped.
  enum ScheduledEvent {
    case step(Int)
    case start(Act.Process)
    /// An operator stops the relay, and restores damaged data.
    case repairRelay
    case relayTurn
    /// The reader's thread reads a batch.
    case relayReads(life: Int)
    case relayTimer
    case request(Int, connection: Int, Envelope)
    case forgedRequest(Int, key: [UInt8], Envelope)
    case subscribe(Int, connection: Int, [UInt8])
    case connected(Int, connection: Int)
    case resubscribe(Int, connection: Int)
    case reply(Int, connection: Int, ReplyEnvelope)
    case broadcast(Int, connection: Int, topic: [UInt8], Broadcast)
    case deviceTimer(Int)
    case fromApp(Int, Int, life: Int, deviceLife: Int, AppRequest)
    case toApp(Int, Int, life: Int, AppReply)
    case appConnected(Int, Int, life: Int)
    case appIdle(Int, Int, life: Int)
    case appHandles(Int, Int, life: Int, position: UInt64)
    case appEnded(Int, Int, deviceLife: Int)
    case launch(Int, Int, deviceLife: Int)
    case promptAnswer(Int, life: Int, UInt64, PromptAnswer)
    case passcodeChecked(Int, life: Int, UInt64, [UInt8]?)
    case snapshotMade(Int, life: Int, UInt64, [UInt8]?)
    case guardianAnswers(Int, life: Int, QuestionID, choice: String)
    case guardianSees(Int, life: Int, PersonID, seq: UInt64)
    case administrator
    case linkEnds(Int, fault: Int)
    case slowEnds(Act.Process)
    case diskFaultEnds(Act.Process)
    case syncs
    case checkConvergence
  }

  /// The wall-clock time at which a run begins.
  static let start = Instant(milliseconds: 1_795_536_000_000)
  /// The time after the healing within which the system must converge.
  static let convergenceTimeout = Milliseconds.minutes(10)
  /// The same after a dishonest relay: a device that gave statements back again and again waits up to
  /// an hour before the next time.
  static let longConvergenceTimeout = Milliseconds.hours(3)

  /// The event limit of a run. Runs have thousands of events; at this limit, messages cause
  /// messages forever. A dishonest member sends floods.
  var maxEvents: Int {
    (member == nil ? 60_000 : 200_000) * max(1, devices.count / 16)
      * max(1, scenario.steps.count / 200)
  }

  let scenario: Scenario
  let mutant: Mutant?
  let adversary: Adversary?
  var random: SeededRandom
  /// The adversary's source of randomness.
  var dishonesty: SeededRandom
  var queue = EventQueue<ScheduledEvent>()
  /// Virtual time since the start of the run.
  var now = Milliseconds.zero
  var history = History()
  var trace = TraceHash()
  /// The rare paths that the run has reached.
  var probes: Set<Probe> = []
  /// The number of dispatched events.
  var dispatchedEvents = 0

  var relay: SimulatedRelay
  var devices: [SimulatedDevice] = []
  var administrator = AdministratorClient()
  var member: DishonestMember?
  /// The dishonest relay's knowledge, in a run with one.
  var dishonest: DishonestRelay?
  let keys: FakeVault.KeyMaker
  var hasHealed = false
  var end: Milliseconds?

  init(_ scenario: Scenario, mutant: Mutant?, adversary: Adversary?) {
    self.scenario = scenario
    self.mutant = mutant
    self.adversary = adversary
    random = SeededRandom(seed: scenario.seed)
    dishonesty = SeededRandom(seed: ~scenario.seed)
    keys = FakeVault.KeyMaker(seed: random.next(), without: mutant)
    relay = SimulatedRelay()
    if adversary == .relay {
      dishonest = DishonestRelay(
        &dishonesty, until: scenario.healing,
        Self.makeRelayMachine(resultsKept: scenario.resultsKept))
    }
    for plan in scenario.devices {
      // A family's first device belongs to the organizer.
      let organizer = scenario.devices.first { $0.family == plan.family }!
      devices.append(
        SimulatedDevice(
          plan, apps: plan.isGuardians ? 0 : Scenario.apps.count, organizer: organizer.id, keys))
    }
    member = scenario.dishonest.map { DishonestMember($0, devices[$0]) }
  }

  func record(_ fact: Fact) { history.record(fact, at: Self.start + now) }

  /// The uptime of a process: the virtual time, which nothing sets.
  var uptime: Milliseconds { now }

  /// The time on a process's clock.
  func clock(_ offset: Milliseconds) -> Instant { Self.start + now + offset }

  /// The virtual time at which a process's clock reaches `instant`, at least 1 ms from now.
  func moment(_ instant: Instant, _ offset: Milliseconds) -> Milliseconds {
    now + max(.milliseconds(1), min(instant - clock(offset), Self.never))
  }

  /// A wait longer than any run.
  private static let never = Milliseconds(1 << 50)

  // MARK: the run

  func run() {
    relay.disk.syncs = mutant != .fsync
    recordOwners()
    startRelay()
    for family in 0..<scenario.families { createFamily(family) }
    for index in devices.indices { startDevice(index) }
    for (index, step) in scenario.steps.enumerated() { queue.schedule(.step(index), at: step.at) }
    if mutant == .fsync { queue.schedule(.syncs, at: .seconds(5)) }
    queue.schedule(.checkConvergence, at: scenario.healing)
    while end == nil, let (at, event) = queue.next() {
      now = max(now, at)
      dispatchedEvents += 1
      dispatch(event)
      if dispatchedEvents.isMultiple(of: Self.boundsInterval) { checkBounds() }
      if dispatchedEvents == maxEvents {
        record(.notConverged("messages without end" + (unfinished().map { ": \($0)" } ?? "")))
        end = now
      }
    }
    probeRelay()
    readStore()
  }

  private func readStore() {
    for family in relay.disk.families.keys.sorted() {
      for stored in relay.disk.intactEvents(of: family) {
        record(.stored(family, FakeVault.reveal(try! Event.decode(stored.payload))))
        trace.add(stored.seq, UInt64(stored.checksum))
      }
    }
    record(.storeRead)
  }
}

/// A hash of all dispatched events in order (FNV-1a over 64-bit words).
public struct TraceHash: Hashable, Sendable {
  /// The hash so far.
  public private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  mutating func add(_ a: UInt64, _ b: UInt64) {
    value = (value ^ a) &* 0x100_0000_01B3
    value = (value ^ b ^ value >> 29) &* 0x100_0000_01B3
  }
}
