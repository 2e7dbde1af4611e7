import FamilyModel
import Testing

@testable import FamilyCore

/// The authorization of an app, and its settings, when processes are killed or devices are away.
@Suite struct ManagingKillTests {
  private static let site = Site("games.example")!

  private static var settings: ManagedSettings {
    var settings = ManagedSettings()
    settings.sites = .specific([site])
    return settings
  }

  @Test(
    "S3, X2: kill -9 of the child's device or of the relay at each step loses no authorization",
    arguments: 0..<5, [true, false])
  func kills(step: Int, isDevice: Bool) {
    var world = World.withAccount()
    func kill(_ number: Int) { if number == step { world.kill(isDevice: isDevice) } }
    kill(0)
    let question = World.authorizationQuestion
    world.ask(question)
    kill(1)
    world.guardian(1, .answer(question.id, choice: "approve"))
    kill(2)
    world.wait(.minutes(1))
    #expect(world.children[3]!.isAuthorized(World.app))
    #expect(world.manage(Self.settings) == .some(nil))
    kill(3)
    #expect(world.children[3]!.access(to: Self.site) == .block)
    world.guardian(2, .withdraw(child: World.emily, .handle(.authorization, in: World.app)))
    kill(4)
    world.wait(.minutes(1))
    #expect(!world.children[3]!.isAuthorized(World.app))
    #expect(world.children[3]!.managed.isEmpty)
    #expect(world.children[3]!.access(to: Self.site) == .allow)
  }

  @Test("S3: a guardian authorizes an app on the child's device, with the passcode")
  func inPerson() {
    var world = World.withAccount()
    world.guardian(1, .choosePasscode("123456"))
    let question = World.authorizationQuestion
    world.child(3, .app(World.app, .attach(app: World.app, applied: 0)))
    world.child(3, .app(World.app, .ask(question, .choose)))
    world.answerPrompt(.inPerson)
    world.type("999999")
    #expect(!world.children[3]!.isAuthorized(World.app))
    world.type("123456")
    #expect(world.outcome(question) == .answeredInPerson(approved: true))
    for id: UInt32 in [3, 4] { #expect(world.children[id]!.isAuthorized(World.app)) }
    #expect(world.manage(Self.settings) == .some(nil))
  }

  @Test("S3: a withdrawal ends the settings on all devices, and on an absent one when it returns")
  func absent() {
    var world = World.authorized()
    world.child(4, .app(World.app, .attach(app: World.app, applied: 0)))
    for id: UInt32 in [3, 4] { #expect(world.manage(Self.settings, on: id) == .some(nil)) }
    world.disconnect(4)
    world.guardian(1, .withdraw(child: World.emily, .handle(.authorization, in: World.app)))
    world.wait(.seconds(2))
    #expect(world.children[3]!.access(to: Self.site) == .allow)
    // The device has not heard of the withdrawal, and a restart changes nothing.
    world.restoreChild(4, 3)
    #expect(world.children[4]!.access(to: Self.site) == .block)
    world.connect(4)
    world.wait(.seconds(2))
    #expect(world.children[4]!.access(to: Self.site) == .allow)
    #expect(world.children[4]!.managed.isEmpty)
  }
}
