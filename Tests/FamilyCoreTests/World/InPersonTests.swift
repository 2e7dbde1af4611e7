import FamilyCore
import FamilyModel
import Testing

@Suite struct InPersonTests {
  private var world = World()
  private let question = World.question(1)

  private mutating func open(_ question: Question? = nil) {
    world.guardian(1, .setPasscode(FakePasscode.make("1234")))
    world.child(3, .app(World.app, .attach(app: World.app, applied: 0)))
    world.child(3, .app(World.app, .ask(question ?? self.question, .choose)))
    world.answerPrompt(.inPerson)
  }

  @Test("A4: the right passcode decides at once and without a bubble, on every device")
  mutating func approve() {
    open()
    world.type("1234")
    #expect(world.outcome(question) == .answeredInPerson(approved: true))
    #expect(world.responses().map(\.body) == [.response(question, .approve)])
    #expect(world.bubbles(on: 1).isEmpty)
    for id: UInt32 in [1, 2, 4] {
      guard case .answered(let choice, let device, _) = world.phase(question, on: id) else {
        Issue.record("device \(id) does not know the decision")
        continue
      }
      #expect(choice.id == "approve")
      #expect(device == DeviceID(3))
    }
    let ada = Handle("ada", .custom)
    #expect(world.children[4]!.knownHandles(in: World.app) == [ada])
  }

  @Test("A4: the passcode prompt accepts any of the question's choices")
  mutating func choice() {
    let hour = Choice(id: "hour", title: "One hour", answer: .approval)
    let custom = World.question(1, choices: [.approve, hour, .decline])
    open(custom)
    world.type("1234", choice: "hour")
    #expect(world.responses().map(\.body) == [.response(custom, hour)])
  }

  @Test("A4: a wrong passcode makes no decision") mutating func wrong() {
    open()
    world.type("9999")
    #expect(world.outcome(question) == nil)
    guard case .passcode(_, _, wait: .zero, wrong: true) = world.prompt(3)?.prompt else {
      Issue.record("it is not asked for again")
      return
    }
    #expect(world.log.allSatisfy { if case .answeredInPerson = $0.body { false } else { true } })
    world.answerPrompt(.cancel)
    #expect(world.outcome(question) == .cancelled)
  }

  @Test(
    "A4: wrong attempts extend the delay, which survives a restart and a kill before the check"
  )
  mutating func delays() {
    open()
    for _ in 0..<3 { world.type("9999") }
    guard case .passcode(_, _, wait: .minutes(1), wrong: true) = world.prompt(3)?.prompt else {
      Issue.record("no wait after three wrong tries: \(String(describing: world.prompt(3)))")
      return
    }
    // The right passcode is not checked before the delay ends.
    world.type("1234")
    #expect(world.outcome(question) == nil)

    world.restoreChild(3, 3)
    world.connect(3)
    world.child(3, .app(World.app, .attach(app: World.app, applied: 0)))
    world.child(3, .app(World.app, .ask(question, .inPerson)))
    guard case .passcode(_, _, wait: .minutes(1), wrong: false) = world.prompt(3)?.prompt else {
      Issue.record("the wait did not survive the restart")
      return
    }
    world.wait(.minutes(1))
    // The attempt counts although the device is killed during the check.
    world.checksPasscodes = false
    world.type("9999")
    world.restoreChild(3, 3)
    world.checksPasscodes = true
    world.child(3, .app(World.app, .ask(question, .inPerson)))
    guard case .passcode(_, _, wait: .minutes(5), wrong: false) = world.prompt(3)?.prompt else {
      Issue.record("the kill undid a try")
      return
    }
    world.wait(.minutes(5))
    world.child(3, .app(World.app, .attach(app: World.app, applied: 0)))
    world.connect(3)
    world.type("1234")
    #expect(world.responses().map(\.body) == [.response(question, .approve)])
  }

  @Test("A4: the right passcode resets the count of wrong attempts") mutating func reset() {
    open()
    for _ in 0..<2 { world.type("9999") }
    world.type("1234")
    let next = World.question(2, Handle("ben", .custom))
    world.child(3, .app(World.app, .ask(next, .inPerson)))
    for _ in 0..<2 { world.type("9999") }
    guard case .passcode(_, _, wait: .zero, wrong: true) = world.prompt(3)?.prompt else {
      Issue.record("two wrong tries are punished")
      return
    }
  }

  @Test("A4: only guardians set the passcode, and a new one invalidates the old one")
  mutating func change() {
    #expect(world.command(3, .setPasscode(FakePasscode.make("0000"))) == .notPermitted)
    #expect(world.command(5, .setPasscode(FakePasscode.make("0000"))) == .notPermitted)
    open()
    world.guardian(2, .setPasscode(FakePasscode.make("5678")))
    world.type("1234")
    #expect(world.outcome(question) == nil)
    world.type("5678")
    #expect(world.outcome(question) == .answeredInPerson(approved: true))
  }

  @Test("A4: rejects approvals of a child's device without the passcode, whatever it sends")
  mutating func forged() {
    let header = QuestionHeader(
      id: question.id, child: World.emily, app: World.app, subjects: [1],
      choices: [ChoiceHeader(id: "approve", answer: .approval)], expiration: nil)
    func forged(_ proof: [UInt8]) -> Command {
      .answerInPerson(header, .question(question), choice: "approve", proof: proof)
    }
    #expect(world.command(3, forged([1, 2, 3])) == .noPasscode)
    let passcode = FakePasscode.make("1234")
    world.guardian(1, .setPasscode(passcode))
    #expect(world.command(3, forged([1, 2, 3])) == .noProof)
    // A proof for another choice or another question is invalid.
    var other = header
    other.id = ID128(high: 42, low: 99)
    for bytes in [
      InPerson.signedBytes(family: World.family, header: other, choice: "approve"),
      InPerson.signedBytes(family: World.family, header: header, choice: "decline"),
      InPerson.signedBytes(family: FamilyID(2), header: header, choice: "approve"),
    ] {
      #expect(world.command(3, forged(FakePasscode.sign("1234", passcode, bytes)!)) == .noProof)
    }
    let bytes = InPerson.signedBytes(family: World.family, header: header, choice: "approve")
    #expect(world.command(3, forged(FakePasscode.sign("1234", passcode, bytes)!)) == nil)
  }
}
