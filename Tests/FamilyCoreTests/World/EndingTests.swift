import FamilyModel
import Testing

@testable import FamilyCore

/// Approvals that end without a withdrawal.
@Suite struct EndingTests {
  static let ada = Handle("ada", .custom)
  static let phone = Handle("+1 555 0100", .phoneNumber).canonical
  static let hour = Choice(
    id: "hour", title: "For an hour", answer: .approval, end: .after(.hours(1)))

  static func approved(
    _ choice: Choice = hour, handles: [Handle] = [ada], number: UInt64 = 1,
    in world: World = .withAccount()
  ) -> World {
    var world = world
    let question = Question(
      id: QuestionID(high: 42, low: number),
      topic: .communication(people: handles.map { Subject(handle: $0) }, actions: .message),
      choices: [choice, .decline])
    world.ask(question)
    world.guardian(1, .answer(question.id, choice: choice.id))
    return world
  }

  private func forgotten(_ app: AppID = World.app, in world: World) -> [[Handle]] {
    (world.seen[3] ?? []).compactMap {
      if case .app(app, .entry(let entry)) = $0, case .forgotten(let handles) = entry.body {
        return handles
      }
      return nil
    }
  }

  @Test("Q12: an approval for an hour ends on every device, and the app forgets the handle once")
  func hour() {
    var world = Self.approved(handles: [Self.ada, Self.phone])
    // The devices need no connection.
    for id: UInt32 in [3, 4] { world.disconnect(id) }
    world.child(3, .app(World.otherApp, .attach(app: World.otherApp, applied: 0)))
    world.child(3, .app(World.otherApp, .name([Self.phone])))
    world.wait(.minutes(59))
    for id: UInt32 in [3, 4] {
      #expect(world.children[id]!.knownHandles(in: World.app) == [Self.phone, Self.ada].sorted())
    }
    #expect(forgotten(in: world).isEmpty)
    world.wait(.minutes(2))
    for id: UInt32 in [3, 4] {
      #expect(world.children[id]!.knownHandles(in: World.app).isEmpty)
      #expect(world.children[id]!.knownHandles(in: World.otherApp).isEmpty)
    }
    world.wait(.hours(1))
    #expect(forgotten(in: world) == [[Self.phone, Self.ada].sorted()])
    #expect(forgotten(World.otherApp, in: world) == [[Self.phone]])
    #expect(world.children[3]!.endDeadline == nil)
  }

  @Test("Q12, R6: an approval that ends launches the app until it acknowledges the entry")
  func launch() {
    var world = Self.approved()
    world.acknowledgeFirst()
    world.child(3, .appGone(World.app, exited: true))
    world.wait(.minutes(59))
    _ = world.take(3)
    world.wait(.minutes(2))
    #expect(world.take(3).contains(.launch(World.app, budget: Timing.launchBudget)))
  }

  @Test("Q12: an approval until a date ends at the date, however late the decision is")
  func date() {
    var world = World.withAccount()
    let end = world.now + .days(1)
    world = Self.approved(
      Choice(id: "day", title: "Today", answer: .approval, end: .at(end)), in: world)
    world.wait(.hours(23))
    #expect(world.children[3]!.knownHandles(in: World.app) == [Self.ada])
    world.wait(.hours(2))
    #expect(world.children[3]!.knownHandles(in: World.app).isEmpty)
  }

  @Test("Q12: an approval without an end holds, whether it is earlier or later") func unlimited() {
    let always = Choice(id: "always", title: "Always", answer: .approval)
    for choices in [[always, Self.hour], [Self.hour, always]] {
      var world = World.withAccount()
      for (index, choice) in choices.enumerated() {
        world = Self.approved(choice, number: UInt64(index) + 1, in: world)
      }
      world.wait(.hours(2))
      #expect(world.children[3]!.knownHandles(in: World.app) == [Self.ada])
      world.guardian(2, .withdraw(child: World.emily, .handle(Self.ada, in: World.app)))
      #expect(world.children[3]!.knownHandles(in: World.app).isEmpty)
    }
  }

  @Test("Q12, R9: a withdrawal ends an approval with an end early") func withdrawn() {
    for app in [World.app, nil] {
      var world = Self.approved(handles: [Self.ada, Self.phone])
      for handle in [Self.ada, Self.phone] {
        world.guardian(2, .withdraw(child: World.emily, .handle(handle, in: app)))
      }
      #expect(world.children[3]!.knownHandles(in: World.app).isEmpty)
      world.restoreChild(3, 3)
      #expect(world.children[3]!.knownHandles(in: World.app).isEmpty)
      world.connect(3)
      world = Self.approved(handles: [Self.ada, Self.phone], number: 2, in: world)
      #expect(world.children[3]!.knownHandles(in: World.app).count == 2)
    }
  }

  @Test("Q12: an approval that ended before it arrived makes nobody known") func late() {
    var world = World.withAccount()
    world.disconnect(4)
    world = Self.approved(in: world)
    world.wait(.hours(2))
    world.child(4, .app(World.app, .attach(app: World.app, applied: 0)))
    world.connect(4)
    #expect(world.children[4]!.knownHandles(in: World.app).isEmpty)
    let bodies = (world.seen[4] ?? []).compactMap {
      if case .app(World.app, .entry(let entry)) = $0 { entry.body } else { nil }
    }
    #expect(bodies.last == .forgotten([Self.ada]))
  }

  @Test("Q12, R9: guardians see the end, and an ended choice cannot be chosen") func guardian() {
    var world = Self.approved()
    let known = world.guardians[2]!.link.conversations[World.emily]!.known
    guard
      case .approvedUntil(let end, in: World.app) = known.judged(at: world.now).reasons[0].reason
    else {
      Issue.record("no end")
      return
    }
    #expect(end == world.now + .hours(1))
    #expect(known.judged(at: end).reasons.isEmpty)
    let soon = Choice(
      id: "soon", title: "Soon", answer: .approval, end: .at(world.now + .minutes(1)))
    let question = World.question(9, Handle("ben", .custom), choices: [soon, .decline])
    world.ask(question)
    world.wait(.minutes(2))
    world.guardian(1, .answer(question.id, choice: "soon"))
    #expect(
      world.notices(on: 1).contains(.refused(.answer(question.id, choice: "soon"), .expired)))
  }

  @Test(
    "Q10, Q12: an end in the past, too far, of a denial or of an update is refused",
    arguments: [
      Choice(id: "a", title: "a", answer: .approval, end: .after(.zero)),
      Choice(id: "a", title: "a", answer: .approval, end: .after(.days(4_000))),
      Choice(id: "a", title: "a", answer: .approval, end: .at(Instant(milliseconds: 0))),
      Choice(id: "a", title: "a", answer: .denial, end: .after(.hours(1))),
    ])
  func invalid(_ choice: Choice) {
    let question = World.question(1, choices: [choice, .decline])
    #expect(throws: Problem.badEnd) { try question.validate(now: World.november) }
    let update = Question(
      id: question.id, topic: .significantUpdate(description: "x"), choices: [Self.hour, .decline])
    #expect(throws: Problem.badEnd) { try update.validate(now: World.november) }
  }

  @Test("Q12, X2: a kill after any effect ends the approval exactly once") func kills() {
    var effects = 0
    var wasKilled = true
    while wasKilled {
      var world = Self.approved()
      world.wait(.minutes(59))
      _ = world.take(3)
      world.machines.kill = (3, effects)
      world.wait(.minutes(2))
      wasKilled = world.isKilled
      world.revive()
      world.wait(.minutes(2))
      let bodies = world.disks[3]!.values.compactMap {
        if case .entry(World.app, let entry) = $0 { entry.body } else { AppEntry.Body?.none }
      }
      #expect(bodies.count { $0 == .forgotten([Self.ada]) } == 1, "kill after \(effects)")
      #expect(world.children[3]!.knownHandles(in: World.app).isEmpty)
      effects += 1
    }
    #expect(effects > 3)
  }
}
