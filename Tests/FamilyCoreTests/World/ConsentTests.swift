import FamilyModel
import Testing

@testable import FamilyCore

/// An app whose consent a guardian withdrew, and later gave back.
@Suite struct ConsentTests {
  private static let ada = Handle("ada", .custom)
  private static let withdrawal = GuardianMachine.Input.withdraw(
    child: World.emily, .consent(World.app))
  private static let gift = GuardianMachine.Input.withdraw(
    child: World.emily, .consentGiven(World.app))
  private static let launch = DeviceEffect.launch(World.app, budget: Timing.launchBudget)

  private static func update(_ number: UInt64) -> Question {
    Question(
      id: QuestionID(high: 43, low: number), topic: .significantUpdate(description: "Chats"))
  }

  private static func entries(_ effects: [DeviceEffect]) -> [AppEntry.Body] {
    effects.compactMap {
      if case .app(World.app, .entry(let entry)) = $0 { entry.body } else { nil }
    }
  }

  /// A family whose app is registered, acknowledged everything and does not run.
  private static func asleep() -> World {
    var world = World.withAccount()
    world.child(3, .app(World.app, .register))
    world.child(3, .app(World.app, .name([ada])))
    world.child(3, .appGone(World.app, exited: true))
    world.forgetSeen()
    return world
  }

  @Test("R9: the device launches an app without consent only to deliver the withdrawal")
  func launches() {
    var world = Self.asleep()
    world.guardian(1, Self.withdrawal)
    #expect(world.take(3).contains(Self.launch))
    // A crash before the acknowledgement launches the app again.
    world.child(3, .appGone(World.app, exited: true))
    world.wait(.seconds(1))
    #expect(world.take(3).contains(Self.launch))
    world.child(3, .app(World.app, .attach(app: World.app, applied: 0)))
    #expect(Self.entries(world.take(3)) == [.consentWithdrawn])
    world.acknowledgeFirst()
    world.child(3, .appGone(World.app, exited: true))
    world.guardian(1, .changeContact(child: World.emily, Self.ada, known: true))
    world.wait(.seconds(120))
    #expect(!world.take(3).contains(Self.launch))
    #expect(world.children[3]!.unacknowledged == 1)
    // The contact waits until a guardian gives the consent back.
    world.guardian(2, Self.gift)
    #expect(world.take(3).contains(Self.launch))
    world.child(3, .app(World.app, .attach(app: World.app, applied: UInt64.max)))
    #expect(Self.entries(world.take(3)) == [.known([Self.ada]), .consentGiven])
  }

  @Test("R9: questions about people and age requests of an app without consent fail")
  func calls() {
    var world = World.withAccount()
    world.guardian(1, Self.withdrawal)
    let question = World.question(1, Self.ada)
    world.child(3, .app(World.app, .ask(question, .choose)))
    #expect(world.outcome(question) == .refused(.consentWithdrawn))
    world.askAge(1)
    world.askAge(2, nil)
    #expect(world.ageReply(1) == .failed(.consentWithdrawn))
    #expect(world.ageReply(2) == .failed(.consentWithdrawn))
    #expect(world.agePrompts().isEmpty && world.prompt(3) == nil)
    // Another app keeps its consent.
    world.ask(question, app: World.otherApp)
    #expect(!world.bubbles(on: 1).isEmpty)
  }

  @Test("R9: a withdrawal ends the prompts and age requests that are open")
  func prompts() {
    var world = World.withAccount()
    world.guardian(1, .choosePasscode("258013"))
    world.askAge(1)
    let age = world.prompt(3)!.number
    let questions = [World.question(1, Self.ada), World.question(2, Handle("ben", .custom))]
    world.child(3, .app(World.app, .ask(questions[0], .byMessage)))
    let message = world.prompt(3)!.number
    world.child(3, .app(World.app, .ask(questions[1], .inPerson)))
    world.guardian(1, Self.withdrawal)
    #expect(world.ageReply(1) == .failed(.consentWithdrawn))
    world.child(3, .answered(prompt: age, .share))
    world.child(3, .answered(prompt: message, .send(names: [])))
    world.type("258013")
    #expect(world.children[3]!.age.memory(World.app) == AgeMemory())
    for question in questions {
      #expect(world.outcome(question) == .refused(.consentWithdrawn))
    }
    #expect(world.bubbles(on: 1).isEmpty)
  }

  @Test("R9: an approved update ends the restriction; a declined one does not")
  func approval() {
    var world = World.withAccount()
    world.guardian(1, Self.withdrawal)
    for (number, choice, isWithdrawn) in [(1, "decline", true), (2, "approve", false)] {
      let question = Self.update(UInt64(number))
      world.child(3, .app(World.app, .ask(question, .byMessage)))
      world.answerPrompt(.send(names: []))
      world.guardian(2, .answer(question.id, choice: choice))
      #expect(world.children[3]!.consents.isWithdrawn(World.app) == isWithdrawn)
      #expect(world.children[4]!.consents.isWithdrawn(World.app) == isWithdrawn)
    }
    let question = World.question(3, Self.ada)
    world.ask(question)
    #expect(world.outcome(question) == .sent)
  }

  @Test("R9, S1: the device reports each change of a consent once, with its command")
  func seam() {
    var world = World.withAccount()
    world.guardian(1, Self.withdrawal)
    world.guardian(2, Self.withdrawal)
    world.guardian(1, Self.gift)
    let changes = world.take(3).compactMap {
      if case .consentChanged(World.app, let isWithdrawn, _) = $0 { isWithdrawn } else { nil }
    }
    #expect(changes == [true, false])
    world.restoreChild(3, 3)
    #expect(world.children[3]!.consents == world.children[4]!.consents)
    #expect(world.children[3]!.consents.statements[World.app]?.current?.value == false)
  }

  @Test("R9: an app that lost its state learns again that the consent is withdrawn, once")
  func lostState() {
    var world = World.withAccount()
    world.guardian(1, Self.withdrawal)
    world.acknowledgeFirst()
    world.forgetSeen()
    for _ in 1...2 {
      world.child(3, .app(World.app, .attach(app: World.app, applied: 0)))
      #expect(Self.entries(world.take(3)) == [.consentWithdrawn])
    }
  }

  @Test("R9: only guardians give a consent back") func permission() {
    var world = World()
    let command = Command.withdraw(child: World.emily, .withdrawal(.consentGiven(World.app)))
    #expect(world.command(3, command) == .notPermitted)
    #expect(world.command(5, command) == .notPermitted)
    #expect(world.command(2, command) == nil)
  }

  @Test("R9, X2: a kill after any effect neither loses a withdrawal nor its return")
  func kills() {
    var effects = 0
    var hasRunThrough = false
    while !hasRunThrough {
      var run = KilledRun(effectsBeforeKill: effects)
      run.play()
      hasRunThrough = !run.wasKilled
      effects += 1
    }
    #expect(effects > 12)
  }
}

/// A run in which the child's device is killed once, after a number of effects.
private struct KilledRun {
  var world = World.withAccount()
  var app = AppMachine(World.app)
  let effectsBeforeKill: Int
  private(set) var wasKilled = false
  private var seen = 0

  init(effectsBeforeKill: Int) { self.effectsBeforeKill = effectsBeforeKill }

  mutating func play() {
    _ = app.step(.subscribe(.communication))
    _ = app.step(.name([Handle("ada", .custom)]))
    meet()
    world.machines.kill = (3, effectsBeforeKill)
    world.guardian(1, .withdraw(child: World.emily, .consent(World.app)))
    meet()
    expect(isWithdrawn: true)
    world.child(3, .appGone(World.app, exited: true))
    world.guardian(1, .changeContact(child: World.emily, Handle("ada", .custom), known: true))
    recover()
    _ = world.take(3)
    world.wait(.seconds(120))
    let launch = DeviceEffect.launch(World.app, budget: Timing.launchBudget)
    #expect(!world.take(3).contains(launch), "kill after \(effectsBeforeKill)")
    world.guardian(2, .withdraw(child: World.emily, .consentGiven(World.app)))
    recover()
    world.wait(.seconds(120))
    #expect(world.take(3).contains(launch), "kill after \(effectsBeforeKill)")
    meet()
    expect(isWithdrawn: false)
    #expect(app.visible.sorted() == [Handle("ada", .custom)], "kill after \(effectsBeforeKill)")
  }

  private mutating func expect(isWithdrawn: Bool) {
    let device = world.children[3]!
    #expect(device.consents.isWithdrawn(World.app) == isWithdrawn, "kill \(effectsBeforeKill)")
    #expect(app.isConsentWithdrawn == isWithdrawn, "kill after \(effectsBeforeKill)")
    #expect(app.visible.sorted().isEmpty == isWithdrawn || !isWithdrawn)
    _ = world.take(3)
    world.askAge(99)
    if world.isKilled {
      recover()
      meet()
      world.askAge(99)
    }
    #expect((world.ageReply(99) == .failed(.consentWithdrawn)) == isWithdrawn)
  }

  private mutating func recover() {
    guard world.isKilled else { return }
    wasKilled = true
    world.revive()
  }

  /// Exchanges messages between the app and the device until neither sends one, through a kill.
  private mutating func meet() {
    for _ in 1...2 {
      recover()
      _ = app.step(.disconnected)
      _ = world.take(3)
      var requests = app.step(.connected)
      while !requests.isEmpty {
        for case .send(let request) in requests { world.child(3, .app(World.app, request)) }
        requests = []
        for case .app(World.app, let reply) in world.take(3) { requests += app.step(.reply(reply)) }
      }
    }
    recover()
  }
}
