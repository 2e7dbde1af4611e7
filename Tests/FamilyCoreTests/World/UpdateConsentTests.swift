import FamilyModel
import Testing

@testable import FamilyCore

@Suite struct UpdateConsentTests {
  private var world = World()
  private let update = UpdateConsentTests.question(1)

  static func question(_ number: UInt64, defaultChoice: Choice = .decline) -> Question {
    Question(
      id: ID128(high: 43, low: number), topic: .significantUpdate(description: "New chats"),
      defaultChoice: defaultChoice)
  }

  @Test("Q11: asks about an update whether or not communication limits are on")
  mutating func limitsOff() {
    world.guardian(1, .setLimits(child: World.emily, on: false))
    world.ask(update)
    #expect(world.outcome(update) == .sent)
    #expect(world.bubbles(on: 1).map(\.question) == [update])
    world.guardian(1, .answer(update.id, choice: "approve"))
    #expect(world.responses().map(\.body) == [.response(update, .approve)])
  }

  @Test("Q11, A6: asks about the same update once while the question is open")
  mutating func repeated() {
    world.ask(update)
    world.child(3, .app(World.app, .ask(Self.question(2), .choose)))
    guard case .alreadyAsked = world.prompt(3)?.prompt else {
      Issue.record("no prompt about the open question")
      return
    }
    world.answerPrompt(.cancel)
    #expect(world.outcome(Self.question(2)) == .alreadyAsked(update.id))
    #expect(world.bubbles(on: 1).count == 1)
  }

  @Test("Q8: a relay's refusal is no response, whatever it claims about the limits")
  mutating func refusal() {
    world.disconnect(3)
    let question = Question(
      id: ID128(high: 42, low: 1), topic: World.question(1).topic, defaultChoice: .approve)
    world.ask(question)
    #expect(world.outcome(question) == .sent)
    for command in world.children[3]!.link.pendingCommandsByID {
      world.child(3, .reply(1, .refused(command.id, .limitsOff)))
    }
    #expect(world.children[3]!.link.pendingCommands.isEmpty)
    #expect(world.responses().isEmpty)
  }

  @Test("Q11: a child cannot acknowledge an update in the place of the guardians")
  mutating func acknowledgment() {
    world.child(3, .app(World.app, .attach(app: World.app, applied: 0)))
    world.child(3, .app(World.app, .ask(update, .acknowledge)))
    #expect(world.outcome(update) == .refused(.notPermitted))
    #expect(world.prompt(3) == nil)
    world.child(5, .app(World.app, .attach(app: World.app, applied: 0)))
    world.child(5, .app(World.app, .ask(update, .acknowledge)))
    world.answerPrompt(.acknowledge, on: 5)
    #expect(world.outcome(update, on: 5) == .acknowledged)
  }
}

/// The search covers sequences of five acts: one question of the app, then four acts.
@Suite struct ConsentSearchTests {
  private static let length = 4

  private func device(limitsOn: Bool) -> ConsentSearch.Device {
    var world = World()
    world.guardian(1, .choosePasscode("258013"))
    world.guardian(1, .setLimits(child: World.emily, on: limitsOn))
    return device(world.children[3]!, world.now)
  }

  private func deviceWithoutFamily() -> ConsentSearch.Device {
    let machine = ChildMachine(
      DeviceAddress(family: FamilyID(0), device: DeviceID(1)), of: PersonID(1), isInFamily: false,
      apps: [World.app], ids: IDSource(seed: 1), digest: { _, _ in [] })
    return device(machine, Instant(milliseconds: 1_000_000))
  }

  private func device(_ machine: ChildMachine, _ now: Instant) -> ConsentSearch.Device {
    var device = ConsentSearch.Device(machine: machine, now: now)
    _ = device.step(.app(World.app, .attach(app: World.app, applied: 0)))
    return device
  }

  @Test(
    "Q11: no sequence of a child's acts ends in an approved update",
    arguments: [AskManner.choose, .byMessage, .inPerson, .acknowledge], [true, false])
  func inFamily(_ manner: AskManner, limitsOn: Bool) {
    var device = device(limitsOn: limitsOn)
    _ = device.perform(.ask(manner))
    var search = ConsentSearch()
    let approval = search.approval(on: device, length: Self.length)
    #expect(approval == nil)
    #expect(search.count > 1_000)
  }

  @Test(
    "Q11: without a family, no sequence of acts ends in an approved update",
    arguments: [AskManner.choose, .byMessage, .inPerson])
  func withoutFamily(_ manner: AskManner) {
    var device = deviceWithoutFamily()
    let effects = device.perform(.ask(manner)) ?? []
    #expect(!effects.contains { $0.isApproval })
    var search = ConsentSearch()
    let approval = search.approval(on: device, length: Self.length)
    #expect(approval == nil)
  }

  @Test("the search finds a device that lets a child's OK through") func mutant() {
    var device = device(limitsOn: true)
    device.letsOKThrough = true
    _ = device.perform(.ask(.choose))
    var search = ConsentSearch()
    let approval = search.approval(on: device, length: 1)
    #expect(approval == [.answer(.acknowledge)])
  }

  @Test("the search finds an approval with the passcode") func passcode() {
    var device = device(limitsOn: true)
    _ = device.perform(.ask(.inPerson))
    let prompt = device.prompt!
    let sent = device.machine.step(
      .answered(prompt: prompt, .passcode("258013", choice: nil)), now: device.now)
    for case .send(let number, .evaluate(let element, _)) in sent {
      let secret = PasscodeEvaluator.ideal.makeSecret()
      let evaluation = PasscodeEvaluator.ideal.evaluate(secret, element)
      _ = device.machine.step(.reply(number, .evaluated(evaluation!)), now: device.now)
    }
    let effects = device.step(.passcodeChecked(prompt: prompt, proof: [1]))
    #expect(effects.contains { $0.isApproval })
  }
}
