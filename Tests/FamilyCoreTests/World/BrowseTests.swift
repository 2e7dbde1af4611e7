import FamilyModel
import Testing

@testable import FamilyCore

/// Questions to browse, and the access that rules and approvals give.
@Suite struct BrowseTests {
  private static let site = Site("example.co.uk")!
  private static let hour = Choice(
    id: "hour", title: "For an hour", answer: .approval, end: .after(.hours(1)))

  private static func world(
    _ others: WebAccess = .ask, _ sites: [Site: WebAccess] = [:]
  ) -> World {
    var world = World.withAccount()
    world.setWeb(others, sites)
    return world
  }

  private static func question(_ number: UInt64 = 1, _ choices: [Choice] = [.approve, .decline])
    -> Question
  {
    Question(
      id: QuestionID(high: 50, low: number), topic: .browse(site), choices: choices)
  }

  private func access(_ world: World, to site: Site = site) -> [WebAccess] {
    [3, 4].map { world.children[$0]!.access(to: site) }
  }

  private func approve(_ world: inout World, _ question: Question = question()) {
    world.ask(question)
    world.guardian(1, .answer(question.id, choice: question.choices[0].id))
    world.wait(.seconds(2))
  }

  @Test("S5: a rule decides, a site's own rule counts before the rule for others")
  func rules() {
    var world = Self.world(.block, [Self.site: .allow])
    #expect(access(world) == [.allow, .allow])
    #expect(access(world, to: Site("other.example")!) == [.block, .block])
    world.setWeb(.allow, [Self.site: .block])
    #expect(access(world) == [.block, .block])
    #expect(access(world, to: Site("other.example")!) == [.allow, .allow])
    // An adult of the family has no rules.
    #expect(world.children[5]!.access(to: Self.site) == .allow)
  }

  @Test("S5: an approval opens a site on all devices of the child until a guardian withdraws it")
  func approved() {
    var world = Self.world()
    #expect(access(world) == [.ask, .ask])
    let question = Self.question()
    world.ask(question)
    #expect(world.outcome(question) == .sent && world.bubbles(on: 1).map(\.question) == [question])
    #expect(access(world) == [.ask, .ask])
    world.guardian(2, .answer(question.id, choice: "approve"))
    world.wait(.seconds(2))
    #expect(access(world) == [.allow, .allow])
    #expect(access(world, to: Site("other.example")!) == [.ask, .ask])
    world.guardian(1, .withdraw(child: World.emily, .handle(Handle(Self.site), in: nil)))
    world.wait(.seconds(2))
    #expect(access(world) == [.ask, .ask])
  }

  @Test("S5: a declined question leaves a site closed")
  func declined() {
    var world = Self.world()
    let question = Self.question()
    world.ask(question)
    world.guardian(1, .answer(question.id, choice: "decline"))
    world.wait(.seconds(2))
    #expect(access(world) == [.ask, .ask])
  }

  @Test("S5, Q12: an approval for an hour ends offline, and a restart does not lengthen it")
  func ends() {
    var world = Self.world()
    approve(&world, Self.question(1, [Self.hour, .decline]))
    for id: UInt32 in [3, 4] { world.disconnect(id) }
    world.wait(.minutes(58))
    #expect(access(world) == [.allow, .allow])
    #expect(world.children[3]!.end(ofAccessTo: Self.site) != nil)
    world.restoreChild(3, 3)
    world.wait(.minutes(3))
    #expect(access(world) == [.ask, .ask])
    world.restoreChild(4, 3)
    #expect(access(world) == [.ask, .ask])
  }

  @Test("S5: a rule that blocks counts before an approval, which stays for later")
  func blocked() {
    var world = Self.world()
    approve(&world)
    world.setWeb(.block)
    #expect(access(world) == [.block, .block])
    world.setWeb(.ask)
    #expect(access(world) == [.allow, .allow])
  }

  @Test("S5: a child asks only where the rule says so; limits do not matter")
  func refused() {
    for rule in [WebAccess.allow, .block] {
      var world = Self.world(rule)
      let question = Self.question()
      world.child(3, .app(World.app, .attach(app: World.app, applied: 0)))
      world.child(3, .app(World.app, .ask(question, .byMessage)))
      #expect(world.outcome(question) == .refused(.siteNotAsked))
      #expect(world.bubbles(on: 1).isEmpty)
    }
    var world = Self.world()
    world.guardian(1, .setLimits(child: World.emily, on: false))
    approve(&world)
    #expect(access(world) == [.allow, .allow])
  }

  @Test("S5: no question about people, and no contact, opens a site")
  func people() {
    var world = Self.world()
    let people = Question(
      id: QuestionID(high: 51, low: 1),
      topic: .communication(people: [Subject(handle: Handle(Self.site))], actions: .message))
    world.child(3, .app(World.app, .attach(app: World.app, applied: 0)))
    world.child(3, .app(World.app, .ask(people, .byMessage)))
    #expect(world.outcome(people) == .refused(.badHandle))
    world.guardian(1, .changeContact(child: World.emily, Handle(Self.site), known: true))
    world.wait(.seconds(2))
    #expect(access(world) == [.ask, .ask])
  }

  @Test(
    "S5, X2: kill -9 of the child's device or of the relay at each step loses no approval",
    arguments: 0..<4, [true, false])
  func kills(step: Int, isDevice: Bool) {
    var world = Self.world()
    func kill(_ number: Int) { if number == step { world.kill(isDevice: isDevice) } }
    kill(0)
    let question = Self.question()
    world.ask(question)
    kill(1)
    world.guardian(1, .answer(question.id, choice: "approve"))
    kill(2)
    world.wait(.minutes(1))
    #expect(access(world) == [.allow, .allow])
    world.guardian(2, .withdraw(child: World.emily, .handle(Handle(Self.site), in: nil)))
    kill(3)
    world.wait(.minutes(1))
    #expect(access(world) == [.ask, .ask])
    #expect(world.log.count { if case .asked = $0.body { true } else { false } } == 1)
  }
}
