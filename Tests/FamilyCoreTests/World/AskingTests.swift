import FamilyCore
import FamilyModel
import Testing

@Suite struct AskingTests {
  private var world = World()
  private let question = World.question(1)

  @Test("A1: prompts the child before anything is sent") mutating func prompt() {
    world.child(3, .app(World.app, .attach(app: World.app, applied: 0)))
    world.child(3, .app(World.app, .ask(question, .choose)))
    #expect(world.prompt(3)?.prompt == .permission(World.app, question))
    #expect(world.bubbles(on: 1).isEmpty)
    world.answerPrompt(.inPerson)
    #expect(world.notices(on: 3).contains(.noPasscode))
    #expect(world.prompt(3)?.prompt == .permission(World.app, question))
  }

  @Test("A1: each prompt names the window that asked, also with several windows")
  mutating func windows() {
    world.child(3, .app(World.app, .attach(app: World.app, applied: 0)))
    world.child(3, .app(World.app, .ask(question, .choose, window: "Chats")))
    world.child(3, .app(World.app, .ask(World.question(2), .inPerson, window: "Photos")))
    world.child(3, .app(World.app, .ask(World.question(3), .byMessage)))
    world.child(3, .answered(prompt: 1, .askByMessage))
    let shown = world.seen[3]!.compactMap { effect -> String? in
      switch effect {
      case .prompt(_, .permission, let window): "permission \(window)"
      case .prompt(_, .compose, let window): "compose \(window)"
      default: nil
      }
    }
    #expect(shown == ["permission Chats", "compose ", "compose Chats"])
  }

  @Test("A2, M6: addresses the compose sheet to all guardians and sends the names entered there")
  mutating func compose() {
    world.child(3, .app(World.app, .attach(app: World.app, applied: 0)))
    world.child(3, .app(World.app, .ask(question, .choose)))
    world.answerPrompt(.askByMessage)
    guard case .compose(_, _, let guardians) = world.prompt(3)?.prompt else {
      Issue.record("no compose sheet")
      return
    }
    #expect(guardians.map(\.displayName) == ["Rosa", "Alex"])
    var name = NameParts()
    name.given = "Ada"
    world.answerPrompt(.send(names: [name]))
    let bubble = world.bubbles(on: 2).first
    #expect(bubble?.child.displayName == "Emily")
    #expect(bubble?.app == World.app)
    guard case .communication(let people, let actions) = bubble?.question.topic else {
      Issue.record("no topic")
      return
    }
    #expect(people.first?.name?.given == "Ada")
    #expect(actions == .message)
  }

  @Test("A3, X2: a sent question survives a crash of the child's device while the relay is away")
  mutating func durable() {
    world.disconnect(3)
    world.ask(question)
    #expect(world.outcome(question) == .sent)
    #expect(world.bubbles(on: 1).isEmpty)
    world.restoreChild(3, 3)
    world.connect(3)
    #expect(world.bubbles(on: 1).map(\.question) == [question])
    #expect(world.log.count { if case .asked = $0.body { true } else { false } } == 1)
  }

  @Test(
    "A5: cancelling the prompt or the sheet sends nothing and gives no response",
    arguments: [false, true])
  mutating func cancel(_ onSheet: Bool) {
    world.child(3, .app(World.app, .attach(app: World.app, applied: 0)))
    world.child(3, .app(World.app, .ask(question, .choose)))
    if onSheet { world.answerPrompt(.askByMessage) }
    world.answerPrompt(.cancel)
    #expect(world.outcome(question) == .cancelled)
    #expect(world.bubbles(on: 1).isEmpty)
    #expect(world.responses().isEmpty)
  }

  @Test(
    "A6: offers a reminder instead of a second question about the same people, once per interval")
  mutating func again() {
    world.ask(question)
    let same = World.question(2)
    world.child(3, .app(World.app, .ask(same, .choose)))
    guard case .alreadyAsked(_, _, false) = world.prompt(3)?.prompt else {
      Issue.record("asked again")
      return
    }
    world.answerPrompt(.remind)
    #expect(world.outcome(same) == .alreadyAsked(question.id))
    world.wait(Limits.reminderInterval)
    world.child(3, .app(World.app, .ask(World.question(3), .choose)))
    guard case .alreadyAsked(_, _, true) = world.prompt(3)?.prompt else {
      Issue.record("no reminder offered")
      return
    }
    world.answerPrompt(.remind)
    #expect(world.notices(on: 1).contains(.reminded(question.id)))
    #expect(world.bubbles(on: 1).count == 1)
  }

  @Test("A6, R6: a question behind an open prompt is in no outbox, and a restart prompts again")
  mutating func openPrompt() {
    world.ask(question)
    let same = World.question(2)
    let ask = ChildMachine.Input.app(World.app, .ask(same, .byMessage))
    world.child(3, ask)
    guard case .alreadyAsked = world.prompt(3)?.prompt else {
      Issue.record("asked again")
      return
    }
    world.guardian(1, .answer(question.id, choice: "approve"))
    world.wait(.minutes(3))
    #expect(world.children[3]!.link.pendingCommands.isEmpty)
    #expect(world.outcome(same) == nil)
    #expect(world.phase(same, on: 1) == nil)
    // The app has no outcome, so it repeats the question. The first one is no longer open.
    world.restoreChild(3, 3)
    world.connect(3)
    world.child(3, .app(World.app, .attach(app: World.app, applied: 0)))
    world.child(3, ask)
    guard case .compose = world.prompt(3)?.prompt else {
      Issue.record("no prompt after the restart")
      return
    }
    world.answerPrompt(.send(names: []))
    #expect(world.outcome(same) == .sent)
    #expect(world.bubbles(on: 1).contains { $0.question == same })
  }

  @Test("F6, Q8: with limits off, a question sends nothing and gets its default choice")
  mutating func limitsOff() {
    world.guardian(1, .setLimits(child: World.emily, on: false))
    world.ask(question)
    #expect(world.outcome(question) == .answeredByDefault)
    #expect(world.responses().map(\.body) == [.response(question, .decline)])
    #expect(world.bubbles(on: 1).isEmpty)
    world.guardian(1, .setLimits(child: World.emily, on: true))
    world.ask(World.question(2))
    #expect(world.bubbles(on: 1).count == 1)
  }

  @Test(
    "K3, Q8: with limits off, a contact reaches the app whose question named the person",
    arguments: [true, false])
  mutating func limitsOffNames(isEarlier: Bool) {
    let ada = Handle("ada", .custom)
    world.guardian(1, .setLimits(child: World.emily, on: false))
    if isEarlier { world.guardian(1, .changeContact(child: World.emily, ada, known: true)) }
    // The app's own message with the names is lost.
    world.ask(question)
    if !isEarlier {
      world.acknowledgeFirst()
      world.guardian(1, .changeContact(child: World.emily, ada, known: true))
    }
    let entries = world.take(3).compactMap { effect -> AppEntry.Body? in
      if case .app(World.app, .entry(let entry)) = effect { entry.body } else { nil }
    }
    #expect(entries == [.response(question, .decline), .known([ada])])
  }

  @Test("X2: a question that its default answers names no people above the limit")
  mutating func limitsOffManyNames() {
    world.guardian(1, .setLimits(child: World.emily, on: false))
    let many = (0..<Limits.namedHandles).map { Handle("person\($0)", .custom) }
    world.child(3, .app(World.app, .name(many)))
    world.ask(question)
    let named = world.machines.records(of: 3).count { if case .named = $0 { true } else { false } }
    #expect(named == Limits.namedHandles)
    #expect(world.outcome(question) == .answeredByDefault)
  }

  @Test("F7, Q8: without a family, a question gets its default choice") func noFamily() {
    var machine = ChildMachine(
      DeviceAddress(family: FamilyID(0), device: DeviceID(1)), of: PersonID(1), isInFamily: false,
      apps: [World.app], ids: IDSource(seed: 1), digest: { _, _ in [] })
    let now = Instant(milliseconds: 1)
    _ = machine.step(.app(World.app, .attach(app: World.app, applied: 0)), now: now)
    let effects = machine.step(.app(World.app, .ask(question, .choose)), now: now)
    #expect(effects.contains(.app(World.app, .asked(question.id, .answeredByDefault))))
    #expect(!effects.contains { if case .send = $0 { true } else { false } })
  }

  @Test("Q9: refuses a question from an adult") mutating func adult() {
    world.ask(question, on: 5)
    #expect(world.outcome(question, on: 5) == .refused(.notAChild))
    #expect(world.bubbles(on: 1).isEmpty)
  }

  @Test("Q10: refuses an invalid question before any prompt") mutating func bad() {
    let late = World.question(1, Handle("", .custom))
    world.ask(late)
    #expect(world.outcome(late) == .refused(.emptyHandle))
    #expect(world.prompt(3) == nil)
  }

  @Test("Q4, Q5: sends the actions and the description of an update to the guardian")
  mutating func topics() {
    let update = Question(
      id: ID128(high: 1, low: 1), topic: .significantUpdate(description: "New chats"))
    world.ask(update)
    #expect(world.bubbles(on: 2).last?.question.topic == update.topic)
  }

  @Test("M4: the delivery state is sent, delivered, read, answered") mutating func states() {
    world.disconnect(1)
    world.disconnect(2)
    world.ask(question)
    func state() -> DeliveryState? { world.children[3]!.conversation?.delivery(of: question.id) }
    #expect(state() == .sent)
    world.connect(2)
    #expect(state() == .delivered)
    world.guardian(2, .seen(child: World.emily, seq: world.bubbles(on: 2)[0].seq))
    #expect(state() == .read)
    world.guardian(2, .answer(question.id, choice: "decline"))
    #expect(state() == .answered)
  }

  @Test("M4: an answer marks the child's earlier messages as delivered and read")
  mutating func answeredBefore() throws {
    world.disconnect(1)
    world.disconnect(2)
    world.child(3, .post("Can we go?"))
    let seq = try #require(world.children[3]!.conversation?.lines.last?.seq)
    func state() -> DeliveryState? { world.children[3]!.conversation?.delivery(ofSeq: seq) }
    world.ask(question)
    #expect(state() == .sent)
    world.connect(2)
    #expect(state() == .delivered)
    world.guardian(2, .answer(question.id, choice: "decline"))
    #expect(state() == .read)
  }

  @Test("M1: text messages enter the same conversation, in one order for all")
  mutating func texts() {
    world.child(3, .post("Can we go?"))
    world.guardian(1, .post(child: World.emily, "Yes"))
    let lines = [1, 2].map { world.guardians[$0]!.link.conversations[World.emily]!.lines }
    #expect(lines[0].map(\.body) == [.text("Can we go?"), .text("Yes")])
    #expect(lines[0] == lines[1])
    #expect(world.children[4]!.conversation?.lines == lines[0])
  }
}
