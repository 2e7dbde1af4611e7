import FamilyModel
import Testing

@testable import FamilyCore

/// Clocks that were set back by hand, by a time server, or after sleep.
@Suite struct ClockTests {
  private static let twoDays = Milliseconds.days(2)

  @Test("a wait of the family fires the timers on the way and ends at its time")
  func wait() {
    var world = World()
    let end = world.now + Self.twoDays
    world.wait(Self.twoDays)
    #expect(world.now == end)
    #expect(world.machines.deadline! > end)
  }

  @Test("R6: relaunches an app at once that exited before the clock was set back")
  func launch() {
    let late = Instant(milliseconds: 0) + .days(4)
    let now = late - Self.twoDays
    var feed = AppFeed(World.app)
    _ = feed.register()
    _ = feed.append(.known([]))
    #expect(feed.nextAction(now: late) != nil)
    feed.disconnected(exited: true, now: late)
    #expect(feed.nextAction(now: now) == nil)
    feed.clockSetBack(now: now)
    #expect(feed.nextAction(now: now) == .launch(World.app, budget: Timing.launchBudget))
  }

  @Test("R6: terminates a hanging app within its budget by the clock that was set back")
  func hang() {
    let late = Instant(milliseconds: 0) + .days(4)
    let now = late - Self.twoDays
    var feed = AppFeed(World.app)
    _ = feed.register()
    _ = feed.append(.known([]))
    _ = feed.nextAction(now: late)
    feed.clockSetBack(now: now)
    #expect(feed.nextAction(now: now + Timing.launchBudget) == .terminate(World.app))
  }

  @Test(
    "R6: repeats the first entry to an attached app after the clock was set back"
  )
  func repetition() {
    let late = Instant(milliseconds: 0) + .days(4)
    let now = late - Self.twoDays
    var feed = AppFeed(World.app)
    _ = feed.attach(applied: 0, known: [])
    _ = feed.append(.known([]))
    #expect(feed.nextAction(now: late) == nil)
    feed.clockSetBack(now: now)
    #expect(
      feed.nextAction(now: now) == .app(World.app, .entry(AppEntry(position: 1, body: .known([])))))
  }

  @Test("A3: retries a command at once after the clock was set back")
  func command() {
    var world = World()
    world.now = world.now + Self.twoDays
    // The request is lost.
    world.away.insert(3)
    world.child(3, .post("Are you there?"))
    world.now = world.now - Self.twoDays
    world.away.remove(3)
    world.wait(.minutes(1))
    #expect(world.children[3]!.link.pendingCommands.count == 1)
    world.child(3, .clockSetBack)
    world.wait(.milliseconds(1))
    #expect(world.children[3]!.link.pendingCommands.isEmpty)
  }

  @Test("M5: pings at the usual interval after the clock was set back")
  func ping() {
    var world = World()
    world.wait(.seconds(1))
    world.guardian(1, .clockSetBack)
    let deadline = world.guardians[1]!.deadline
    #expect(deadline.map { $0 <= world.now } ?? false)
  }
}
