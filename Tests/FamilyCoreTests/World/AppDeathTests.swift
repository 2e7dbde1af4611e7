import FamilyCore
import FamilyModel
import Testing

/// Found by the simulator: what an app's, or a device's, death leaves undone.
@Suite struct AppDeathTests {
  private var world = World()
  private let question = World.question(1)

  private func entries() -> Int {
    (world.seen[3] ?? []).count {
      if case .app(World.app, .entry) = $0 { true } else { false }
    }
  }

  @Test("R6: an app that died unnoticed is found out by a repetition, and launched")
  mutating func unnoticed() {
    world.ask(question)
    _ = world.take(3)
    world.guardian(1, .answer(question.id, choice: "approve"))
    #expect(entries() == 1)
    // The app that a person had opened dies with the entry on its way: nobody tells the device.
    world.wait(1_500)
    #expect(entries() == 2)
    world.child(3, .appGone(World.app, exited: false))
    #expect(world.take(3).contains(.launch(World.app, budget: Timing.launchBudget)))
  }

  @Test("R6: repetitions become rarer, and end with the acknowledgement") mutating func repeated() {
    world.ask(question)
    world.guardian(1, .answer(question.id, choice: "approve"))
    _ = world.take(3)
    world.wait(300_000)
    let count = entries()
    #expect((5...20).contains(count))
    world.acknowledgeFirst()
    world.wait(300_000)
    #expect(entries() == count)
  }

  @Test(
    "Q8, R6: a question asked again before its default response is acknowledged gets no second one")
  mutating func askedAgain() {
    world.guardian(1, .setLimits(child: World.emily, on: false))
    for _ in 0..<2 {
      world.child(3, .app(World.app, .attach(app: World.app, applied: 0)))
      world.child(3, .app(World.app, .ask(question, .choose)))
      #expect(world.outcome(question) == .answeredByDefault)
    }
    let appended = world.disks[3]!.keys.count { if case .entry = $0 { true } else { false } }
    #expect(appended == 1)
    // The device dies before it has answered: the app asks again, and there is one response still.
    world.restoreChild(3, 3)
    world.child(3, .app(World.app, .attach(app: World.app, applied: 0)))
    world.child(3, .app(World.app, .ask(question, .choose)))
    #expect(world.disks[3]!.keys.count { if case .entry = $0 { true } else { false } } == 1)
  }
}
