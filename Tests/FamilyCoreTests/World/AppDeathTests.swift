import FamilyCore
import FamilyModel
import Testing

/// Deaths of apps and devices between two steps, found by the simulator.
@Suite struct AppDeathTests {
  private var world = World()
  private let question = World.question(1)

  private func entries() -> Int {
    (world.seen[3] ?? []).count {
      if case .app(World.app, .entry) = $0 { true } else { false }
    }
  }

  @Test("R6: detects a dead app by a repeated entry, and launches it")
  mutating func unnoticed() {
    world.ask(question)
    _ = world.take(3)
    world.guardian(1, .answer(question.id, choice: "approve"))
    #expect(entries() == 1)
    // The app dies with the entry in flight, and the device is not notified.
    world.wait(.milliseconds(1_500))
    #expect(entries() == 2)
    world.child(3, .appGone(World.app, exited: false))
    #expect(world.take(3).contains(.launch(World.app, budget: Timing.launchBudget)))
  }

  @Test("R6: repeats the first entry with growing delays until its acknowledgement")
  mutating func repeated() {
    world.ask(question)
    world.guardian(1, .answer(question.id, choice: "approve"))
    _ = world.take(3)
    world.wait(.minutes(5))
    let count = entries()
    #expect((5...20).contains(count))
    world.acknowledgeFirst()
    world.wait(.minutes(5))
    #expect(entries() == count)
  }

  @Test(
    "Q8, R6: a repeated question gets no second default response")
  mutating func askedAgain() {
    world.guardian(1, .setLimits(child: World.emily, on: false))
    for _ in 0..<2 {
      world.child(3, .app(World.app, .attach(app: World.app, applied: 0)))
      world.child(3, .app(World.app, .ask(question, .choose)))
      #expect(world.outcome(question) == .answeredByDefault)
    }
    let appended = world.disks[3]!.keys.count { if case .entry = $0 { true } else { false } }
    #expect(appended == 1)
    // The device dies before it replies: the app repeats the question and still gets one response.
    world.restoreChild(3, 3)
    world.child(3, .app(World.app, .attach(app: World.app, applied: 0)))
    world.child(3, .app(World.app, .ask(question, .choose)))
    #expect(world.disks[3]!.keys.count { if case .entry = $0 { true } else { false } } == 1)
  }
}
