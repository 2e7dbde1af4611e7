@testable import FamilyCore
import FamilyModel
import TestThreads
import Testing

/// A random history of one person with many apps, on a device whose owner sets its clock. The
/// events are drawn first and can be replayed for any birthdate.
private struct ManyApps {
  /// A design of the device. The property must find the faults of all but the first.
  enum Design: CaseIterable { case shipped, anniversaryPerApp, rawClock }
  enum Step { case ask(Int, [Int32]), shareAgain(Int), setClock(days: Int64) }

  static let apps = (1...5).map { AppID("example.app\($0)") }
  let seed: UInt64
  let born: Account.Day
  let region: String
  let isInFamily: Bool
  let start: Account.Day
  let steps: [(day: Account.Day, step: Step)]

  /// - Parameter oneDay: Whether the relay's time stands still. The person may then share again
  ///   without telling more.
  init(seed: UInt64, oneDay: Bool) {
    self.seed = seed
    var source = IDSource(seed: seed)
    func below(_ bound: Int64) -> Int64 { Int64(source.next() % UInt64(bound)) }
    region = ["US", "KR", "US-MS", "US-TX", "US-UT"][Int(below(5))]
    isInFamily = below(4) > 0
    start = day(2026, 1, 1).adding(below(700))
    born = start.adding(-below(7_500))
    var today = start
    var steps: [(Account.Day, Step)] = []
    for _ in 0..<(8 + below(12)) {
      if !oneDay { today = today.adding(below(90)) }
      switch below(8) {
      case 0, 1: steps.append((today, .setClock(days: below(2_000) - 800)))
      case 2 where oneDay: steps.append((today, .shareAgain(Int(below(5)))))
      default:
        let first = Int32(2 + below(18))
        steps.append((today, .ask(Int(below(5)), below(2) == 0 ? [first] : [first, first + 2])))
      }
    }
    self.steps = steps
  }

  /// All that the apps learn together.
  func play(born: Account.Day, _ design: Design) -> [AgeRange?] {
    var rigs = [AgeFixture(born: born, today: start, region: region, isInFamily: isInFamily)]
    if design == .anniversaryPerApp { rigs = Self.apps.map { _ in rigs[0] } }
    var offset: Int64 = 0
    var seen: [AgeRange?] = []
    for (day, step) in steps {
      switch step {
      case .setClock(let days): offset = days
      case .shareAgain(let app):
        rigs[app % rigs.count].state.record(.ageMemory(Self.apps[app], nil))
      case .ask(let app, let gates):
        // The clock that the device's owner set decides only in the mutant.
        rigs[app % rigs.count].policy.today = design == .rawClock ? day.adding(offset) : day
        seen.append(try? rigs[app % rigs.count].ask(gates, of: Self.apps[app]))
      }
    }
    return seen
  }

  /// The earliest and the latest birthdate of persons with this person's age on the first day.
  var twins: [Account.Day] {
    let asked = steps.first { if case .ask = $0.step { true } else { false } }
    guard let anchor = asked?.day else { return [] }
    let age = born.years(to: anchor)
    func edge(_ year: Int32, _ direction: Int64) -> Account.Day {
      var day = Account.Day(year: year, month: anchor.month, day: anchor.day).adding(-direction * 3)
      while day.years(to: anchor) != age { day = day.adding(direction) }
      return day
    }
    return [edge(anchor.year - age - 1, 1), edge(anchor.year - age, -1)]
  }

  /// Whether the apps together distinguish the person from a twin.
  func narrows(_ design: Design) -> Bool {
    let seen = play(born: born, design)
    return twins.contains { play(born: $0, design) != seen }
  }
}

@Suite(.ownThread) struct AgeClockTests {
  /// The first seed whose history narrows the birthday to less than a year.
  private func leak(_ design: ManyApps.Design, oneDay: Bool) -> UInt64? {
    for seed in 1...1_200 as ClosedRange<UInt64> {
      if ManyApps(seed: seed, oneDay: oneDay).narrows(design) { return seed }
    }
    return nil
  }

  @Test("D17: any number of apps together learn a birthday's year and no more") func manyApps() {
    #expect(leak(.shipped, oneDay: false) == nil, "the seed of the history that leaks")
    #expect(leak(.anniversaryPerApp, oneDay: false) != nil, "the property misses a fault")
    #expect(leak(.rawClock, oneDay: false) != nil, "the property misses a fault")
  }

  @Test("D17: a clock that is set, with share again, tells no more than one day")
  func clockOfOneDay() {
    #expect(leak(.shipped, oneDay: true) == nil, "the seed of the history that leaks")
    #expect(leak(.rawClock, oneDay: true) != nil, "the property misses a fault")
  }

  @Test("D17: an app that asks later follows the anniversary of the person's first answer")
  func onePerson() throws {
    let (first, second) = (AppID("example.first"), AppID("example.second"))
    var rig = AgeFixture(born: day(2011, 5, 17), today: day(2026, 11, 21))
    #expect(try rig.ask([13, 16], of: first)?.upper == 15)
    // The person turns 16 between the two first questions.
    rig.policy.today = day(2027, 6, 1)
    #expect(try rig.ask([13, 16], of: second)?.upper == 15)
    rig.policy.today = day(2027, 11, 20)
    #expect(try rig.ask([13, 16], of: second)?.upper == 15)
    rig.policy.today = day(2027, 11, 21)
    #expect(try rig.ask([13, 16], of: second)?.lower == 16)
    #expect(try rig.ask([13, 16], of: first)?.lower == 16)
  }

  @Test("D9, D17: share again gives one app the present range and an anniversary of its own")
  func shareAgain() throws {
    let (first, second) = (AppID("example.first"), AppID("example.second"))
    var rig = AgeFixture(born: day(2011, 5, 17), today: day(2026, 11, 21))
    _ = try rig.ask([13, 16], of: first)
    _ = try rig.ask([13, 16], of: second)
    rig.policy.today = day(2027, 6, 1)
    rig.state.record(.ageMemory(second, nil))
    #expect(try rig.ask([13, 16], of: second)?.lower == 16)
    #expect(try rig.ask([13, 16], of: first)?.upper == 15)
    #expect(rig.state.memory(second).anchor == day(2027, 6, 1))
    #expect(rig.state.memory(first).anchor == day(2026, 11, 21))
  }

  @Test("D17: the child's device ignores its own clock, forward and back", arguments: [1, -1])
  func ownClock(_ direction: Int64) {
    var world = World.withAccount(
      Account(birthdate: day(2011, 5, 17), region: "US", declaration: .guardianDeclared))
    world.guardian(1, .setAge(World.emily, World.settings(.always)))
    world.forgetSeen()
    let forged = world.now + .days(direction * 400)
    let uptime = Milliseconds(world.now.milliseconds)
    let effects = world.children[3]!.step(
      .app(World.app, .age(1, gates: [13, 16])), now: forged, uptime: uptime)
    let replies = effects.compactMap { effect -> AgeReply? in
      if case .app(_, .age(1, let reply)) = effect { reply } else { nil }
    }
    #expect(
      replies == [
        .shared(
          AgeRange(
            lower: 13, upper: 15, declaration: .guardianDeclared, controls: .communicationLimits))
      ])
    #expect(world.children[3]!.age.memory(World.app).anchor == day(2026, 11, 21))
  }

  @Test("D12, D17: a clock that is set back does not end a law") func lawAndClock() {
    var world = World.withAccount(
      Account(birthdate: day(2012, 5, 17), region: "US-TX", declaration: .guardianDeclared))
    let effects = world.children[3]!.step(
      .app(World.app, .age(1, gates: nil)), now: world.now - .days(400),
      uptime: Milliseconds(world.now.milliseconds))
    guard case .app(_, .age(1, .status(let isEligible, let features))) = effects.last else {
      Issue.record("no status")
      return
    }
    #expect(isEligible && features.contains(.declaredAgeRangeRequired))
  }

  @Test("D17: the time is the relay's newest plus the time since, and survives a restart")
  func relayTime() {
    var time = RelayTime()
    #expect(time.now(uptime: .milliseconds(5)) == nil)
    time.learn(World.november, uptime: .milliseconds(1_000))
    #expect(time.now(uptime: .milliseconds(1_000)) == World.november)
    #expect(time.now(uptime: .milliseconds(61_000)) == World.november + .milliseconds(60_000))
    #expect(time.now(uptime: .milliseconds(0)) == World.november)
    time.learn(World.november - .milliseconds(1_000), uptime: .milliseconds(61_000))
    #expect(time.now(uptime: .milliseconds(61_000)) == World.november + .milliseconds(60_000))
    time.learn(World.november + .milliseconds(90_000), uptime: .milliseconds(62_000))
    #expect(time.now(uptime: .milliseconds(62_500)) == World.november + .milliseconds(90_500))
    // A restored time counts from the first step on.
    var restored = RelayTime()
    restored.learn(World.november, uptime: nil)
    #expect(restored.now(uptime: .milliseconds(500)) == World.november)
    restored.start(uptime: .milliseconds(500))
    #expect(restored.now(uptime: .milliseconds(700)) == World.november + .milliseconds(200))
  }

  @Test("D17: a restarted device learns the time when it attaches") func attached() {
    var world = World.withAccount()
    world.now = world.now + .days(200)
    world.restoreChild(3, 3)
    func today() -> Account.Day? { world.children[3]!.agePolicy(now: world.now)?.today }
    world.child(3, .app(World.app, .attach(app: World.app, applied: 0)))
    #expect(today() == day(2026, 11, 21))
    world.connect(3)
    #expect(today() == Account.Day(utc: world.now))
  }
}
