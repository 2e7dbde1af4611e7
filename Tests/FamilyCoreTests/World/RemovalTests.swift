import FamilyCore
import FamilyModel
import Testing

/// A child's device that a guardian removed.
@Suite struct RemovalTests {
  private let question = World.question(1)

  /// A family without device 3, which learns it from the roster or, if it was away, from the relay.
  private func removed(whileAway isAway: Bool, _ world: inout World) {
    if isAway { world.disconnect(3) }
    var roster = World.roster
    roster.devices.removeAll { $0.id == DeviceID(3) }
    world.administrate(.setRoster(roster))
    // A connected device is still subscribed to the old channel, on which it receives the roster.
    let event = world.log.last { if case .rosterChanged = $0.body { true } else { false } }
    if isAway { world.connect(3) } else { world.child(3, .broadcast(.event(event!))) }
  }

  @Test(
    "F9, A8: a removed device refuses questions and age requests, without a prompt",
    arguments: [false, true])
  func refuses(_ isAway: Bool) {
    var world = World.withAccount()
    world.guardian(1, .setAge(World.emily, World.settings(.always)))
    world.askAge(1)
    #expect(world.ageReply(1) != .failed(.notEnrolled))
    removed(whileAway: isAway, &world)
    #expect(world.children[3]!.link.isShutOut && !world.children[4]!.link.isShutOut)
    world.forgetSeen()
    for manner in [AskManner.choose, .byMessage, .inPerson] {
      world.child(3, .app(World.app, .ask(question, manner)))
      #expect(world.outcome(question) == .refused(.notEnrolled))
      world.forgetSeen()
    }
    world.askAge(2)
    #expect(world.ageReply(2) == .failed(.notEnrolled))
    world.askAge(3, nil)
    #expect(world.ageReply(3) == .failed(.notEnrolled))
    #expect(world.prompt(3) == nil && world.ageNotices().isEmpty)
    // Another device of the child still asks.
    world.child(4, .app(World.app, .ask(question, .choose)))
    #expect(world.prompt(4) != nil)
  }

  @Test("F9: a prompt that was open at the removal ends with the refusal, and shares no age")
  func openPrompt() {
    var world = World.withAccount()
    world.child(3, .app(World.app, .ask(question, .choose)))
    let shown = world.prompt(3)!.number
    world.askAge(1)
    removed(whileAway: false, &world)
    world.answerPrompt(.share)
    #expect(world.ageReply(1) == .failed(.notEnrolled))
    world.child(3, .answered(prompt: shown, .askByMessage))
    #expect(world.outcome(question) == .refused(.notEnrolled))
  }

  @Test("F9: the relay's refusal ends when the relay serves the device again")
  func served() {
    var world = World()
    world.child(3, .reply(0, .failed(.notEnrolled)))
    #expect(world.children[3]!.link.isShutOut)
    world.disconnect(3)
    world.connect(3)
    #expect(!world.children[3]!.link.isShutOut)
    world.ask(question)
    #expect(world.outcome(question) == .sent)
  }
}
