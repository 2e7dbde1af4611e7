import FamilyModel
import Testing

@testable import FamilyCore

/// Apps that were killed between the application and the consumption of responses.
@Suite struct AppRestartTests {
  private static let handle = Handle("ada", .custom)

  private static func entry(_ position: UInt64, isResponse: Bool = true) -> AppMachine.Input {
    let question = Question(
      id: ID128(high: 0, low: position),
      topic: .communication(people: [Subject(handle: handle)], actions: []))
    let body = isResponse ? AppEntry.Body.response(question, .decline) : .known([handle])
    return .reply(.entry(AppEntry(position: position, body: body)))
  }

  /// A restarted app that has applied three entries and consumed none.
  private static func restarted() -> AppMachine {
    var machine = AppMachine(
      World.app, restoring: [.position(applied: 3, consumed: 0)])
    _ = machine.step(.connected)
    _ = machine.step(.subscribe(.communication))
    _ = machine.step(.reply(.attached(acknowledged: 0)))
    return machine
  }

  private static func delivered(_ effects: [AppMachine.Effect]) -> [UInt64] {
    effects.compactMap { if case .deliver(let position, _, _) = $0 { position } else { nil } }
  }

  @Test("R6: consuming a response does not consume the next one before it is repeated")
  func quick() {
    var machine = Self.restarted()
    var handled: [UInt64] = []
    for position: UInt64 in 1...3 {
      handled += Self.delivered(machine.step(Self.entry(position)))
      let effects = machine.step(.consumed(position))
      #expect(effects.contains(.send(.acknowledge(position))))
    }
    #expect(handled == [1, 2, 3])
  }

  @Test("R6: a question asked twice at once has one outcome and is not repeated")
  func askedTwice() {
    var machine = AppMachine(World.app)
    _ = machine.step(.connected)
    let question = World.question(1, Self.handle)
    for _ in 0..<2 { _ = machine.step(.ask(question, .byMessage)) }
    #expect(machine.step(.reply(.asked(question.id, .sent))) == [.asked(question.id, .sent)])
    _ = machine.step(.reply(.attached(acknowledged: 0)))
    _ = machine.step(.reply(.named([Self.handle])))
    _ = machine.step(.disconnected)
    #expect(machine.step(.connected) == [.send(.attach(app: World.app, applied: 0))])
  }

  @Test(
    "R6: keeps a response unacknowledged when a later entry for the former process arrives first")
  func overtaken() {
    var machine = AppMachine(World.app, restoring: [.position(applied: 3, consumed: 2)])
    _ = machine.step(.connected)
    _ = machine.step(.subscribe(.communication))
    // The device has not noticed yet that the former process ended with entry 3 unconsumed.
    #expect(machine.step(Self.entry(4, isResponse: false)).isEmpty)
    _ = machine.step(.reply(.attached(acknowledged: 2)))
    let early = machine.step(Self.entry(4, isResponse: false))
    #expect(early == [.send(.attach(app: World.app, applied: 3))])
    #expect(Self.delivered(machine.step(Self.entry(3))) == [3])
    #expect(!machine.step(Self.entry(4, isResponse: false)).contains(.send(.acknowledge(4))))
    #expect(machine.step(.consumed(3)).contains(.send(.acknowledge(4))))
  }

  @Test("K2: a restarted app knows its handles before the device sends anything")
  func knows() {
    var machine = AppMachine(World.app)
    _ = machine.step(.connected)
    _ = machine.step(.reply(.attached(acknowledged: 0)))
    var disk: [AppRecord] = []
    for case .persist(let changes) in machine.step(Self.entry(1, isResponse: false)) {
      for case .put(let record) in changes { disk.append(record) }
    }
    #expect(AppMachine(World.app, restoring: disk).known.contains(Self.handle))
  }

  @Test(
    "K3, X2: an app resets to the state of a device that lost its store")
  func deviceLostItsStore() {
    var world = World()
    var app = AppMachine(World.app)
    /// Exchanges messages between the app and the device until neither sends one.
    func meet() {
      _ = app.step(.disconnected)
      _ = world.take(3)
      var requests = app.step(.connected)
      while !requests.isEmpty {
        for case .send(let request) in requests { world.child(3, .app(World.app, request)) }
        requests = []
        for case .app(World.app, let reply) in world.take(3) { requests += app.step(.reply(reply)) }
      }
    }
    _ = app.step(.subscribe(.communication))
    // A default response is no event, so the device cannot restore it without its store.
    world.guardian(1, .setLimits(child: World.emily, on: false))
    world.ask(World.question(1, Handle("no", .custom)))
    world.guardian(1, .setLimits(child: World.emily, on: true))
    let question = World.question(2, Self.handle)
    world.ask(question)
    world.guardian(1, .answer(question.id, choice: "approve"))
    meet()
    #expect(app.known.sorted() == [Self.handle])
    // The device loses its store, and a guardian withdraws the approval.
    world.disconnect(3)
    world.disks[3] = nil
    world.guardian(1, .withdraw(child: World.emily, .handle(Self.handle, in: nil)))
    world.restoreChild(3, 3)
    world.connect(3)
    meet()
    #expect(app.known.sorted().isEmpty)
  }

  @Test("R6: acknowledging an entry without a response does not acknowledge later responses")
  func notAResponse() {
    var machine = Self.restarted()
    let effects = machine.step(Self.entry(1, isResponse: false))
    #expect(effects.contains(.send(.acknowledge(1))))
    #expect(Self.delivered(machine.step(Self.entry(2))) == [2])
    #expect(Self.delivered(machine.step(Self.entry(3))) == [3])
  }
}
