import FamilyModel
import Testing

@testable import FamilyCore

@Suite struct InPersonTests {
  private var world = World()
  private let question = World.question(1)

  private mutating func open(_ question: Question? = nil) {
    world.guardian(1, .choosePasscode("123456"))
    world.child(3, .app(World.app, .attach(app: World.app, applied: 0)))
    world.child(3, .app(World.app, .ask(question ?? self.question, .choose)))
    world.answerPrompt(.inPerson)
  }

  @Test("A4: the right passcode decides at once and without a bubble, on every device")
  mutating func approve() {
    open()
    world.type("123456")
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
    world.type("123456", choice: "hour")
    #expect(world.responses().map(\.body) == [.response(custom, hour)])
  }

  @Test("A4: a wrong passcode makes no decision") mutating func wrong() {
    open()
    for typed in ["999999", "12"] {
      world.type(typed)
      #expect(world.outcome(question) == nil)
      #expect(passcodePrompt()?.failure == .wrong && passcodePrompt()?.wait == .zero)
    }
    #expect(world.log.allSatisfy { if case .answeredInPerson = $0.body { false } else { true } })
    world.answerPrompt(.cancel)
    #expect(world.outcome(question) == .cancelled)
  }

  /// The wait, and the reason of the failure, in the present prompt for the passcode.
  private func passcodePrompt() -> (wait: Milliseconds, failure: PasscodeFailure?)? {
    guard case .passcode(_, _, let wait, let failure) = world.prompt(3)?.prompt else { return nil }
    return (wait, failure)
  }

  @Test(
    "A4, T8: wrong passcodes lock all devices, whatever their clocks, restarts and kills"
  )
  mutating func delays() {
    open()
    for _ in 0..<5 { world.type("999999") }
    #expect(passcodePrompt()?.failure == .wrong)
    // The relay does not evaluate the right passcode before the delay ends.
    let wait = Milliseconds.minutes(1)
    world.type("123456")
    let locked = PasscodeFailure.unchecked(.passcodeLocked(retryAfter: wait))
    #expect(passcodePrompt()! == (wait, locked) && world.outcome(question) == nil)

    // Another device of the child, a restart of the device, and a restart of the relay.
    world.restoreChild(3, 3)
    world.connect(3)
    world.restartRelay()
    world.child(3, .app(World.app, .attach(app: World.app, applied: 0)))
    world.child(3, .app(World.app, .ask(question, .inPerson)))
    world.type("123456")
    #expect(passcodePrompt()! == (wait, locked))
    world.child(4, .app(World.app, .attach(app: World.app, applied: 0)))
    world.child(4, .app(World.app, .ask(World.question(9), .inPerson)))
    world.type("123456", on: 4)
    guard case .passcode(_, _, wait, after: locked) = world.prompt(4)?.prompt else {
      Issue.record("the other device may guess")
      return
    }
    world.wait(wait)
    // The guess counts although the device is killed during the check.
    world.checksPasscodes = false
    world.type("999999")
    world.restoreChild(3, 3)
    world.connect(3)
    world.checksPasscodes = true
    world.child(3, .app(World.app, .attach(app: World.app, applied: 0)))
    world.child(3, .app(World.app, .ask(question, .inPerson)))
    world.type("123456")
    #expect(passcodePrompt()?.wait == .minutes(5))
    world.wait(.minutes(5))
    world.type("123456")
    #expect(world.responses().map(\.body) == [.response(question, .approve)])
  }

  @Test("A4: the right passcode resets the count of wrong attempts") mutating func reset() {
    open()
    for _ in 0..<4 { world.type("999999") }
    world.type("123456")
    let next = World.question(2, Handle("ben", .custom))
    world.child(3, .app(World.app, .ask(next, .inPerson)))
    for _ in 0..<4 { world.type("999999") }
    world.type("123456")
    #expect(world.outcome(next) == .answeredInPerson(approved: true))
  }

  @Test("T8: without the relay the prompt says so, and the passcode is not checked")
  mutating func offline() {
    open()
    world.disconnect(3)
    world.type("123456")
    #expect(passcodePrompt()?.failure == .unchecked(.noRelay))
    // The connection is up, but no reply arrives.
    world.connect(3)
    world.losesEvaluations = true
    world.type("123456")
    world.wait(.seconds(30))
    #expect(passcodePrompt()?.failure == .unchecked(.noRelay))
    world.type("123456")
    world.disconnect(3)
    #expect(passcodePrompt()?.failure == .unchecked(.noRelay))
    world.losesEvaluations = false
    world.connect(3)
    world.type("123456")
    #expect(world.outcome(question) == .answeredInPerson(approved: true))
  }

  @Test("T8: a guardian without the relay learns that the passcode is not set")
  mutating func guardianOffline() {
    world.disconnect(1)
    world.guardian(1, .choosePasscode("123456"))
    world.guardian(1, .choosePasscode("12345"))
    #expect(world.notices(on: 1) == [.passcodeNotSet(.noRelay), .passcodeNotSet(.badText)])
    world.connect(1)
    world.guardian(1, .choosePasscode("123456"))
    #expect(world.children[3]!.link.passcode != nil)
  }

  @Test("T8: the proof has the relay's time, whatever the device's clock")
  mutating func clock() throws {
    for offset in [Milliseconds.days(400), .zero - .days(10)] {
      var world = World()
      world.guardian(1, .choosePasscode("123456"))
      var device = ConsentSearch.Device(
        machine: world.children[3]!, now: world.now + offset,
        uptime: Milliseconds(world.now.milliseconds))
      _ = device.step(.app(World.app, .attach(app: World.app, applied: 0)))
      _ = device.step(.app(World.app, .ask(question, .inPerson)))
      let prompt = try #require(device.prompt)
      var effects = device.step(.answered(prompt: prompt, .passcode("123456", choice: nil)))
      #expect(effects.contains { if case .checkPasscode = $0 { true } else { false } })
      device.proof = [1]
      let next = try #require(device.prompt)
      effects = device.step(.answered(prompt: next, .passcode("123456", choice: nil)))
      let id = try #require(device.machine.link.pendingCommandsByID.last?.id)
      try InPerson.check(timeOf: id, at: world.now)
    }
  }

  @Test("A4: only guardians set the passcode, and a new one invalidates the old one")
  mutating func change() {
    #expect(world.command(3, .setPasscode(FakePasscode.make("0000"))) == .notPermitted)
    #expect(world.command(5, .setPasscode(FakePasscode.make("0000"))) == .notPermitted)
    open()
    world.guardian(2, .choosePasscode("567856"))
    world.type("123456")
    #expect(world.outcome(question) == nil)
    world.type("567856")
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
    world.guardian(1, .choosePasscode("123456"))
    let passcode = world.children[3]!.link.passcode!
    #expect(world.command(3, forged([1, 2, 3])) == .noProof)
    // A proof for other people, another choice, app, end, question, family or command is invalid.
    var others = Array(repeating: header, count: 5)
    others[0].id = ID128(high: 42, low: 99)
    others[1].subjects = [2]
    others[2].app = World.otherApp
    others[3].expiration = world.now + .hours(1)
    others[4].choices.removeLast()
    func bytes(
      _ header: QuestionHeader, _ choice: String = "approve", family: UInt64 = 1,
      command: CommandID? = nil
    ) -> [UInt8] {
      InPerson.signedBytes(
        family: FamilyID(family), command: command ?? world.nextForged, header: header,
        choice: choice, content: [])
    }
    let command = CommandID(high: world.nextForged.high, low: 77)
    for bytes in others.map({ bytes($0) }) + [
      bytes(header, "decline"), bytes(header, family: 2), bytes(header, command: command),
    ] {
      let proof = FakePasscode.sign("123456", passcode, bytes)!
      #expect(world.command(3, forged(proof)) == .noProof)
    }
    let proof = FakePasscode.sign("123456", passcode, bytes(header))!
    #expect(world.command(3, forged(proof)) == nil)
  }

  @Test("T8: rejects a proof of another time, on the relay and on devices") mutating func time() {
    open()
    let passcode = world.children[3]!.link.passcode!
    let limit = Limits.passcodeProofTime
    let early = Problem.earlyID(relayTime: world.now)
    for (number, age, problem) in [
      (UInt64(1), limit + .milliseconds(1), .proofOutdated),
      (2, .zero - limit - .milliseconds(1), early), (3, limit, nil), (4, .zero - limit, nil),
    ] as [(UInt64, Milliseconds, Problem?)] {
      let question = World.question(20 + number, Handle("h\(number)", .custom))
      let header = question.header(child: World.emily, app: World.app, subjects: [UInt8(number)])
      let time = world.now - age
      let id = CommandID(high: UInt64(time.milliseconds) << 16, low: number)
      let bytes = InPerson.signedBytes(
        family: World.family, command: id, header: header, choice: "approve", content: [])
      let command = Command.answerInPerson(
        header, .question(question), choice: "approve",
        proof: FakePasscode.sign("123456", passcode, bytes)!)
      #expect(world.request(3, .max, .command(id, command)) == problem)
    }
  }
}
