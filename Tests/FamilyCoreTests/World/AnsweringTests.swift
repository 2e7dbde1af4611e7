import FamilyCore
import FamilyModel
import Testing

@Suite struct AnsweringTests {
  private var world = World()
  private let question = World.question(1)

  @Test("R1, M2: shows every guardian the bubble at once; a guardian may decline from it")
  mutating func seen() {
    world.ask(question)
    #expect(world.bubbles(on: 1).map(\.question) == [question])
    #expect(world.bubbles(on: 2).map(\.question) == [question])
    world.guardian(1, .answer(question.id, choice: "decline"))
    #expect(world.responses().map(\.body) == [.response(question, .decline)])
  }

  @Test("R2: offers the question's own choices for review") mutating func choices() {
    let hour = Choice(id: "hour", title: "One hour", answer: .approval)
    let custom = World.question(1, choices: [hour, .decline])
    world.ask(custom)
    #expect(world.bubbles(on: 1).first?.question.choices == [hour, .decline])
    world.guardian(1, .answer(custom.id, choice: "hour"))
    #expect(world.responses().map(\.body) == [.response(custom, hour)])
  }

  @Test("R3: of two simultaneous decisions the first wins on every device")
  mutating func race() {
    world.ask(question)
    world.disconnect(1)
    world.guardian(1, .answer(question.id, choice: "approve"))
    world.guardian(2, .answer(question.id, choice: "decline"))
    world.connect(1)
    for id: UInt32 in [1, 2, 3, 4] {
      guard case .answered(let choice, let device, _) = world.phase(question, on: id) else {
        Issue.record("device \(id) has no answer")
        continue
      }
      #expect(choice.id == "decline")
      #expect(device == DeviceID(2))
    }
    #expect(
      world.notices(on: 1).contains(
        .refused(.answer(question.id, choice: "approve"), .alreadyAnswered)))
    #expect(world.responses().count == 1)
  }

  @Test("R4, R5, F3: the decision enters the conversation and notifies all the child's devices")
  mutating func notifies() {
    world.ask(question)
    world.guardian(2, .answer(question.id, choice: "approve"))
    let decided = Notice.decided(
      question.id, ChoiceHeader(id: "approve", answer: .approval), by: PersonID(2))
    for id: UInt32 in [1, 3, 4] { #expect(world.notices(on: id).contains(decided)) }
  }

  @Test("R6: detects an app that ended silently by its missing acknowledgement")
  mutating func silent() {
    world.ask(question)
    _ = world.take(3)
    world.guardian(1, .answer(question.id, choice: "approve"))
    #expect(world.responses().count == 1)
    world.wait(Timing.firstRequestTimeout - .milliseconds(10))
    #expect(world.responses().count == 1)
    world.wait(.milliseconds(20))
    // The shell cannot send the entry, because the app has no connection.
    #expect(world.responses().count == 2)
    world.child(3, .appGone(World.app, exited: false))
    let launch = DeviceEffect.launch(World.app, budget: Timing.launchBudget)
    #expect(world.take(3).contains(launch))
    world.child(3, .app(World.app, .attach(app: World.app, applied: 0)))
    world.acknowledgeFirst()
    _ = world.take(3)
    world.wait(Timing.firstRequestTimeout * 4)
    #expect(world.responses().isEmpty)
  }

  @Test(
    "R6: launches an app that does not run, with growing delays until it acknowledges")
  mutating func launches() {
    world.ask(question)
    world.child(3, .appGone(World.app, exited: true))
    _ = world.take(3)
    world.guardian(1, .answer(question.id, choice: "approve"))
    func launches() -> Int {
      (world.seen[3] ?? []).count { if case .launch = $0 { true } else { false } }
    }
    #expect(launches() == 1)
    world.child(3, .appGone(World.app, exited: true))
    world.wait(Timing.firstRelaunchDelay - .milliseconds(2))
    #expect(launches() == 1)
    world.wait(.milliseconds(10))
    #expect(launches() == 2)
    world.child(3, .appGone(World.app, exited: true))
    world.wait(Timing.firstRelaunchDelay + .milliseconds(50))
    #expect(launches() == 2)
    world.wait(Timing.firstRelaunchDelay)
    #expect(launches() == 3)
    world.child(3, .app(World.app, .attach(app: World.app, applied: 0)))
    world.acknowledgeFirst()
    world.child(3, .appGone(World.app, exited: true))
    world.wait(.minutes(2))
    #expect(launches() == 3)
  }

  @Test("R6: terminates an app that exceeds its budget") mutating func budget() {
    world.ask(question)
    world.child(3, .appGone(World.app, exited: true))
    world.guardian(1, .answer(question.id, choice: "approve"))
    world.wait(Timing.launchBudget + .milliseconds(10))
    #expect(world.seen[3]?.contains(.terminate(World.app)) ?? false)
  }

  @Test("R7: delivers earlier responses first, in order, also after a crash")
  mutating func order() {
    for number: UInt64 in 1...3 {
      let question = World.question(number, Handle("h\(number)", .custom))
      world.ask(question)
      world.guardian(1, .answer(question.id, choice: "approve"))
    }
    let positions = Array(world.responses().map(\.position).suffix(3))
    world.acknowledgeFirst()
    world.restoreChild(3, 3)
    _ = world.take(3)
    world.child(3, .app(World.app, .attach(app: World.app, applied: positions[0])))
    #expect(positions == [positions[0], positions[0] + 1, positions[0] + 2])
    #expect(world.responses().map(\.position) == Array(positions[1...]))
  }

  @Test("R8: refuses an answer to an expired or cancelled question")
  mutating func late() {
    let short = World.question(1, Handle("a", .custom), expiration: world.now + .seconds(1))
    let gone = World.question(2, Handle("b", .custom))
    world.ask(short)
    world.ask(gone)
    world.child(3, .cancel(gone.id))
    world.wait(.milliseconds(1_001))
    world.guardian(1, .answer(short.id, choice: "approve"))
    world.guardian(1, .answer(gone.id, choice: "approve"))
    let refused = world.notices(on: 1)
    #expect(refused.contains(.refused(.answer(short.id, choice: "approve"), .expired)))
    #expect(refused.contains(.refused(.answer(gone.id, choice: "approve"), .cancelled)))
    #expect(world.responses().isEmpty)
  }

  @Test("K1, K5: knows approved names in their app, numbers in all apps, and contacts")
  mutating func known() {
    let phone = Handle("+1 555 0100", .phoneNumber)
    let both = World.question(1, Handle("ada", .custom), phone)
    world.ask(both)
    world.guardian(1, .answer(both.id, choice: "approve"))
    let child = world.children[3]!
    #expect(child.knownHandles(in: World.app) == [phone.canonical, Handle("ada", .custom)])
    #expect(child.knownHandles(in: World.otherApp) == [phone.canonical])
    let aunt = Handle("aunt@example.org", .emailAddress)
    world.guardian(1, .changeContact(child: World.emily, aunt, known: true))
    #expect(world.children[4]!.knownHandles(in: World.otherApp).contains(aunt))
    world.guardian(2, .changeContact(child: World.emily, aunt, known: false))
    #expect(!world.children[4]!.knownHandles(in: World.otherApp).contains(aunt))
  }

  @Test("K3, M5: a reconnected device converges, applying each event once and in order")
  mutating func converges() {
    world.disconnect(4)
    for number: UInt64 in 1...5 {
      let question = World.question(number, Handle("h\(number)", .custom))
      world.ask(question)
      world.guardian(1, .answer(question.id, choice: number == 3 ? "decline" : "approve"))
    }
    world.connect(4)
    #expect(
      world.children[4]!.knownHandles(in: World.app)
        == world.children[3]!.knownHandles(in: World.app))
    #expect(world.children[4]!.conversation?.lines == world.children[3]!.conversation?.lines)
    #expect(world.children[4]!.conversation?.lines.count == 10)
  }

  @Test(
    "X2, M3: lost broadcasts and a killed relay lose no event and keep one order for all",
    arguments: 1...40 as ClosedRange<UInt64>)
  mutating func faults(_ seed: UInt64) {
    var random = IDSource(seed: seed)
    for number: UInt64 in 1...12 {
      let question = World.question(number, Handle("h\(number)", .custom))
      world.lose = Int(random.next() % 4)
      if random.next() % 4 == 0 { world.restartRelay() }
      if random.next() % 4 == 0 { world.disconnect(UInt32(1 + random.next() % 4)) }
      if random.next() % 4 == 0 {
        world.restoreChild(3, 3)
        if !world.away.contains(3) { world.connect(3) }
      }
      world.ask(question)
      world.guardian(UInt32(1 + random.next() % 2), .answer(question.id, choice: "approve"))
      world.wait(.milliseconds(random.next() % 2_000))
    }
    world.lose = 0
    world.restartRelay()
    for id: UInt32 in [1, 2, 3, 4] { world.connect(id) }
    world.wait(.minutes(1))
    for bubble in world.guardians[2]!.open(now: world.now) {
      world.guardian(2, .answer(bubble.question.id, choice: "approve"))
    }
    world.wait(.minutes(1))
    let lines = world.guardians[1]!.link.conversations[World.emily]!.lines
    #expect(lines.map(\.seq) == lines.map(\.seq).sorted())
    for id: UInt32 in [3, 4] { #expect(world.children[id]!.conversation?.lines == lines) }
    #expect(world.guardians[2]!.link.conversations[World.emily]!.lines == lines)
    let decided = lines.count { if case .decision = $0.body { true } else { false } }
    #expect(decided == 12)
    #expect(world.children[3]!.knownHandles(in: World.app).count == decided)
    #expect(
      world.children[4]!.knownHandles(in: World.app)
        == world.children[3]!.knownHandles(in: World.app))
  }
}
