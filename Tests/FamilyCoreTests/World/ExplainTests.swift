@testable import FamilyCore
import FamilyModel
import Testing

@Suite struct ExplainTests {
  private var world = World()
  private let ada = Handle("ada", .custom)
  private let phone = Handle("+15550100199", .phoneNumber)

  private func child(_ handle: Handle, in app: AppID = World.app) -> HandleExplanation {
    world.children[3]!.explain(handle, in: app, now: world.now)
  }

  private func guardian(_ handle: Handle, in app: AppID = World.app) -> HandleExplanation {
    world.guardians[1]!.link.explain(handle, of: World.emily, in: app, now: world.now)
  }

  @Test("X6: names each rule, who decided, and when")
  mutating func rules() {
    #expect(child(ada).rule == .neverAsked && !child(ada).isKnown)
    let start = world.now
    let end = start + .minutes(1)
    world.ask(World.question(1, ada, expiration: end))
    #expect(guardian(ada).rule == .waiting(since: start, until: end))
    #expect(guardian(ada).nextChange == end)
    world.wait(.seconds(1))
    world.guardian(2, .answer(World.question(1).id, choice: "decline"))
    #expect(child(ada).rule == .declined(by: PersonID(2), at: world.now))
    #expect(child(ada).nextChange == nil)
    world.ask(World.question(2, ada))
    world.guardian(1, .answer(World.question(2).id, choice: "approve"))
    #expect(child(ada).rule == .approved(by: PersonID(1), at: world.now, ends: nil))
    #expect(child(ada).isKnown && guardian(ada) == child(ada).withoutDevice)
    world.wait(.seconds(1))
    world.guardian(2, .withdraw(child: World.emily, .handle(ada, in: nil)))
    #expect(child(ada).rule == .withdrawn(by: PersonID(2), at: world.now))
    world.wait(.seconds(1))
    world.guardian(1, .changeContact(child: World.emily, ada, known: true))
    #expect(child(ada).rule == .contact(by: PersonID(1), at: world.now))
    world.wait(.seconds(1))
    world.guardian(2, .changeContact(child: World.emily, ada, known: false))
    #expect(child(ada).rule == .contactRemoved(by: PersonID(2), at: world.now))
    #expect(child(Handle("hello", .phoneNumber)).rule == .notAHandle(.badHandle))
  }

  @Test("X6: has the number of the request, which is the same on every device")
  mutating func number() throws {
    #expect(child(ada).request == nil)
    world.ask(World.question(1, ada))
    let asked = try #require(world.machines.log.last { $0.body.newQuestion != nil })
    #expect(child(ada).request == asked.seq && guardian(ada).request == asked.seq)
    world.guardian(2, .answer(World.question(1).id, choice: "decline"))
    #expect(child(ada).request == asked.seq && guardian(ada).request == asked.seq)
    world.ask(World.question(2, ada))
    let second = try #require(world.machines.log.last { $0.body.newQuestion != nil })
    world.guardian(1, .answer(World.question(2).id, choice: "approve"))
    #expect(child(ada).request == second.seq && second.seq != asked.seq)
    // No request decides about a withdrawn handle, or about a contact.
    world.guardian(2, .withdraw(child: World.emily, .handle(ada, in: nil)))
    #expect(child(ada).request == nil)
  }

  @Test("X6: names the end of an approval before and after it, and prefers one without an end")
  mutating func ends() {
    let hour = Choice(
      id: "hour", title: "One hour", answer: .approval, end: .after(.hours(1)))
    let end = world.now + .hours(1)
    world.ask(World.question(1, ada, choices: [hour, .decline]))
    world.guardian(1, .answer(World.question(1).id, choice: "hour"))
    #expect(child(ada).isKnown && child(ada).nextChange == end)
    #expect(guardian(ada).rule == child(ada).rule)
    world.guardian(1, .changeContact(child: World.emily, ada, known: true))
    #expect(child(ada).rule == .contact(by: PersonID(1), at: world.now))
    #expect(child(ada).nextChange == nil)
    world.guardian(1, .changeContact(child: World.emily, ada, known: false))
    world.wait(.hours(2))
    #expect(!child(ada).isKnown && child(ada).nextChange == nil)
    world.ask(World.question(2, phone, choices: [hour, .decline]))
    world.guardian(2, .answer(World.question(2).id, choice: "hour"))
    let decided = world.now
    world.wait(.hours(2))
    #expect(
      child(phone).rule
        == .approvalEnded(by: PersonID(2), at: decided, ended: decided + .hours(1)))
    // A withdrawal explains an approval whose end is still to come.
    world.ask(World.question(3, ada, choices: [hour, .decline]))
    world.guardian(2, .answer(World.question(3).id, choice: "hour"))
    world.wait(.minutes(1))
    world.guardian(1, .withdraw(child: World.emily, .handle(ada, in: nil)))
    #expect(child(ada).rule == .withdrawn(by: PersonID(1), at: world.now))
    world.ask(World.question(4, ada))
    world.guardian(1, .answer(World.question(4).id, choice: "approve"))
    world.ask(World.question(5, ada, choices: [hour, .decline]))
    world.guardian(2, .answer(World.question(5).id, choice: "hour"))
    #expect(child(ada).rule == .approved(by: PersonID(1), at: world.now, ends: nil))
  }

  @Test("X6: a cancelled and an expired request explain an unknown handle")
  mutating func closed() {
    let asked = world.now
    world.ask(World.question(1, ada))
    world.child(3, .cancel(World.question(1).id))
    #expect(child(ada).rule == .cancelled(asked: asked))
    let end = world.now + .seconds(1)
    world.ask(World.question(2, ada, expiration: end))
    world.wait(.seconds(2))
    #expect(child(ada).rule == .expired(at: end))
  }

  @Test("X6: a question in the outbox explains an unknown handle on its own device")
  mutating func sending() {
    world.disconnect(3)
    world.ask(World.question(1, ada))
    #expect(child(ada).rule == .sending)
    #expect(guardian(ada).rule == .neverAsked)
  }

  @Test("X6: names limits, consent, the rating and an app that has not taken the entry")
  mutating func conditions() {
    world.ask(World.question(1, ada))
    world.guardian(1, .answer(World.question(1).id, choice: "approve"))
    #expect(child(ada).conditions == [.notTaken])
    world.acknowledgeFirst()
    #expect(child(ada).conditions == [])
    world.guardian(1, .setLimits(child: World.emily, on: false))
    #expect(guardian(ada).conditions == [.limitsOff])
    world.guardian(1, .setLimits(child: World.emily, on: true))
    world.guardian(2, .withdraw(child: World.emily, .consent(World.app)))
    #expect(guardian(ada).conditions == [.consentWithdrawn(by: PersonID(2), at: world.now)])
    world.child(3, .app(World.otherApp, .name([phone])))
    var settings = AgeSettings()
    settings.ceiling = .four
    world.guardian(1, .setAge(World.emily, settings))
    #expect(child(ada).conditions.count { $0 == .ratedAbove } == 1)
    // Guardians know the rating from the list of apps.
    #expect(guardian(ada).conditions.count { $0 == .ratedAbove } == 1)
    #expect(!guardian(ada, in: AppID("example.unlisted")).conditions.contains(.ratedAbove))
    // A number is known in every app, also in one that has never registered.
    world.guardian(1, .changeContact(child: World.emily, phone, known: true))
    #expect(child(phone, in: World.otherApp).conditions.contains(.neverListened))
  }

  @Test("X6, K6: a handle that the app has not named is known on the device only")
  mutating func unnamed() {
    world.guardian(1, .changeContact(child: World.emily, phone, known: true))
    #expect(child(phone).isKnown && child(phone).conditions == [.notNamed])
    world.child(3, .app(World.app, .name([phone])))
    #expect(child(phone).conditions == [.neverListened])
    world.acknowledgeFirst()
    #expect(child(phone).conditions == [] && guardian(phone).conditions == [])
    #expect(child(ada).conditions == [])
  }

  @Test("X6: names known handles that resemble the unknown one")
  mutating func nearMisses() {
    world.ask(World.question(1, ada, phone, Handle("Zo\u{EB}", .custom)))
    world.guardian(1, .answer(World.question(1).id, choice: "approve"))
    #expect(child(ada, in: World.otherApp).nearMisses == [.otherApp(World.app)])
    #expect(child(Handle("Ada", .custom)).nearMisses == [.otherSpelling(ada)])
    #expect(
      child(Handle("zoe", .custom)).nearMisses == [.otherSpelling(Handle("Zo\u{EB}", .custom))])
    for text in ["15550100199", "0015550100199", "5550100199"] {
      #expect(child(Handle(text, .phoneNumber)).nearMisses == [.otherSpelling(phone)])
    }
    #expect(child(Handle("+15550100199", .custom)).nearMisses == [.otherKind(phone)])
    #expect(child(Handle("bob", .custom)).nearMisses == [])
    #expect(child(Handle("0199", .phoneNumber)).nearMisses == [])
  }

  @Test("K1: every spelling of an approved handle is known on every device, by one statement")
  mutating func spellings() {
    let composed = Handle("Zo\u{EB}", .custom)
    let decomposed = Handle("Zoe\u{308}", .custom)
    world.ask(World.question(1, decomposed, Handle("\u{202A}+1 (555) 010-0199", .phoneNumber)))
    // The second question is about the same people, spelled differently.
    world.ask(World.question(2, composed, phone))
    #expect(world.outcome(World.question(2)) == .alreadyAsked(World.question(1).id))
    world.guardian(1, .answer(World.question(1).id, choice: "approve"))
    for id: UInt32 in [3, 4] {
      let known = world.children[id]!.knownHandles(in: World.app)
      #expect(known.map { Array($0.value.utf8) } == [phone, composed].map { Array($0.value.utf8) })
    }
    world.guardian(2, .withdraw(child: World.emily, .handle(composed, in: nil)))
    #expect(world.children[4]!.knownHandles(in: World.app) == [phone])
  }

  @Test("Q10, K1: refuses a text that is no handle where it enters")
  mutating func refuses() {
    let question = World.question(1, Handle("hello", .phoneNumber))
    world.ask(question)
    #expect(world.outcome(question) == .refused(.badHandle))
    world.guardian(1, .changeContact(child: World.emily, Handle("a\nb", .custom), known: true))
    let refused = world.notices(on: 1).compactMap {
      if case .refused(_, let problem) = $0 { problem } else { Problem?.none }
    }
    #expect(refused == [.badHandle])
    #expect(world.children[3]!.knownHandles(in: World.app).isEmpty)
  }

  @Test("K1: a contact's name reaches every device; a later name wins, an empty one removes it")
  mutating func names() {
    func names() -> [String?] {
      [3, 4].map { world.children[$0]!.conversation?.name(of: phone) }
        + [1, 2].map { world.guardians[$0]!.link.conversations[World.emily]?.name(of: phone) }
    }
    world.guardian(1, .changeContact(child: World.emily, phone, known: true))
    world.guardian(1, .nameContact(child: World.emily, phone, "Grandma"))
    #expect(names() == ["Grandma", "Grandma", "Grandma", "Grandma"])
    world.guardian(
      2, .nameContact(child: World.emily, Handle("+1 555-010-0199", .phoneNumber), "Granny"))
    #expect(names() == ["Granny", "Granny", "Granny", "Granny"])
    world.restoreChild(3, 3)
    #expect(names().first == "Granny")
    world.guardian(1, .nameContact(child: World.emily, phone, ""))
    #expect(names() == [nil, nil, nil, nil])
    let long = String(repeating: "x", count: Limits.titleBytes + 1)
    for name in [long, "a\u{1B}[2J"] {
      world.guardian(1, .nameContact(child: World.emily, phone, name))
    }
    #expect(names().first == .some(nil))
  }
}

extension HandleExplanation {
  /// The explanation without the facts that only the child's device has.
  fileprivate var withoutDevice: HandleExplanation {
    var copy = self
    let facts: [HandleExplanation.Rule] = [.notTaken, .neverListened, .ratedAbove, .notNamed]
    copy.conditions.removeAll(where: facts.contains)
    return copy
  }
}
