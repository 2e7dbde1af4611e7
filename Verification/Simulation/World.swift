import FamilyCore
import FamilyModel
import History
import RelayStore
import RelayWire

/// All processes of a run, the network between them, and the time.
///
/// The machines and the encoding are those of production. What is simulated is what production's shells
/// stand on: clocks, sockets, disks, and processes that end.
final class World {
  /// Something that will happen to a process. A life or a connection that is over hears nothing any more.
  enum ScheduledEvent {
    case step(Int)
    case start(Act.Process)
    case relayTurn
    case relayTimer
    case request(Int, connection: Int, Envelope)
    case subscribe(Int, connection: Int, [UInt8])
    case connected(Int, connection: Int)
    case listensAgain(Int, connection: Int)
    case reply(Int, connection: Int, UInt64, Reply)
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
    case guardianAnswers(Int, life: Int, QuestionID, choice: String)
    case guardianSees(Int, life: Int, PersonID, seq: UInt64)
    case administrator
    case linkEnds(Int, fault: Int)
    case slowEnds(Act.Process)
    case fullEnds(Act.Process)
    case syncs
    case clockSeen(Act.Process)
    case checksRest
  }

  /// The run begins on the wall clock here.
  static let start: Int64 = 1_764_000_000_000
  /// After the healing everything must be at rest within so many milliseconds.
  static let patience: Int64 = 600_000

  /// A run has some thousand happenings. One with so many has messages that lead to messages for ever.
  static let mostHappenings = 60_000

  let scenario: Scenario
  let mutant: Mutant?
  var dice: SeededRandom
  var agenda = EventQueue<ScheduledEvent>()
  var now: Int64 = 0
  var history = History()
  var trace = TraceHash()
  /// How many things happened.
  var happenings = 0

  var relay: RelayProcess
  var devices: [DeviceProcess] = []
  var administrator = AdministratorClient()
  let keys: FakeVault.KeyMaker
  var hasHealed = false
  var end: Int64?

  init(_ scenario: Scenario, mutant: Mutant?) {
    self.scenario = scenario
    self.mutant = mutant
    dice = SeededRandom(seed: scenario.seed)
    keys = FakeVault.KeyMaker(seed: dice.next())
    relay = RelayProcess()
    for plan in scenario.devices {
      // The first of a family's devices is one of the organizer's.
      let organizer = scenario.devices.first { $0.family == plan.family }!
      devices.append(
        DeviceProcess(
          plan, apps: plan.isGuardians ? 0 : Scenario.apps.count, organizer: organizer.id, keys))
    }
  }

  func note(_ fact: Fact) { history.note(fact, at: Instant(milliseconds: Self.start + now)) }

  /// What a process's clock shows.
  func clock(_ offset: Int64) -> Instant { Instant(milliseconds: Self.start + now + offset) }

  /// When a process's clock will show this; not before the next millisecond.
  func moment(_ instant: Instant, _ offset: Int64) -> Int64 {
    let shown = clock(offset).milliseconds
    let wait = instant.milliseconds.subtractingReportingOverflow(shown)
    return now
      + max(
        1,
        wait.overflow
          ? (instant.milliseconds < 0 ? 1 : Self.never) : min(wait.partialValue, Self.never))
  }

  /// Longer than any run, in milliseconds.
  private static let never: Int64 = 1 << 50

  // MARK: the run

  func run() {
    relay.disk.syncs = mutant != .fsync
    startRelay()
    for family in 0..<scenario.families { found(family) }
    for index in devices.indices { startDevice(index) }
    for (index, step) in scenario.steps.enumerated() { agenda.plan(.step(index), at: step.at) }
    if mutant == .fsync { agenda.plan(.syncs, at: 5_000) }
    agenda.plan(.checksRest, at: scenario.healing)
    while end == nil, let (at, happening) = agenda.next() {
      now = max(now, at)
      happenings += 1
      take(happening)
      if happenings == Self.mostHappenings {
        note(.stuck("messages without end"))
        end = now
      }
    }
    readStore()
  }

  private func readStore() {
    for family in relay.disk.families.keys.sorted() {
      for stored in relay.disk.families[family]!.events {
        note(.stored(family, FakeVault.reveal(try! Event.decode(stored.payload))))
        trace.add(stored.seq, UInt64(stored.checksum))
      }
    }
    note(.storeRead)
  }

  private func take(_ happening: ScheduledEvent) {
    trace.add(UInt64(bitPattern: now), UInt64(agendaKind(happening)))
    switch happening {
    case .step(let index): act(scenario.steps[index].act)
    case .start(.relay): startRelay()
    case .start(.device(let device)): startDevice(device)
    case .start(.app(let device, let app)): startApp(device, app, byDevice: false)
    case .relayTurn: relayTurn()
    case .relayTimer: relayTimer()
    case .request(let device, let connection, let envelope):
      arrive(.request(device, connection, envelope))
    case .subscribe(let device, let connection, let topic):
      arrive(.subscribe(device, connection, topic))
    case .connected(let device, let connection): connected(device, connection)
    case .listensAgain(let device, let connection): listenAgain(device, connection)
    case .reply(let device, let connection, let id, let reply):
      receive(device, connection, id, reply)
    case .broadcast(let device, let connection, let topic, let broadcast):
      receive(device, connection, topic, broadcast)
    case .deviceTimer(let device): deviceTimer(device)
    case .fromApp(let device, let app, let life, let deviceLife, let request):
      fromApp(device, app, life, deviceLife, request)
    case .toApp(let device, let app, let life, let reply): toApp(device, app, life, reply)
    case .appConnected(let device, let app, let life): appConnected(device, app, life: life)
    case .appIdle(let device, let app, let life): appIdle(device, app, life: life)
    case .appHandles(let device, let app, let life, let position):
      appHandles(device, app, life: life, position: position)
    case .appEnded(let device, let app, let life): appEnded(device, app, life)
    case .launch(let device, let app, let life): launch(device, app, life)
    case .promptAnswer(let device, let life, let prompt, let answer):
      guard devices[device].life == life else { return }
      child(device, .answered(prompt: prompt, answer))
    case .passcodeChecked(let device, let life, let prompt, let proof):
      guard devices[device].life == life else { return }
      child(device, .passcodeChecked(prompt: prompt, proof: proof))
    case .guardianAnswers(let device, let life, let question, let choice):
      guard devices[device].life == life, !hasHealed else { return }
      guardian(device, .answer(question, choice: choice))
    case .guardianSees(let device, let life, let child, let seq):
      guard devices[device].life == life else { return }
      guardian(device, .seen(child: child, seq: seq))
    case .administrator: administratorTurn()
    case .linkEnds(let device, let fault): devices[device].end(linkFault: fault)
    case .slowEnds(let process): slow(process, by: 0)
    case .fullEnds(let process): fill(process, false)
    case .syncs:
      relay.disk.sync()
      if !hasHealed { agenda.plan(.syncs, at: now + 20_000) }
    case .clockSeen(let process): seeClock(process)
    case .checksRest: checkRest()
    }
  }

  private func agendaKind(_ happening: ScheduledEvent) -> Int {
    switch happening {
    case .step(let index): 100 + index
    case .request(let device, _, _): 10_000 + device
    case .reply(let device, _, let id, _): 20_000 + device + Int(id & 0xFFFF_FFFF) << 16
    case .broadcast(let device, _, _, _): 30_000 + device
    case .connected(let device, _): 40_000 + device
    case .deviceTimer(let device): 50_000 + device
    case .fromApp(let device, let app, _, _, _): 60_000 + device * 4 + app
    case .toApp(let device, let app, _, _): 70_000 + device * 4 + app
    default: 1
    }
  }
}

/// A number that stands for everything that happened, in order (FNV-1a over 64-bit words).
public struct TraceHash: Hashable, Sendable {
  /// The number.
  public private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  mutating func add(_ a: UInt64, _ b: UInt64) {
    value = (value ^ a) &* 0x100_0000_01B3
    value = (value ^ b ^ value >> 29) &* 0x100_0000_01B3
  }
}
