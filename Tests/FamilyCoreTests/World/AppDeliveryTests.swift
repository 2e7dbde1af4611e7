import FamilyCore
import FamilyModel
import Testing

/// The way of a response to its app, and the requests of an app that waits.
@Suite struct AppDeliveryTests {
  private var world = World()
  private let question = World.question(1)

  private func delivery() -> AppDelivery {
    world.machines.children[3]!.delivery(to: World.app)!
  }

  @Test("R6: reports what a response waits for, from its arrival to its acknowledgement")
  mutating func steps() {
    #expect(delivery().state == .idle)
    world.ask(question)
    world.child(3, .app(World.app, .detach))
    _ = world.take(3)
    world.guardian(1, .answer(question.id, choice: "approve"))
    #expect(delivery().state == .launched && delivery().failedLaunches == 0)
    #expect(delivery().responses.map(\.question) == [question.id])
    world.child(3, .appGone(World.app, exited: true))
    #expect(delivery().state == .waiting(until: world.now + Timing.firstRelaunchDelay))
    #expect(delivery().failedLaunches == 1)
    world.wait(Timing.firstRelaunchDelay)
    #expect(delivery().state == .launched)
    world.child(3, .app(World.app, .attach(app: World.app, applied: 0)))
    #expect(delivery().state == .attached)
    world.acknowledgeFirst()
    #expect(delivery().state == .idle && delivery().failedLaunches == 0)
    #expect(delivery().responses == [] && delivery().entries == 0)
  }

  @Test("R6: reports a contact that waits for an app that has never registered")
  mutating func unregistered() {
    let handle = Handle("+1 555 0100", .phoneNumber)
    world.child(3, .app(World.app, .name([handle])))
    world.guardian(1, .changeContact(child: World.emily, handle, known: true))
    #expect(delivery().state == .notRegistered && delivery().entries == 1)
    #expect(delivery().responses == [])
  }

  @Test("R7: a question registers its app, which the answer launches") mutating func registers() {
    world.child(3, .app(World.app, .attach(app: World.app, applied: 0)))
    world.child(3, .app(World.app, .ask(question, .choose)))
    world.answerPrompt(.askByMessage)
    world.answerPrompt(.send(names: []))
    world.child(3, .app(World.app, .detach))
    _ = world.take(3)
    world.guardian(1, .answer(question.id, choice: "approve"))
    #expect(world.take(3).contains(.launch(World.app, budget: Timing.launchBudget)))
  }

  @Test("A8: a device answers a ping at once, also without a session and during a prompt")
  mutating func pings() {
    world.child(3, .app(World.app, .ping))
    #expect(world.take(3) == [.app(World.app, .pong)])
    world.child(3, .app(World.app, .ask(question, .choose)))
    _ = world.take(3)
    world.child(3, .app(World.app, .ping))
    #expect(world.take(3) == [.app(World.app, .pong)])
  }

  @Test("A8: an abandoned call is not repeated, and its late outcome reaches no later call")
  func abandons() {
    var machine = AppMachine(World.app)
    _ = machine.step(.connected)
    _ = machine.step(.ask(question, .choose))
    _ = machine.step(.askAge(7, gates: [16]))
    #expect(machine.step(.abandonAsk(question.id)) == [])
    #expect(machine.step(.abandonAge(7)) == [])
    _ = machine.step(.disconnected)
    let people = question.topic.handles.map(\.canonical)
    #expect(
      machine.step(.connected) == [
        .send(.attach(app: World.app, applied: 0)), .send(.name(people)),
      ]
    )
    #expect(machine.step(.reply(.asked(question.id, .sent))) == [])
    #expect(machine.step(.reply(.age(7, .declined))) == [])
  }

  @Test("R7: reading responses registers an app once, also before its connection")
  func reads() {
    var machine = AppMachine(World.app)
    #expect(machine.step(.register) == [])
    let attach = AppMachine.Effect.send(.attach(app: World.app, applied: 0))
    #expect(machine.step(.connected) == [attach, .send(.register)])
    #expect(machine.step(.register) == [])
    #expect(machine.step(.subscribe(.communication)) == [])
  }
}
