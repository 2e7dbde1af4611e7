import FamilyModel
import Testing

@testable import FamilyCore

/// The activities that authorized apps watch, and the moments that the device reports.
@Suite struct ActivityTests {
  private static let site = Site("games.example")!

  private static func activity(
    _ world: World, in wait: Milliseconds = .minutes(10), lasting length: Milliseconds = .hours(1),
    warning: UInt32 = 0, _ thresholds: [Activity.Threshold] = []
  ) -> Activity {
    let start = world.machines.now + wait
    return Activity(
      "bedtime", from: start, to: start + length, warning: warning, thresholds: thresholds)
  }

  @Test("S3: a device reports each moment of an activity once, and forgets it at its end")
  func moments() {
    var world = World.authorized()
    let activity = Self.activity(world, warning: 120)
    #expect(world.watch(activity) == .some(nil))
    // The app repeats the request after a lost reply.
    #expect(world.watch(activity) == .some(nil))
    world.wait(.minutes(7))
    #expect(world.moments() == [])
    world.wait(.minutes(2))
    #expect(world.moments() == [.startsSoon])
    world.wait(.minutes(2))
    #expect(world.moments() == [.startsSoon, .started])
    world.wait(.minutes(56))
    #expect(world.moments() == [.startsSoon, .started])
    world.wait(.minutes(2))
    #expect(world.moments() == [.startsSoon, .started, .endsSoon])
    world.wait(.minutes(2))
    #expect(world.moments() == [.startsSoon, .started, .endsSoon, .ended])
    #expect(world.children[3]!.activities.isEmpty && world.children[3]!.activityDeadline == nil)
    #expect(world.watch(activity) == .some(.activityOver))
    // Moments launch the app.
    #expect(world.children[3]!.feeds.first { $0.app == World.app }!.progress.registered)
  }

  @Test("S3, X2: after a kill the device reports what is left, also of an interval that passed")
  func kills() {
    for minutes in [5, 30, 90] {
      var world = World.authorized()
      #expect(world.watch(Self.activity(world)) == .some(nil))
      world.wait(.minutes(minutes))
      world.disconnect(3)
      world.machines.now = world.machines.now + .hours(3)
      world.restoreChild(3, 3)
      world.child(3, .timer)
      #expect(world.moments() == [.started, .ended])
      #expect(world.children[3]!.activities.isEmpty)
    }
  }

  @Test("S3: pages count towards thresholds within the interval, each message once")
  func thresholds() {
    var world = World.authorized()
    let activity = Self.activity(
      world, warning: 60,
      [
        Activity.Threshold("games", seconds: 300, sites: [Self.site]),
        Activity.Threshold("all", seconds: 600),
      ])
    #expect(world.watch(activity) == .some(nil))
    #expect(world.children[3]!.hasThresholds)
    world.show(ShownPages(seconds: 500, sites: [Self.site: 500]), 1)
    world.wait(.minutes(11))
    world.show(ShownPages(seconds: 400, sites: [Self.site: 200]), 2)
    #expect(world.moments() == [.startsSoon, .started])
    world.show(ShownPages(seconds: 100, sites: [Self.site: 50]), 2)
    world.restoreChild(3, 3)
    world.connect(3)
    world.show(ShownPages(seconds: 100, sites: [Self.site: 50]), 2)
    #expect(world.moments() == [.startsSoon, .started])
    world.show(ShownPages(seconds: 150, sites: [Self.site: 50]), 3, of: World.otherApp)
    #expect(
      world.moments() == [.startsSoon, .started, .reachesSoon("games"), .reachesSoon("all")])
    world.show(ShownPages(seconds: 50, sites: [Self.site: 50]), 4)
    #expect(
      world.moments().suffix(2) == [.reached("games"), .reached("all")])
    world.show(ShownPages(seconds: 50, sites: [Self.site: 50]), 5)
    #expect(world.moments().count == 6)
  }

  @Test("S3: activities end without a moment when the authorization ends, also offline")
  func withdrawn() {
    var world = World.authorized()
    #expect(world.watch(Self.activity(world)) == .some(nil))
    world.guardian(2, .withdraw(child: World.emily, .handle(.authorization, in: World.app)))
    world.wait(.seconds(2))
    #expect(world.children[3]!.activities.isEmpty)
    world.restoreChild(3, 3)
    #expect(world.children[3]!.activities.isEmpty)
    world.wait(.hours(2))
    #expect(world.moments() == [])
    #expect(world.watch(Self.activity(world)) == .some(.notAuthorized))
  }

  @Test("S3: a child who sets the clock forward does not end an activity")
  func clock() {
    var world = World.authorized()
    #expect(world.watch(Self.activity(world, in: .zero)) == .some(nil))
    #expect(world.moments() == [.started])
    world.disconnect(3)
    var device = world.children[3]!
    let (now, uptime) = (world.machines.now, Milliseconds(world.machines.now.milliseconds))
    _ = device.step(.timer, now: now + .days(2), uptime: uptime + .minutes(1))
    #expect(device.activities[World.app]?["bedtime"] != nil)
    // The end comes by the time that passes.
    _ = device.step(.timer, now: now + .days(2), uptime: uptime + .minutes(61))
    #expect(device.activities.isEmpty)
    // A clock that is set back does not delay the end.
    device = world.children[3]!
    _ = device.step(.timer, now: now - .days(2), uptime: uptime + .minutes(61))
    #expect(device.activities.isEmpty)
  }

  @Test("S3: activities have limits")
  func limits() {
    var world = World.authorized()
    var activity = Self.activity(world)
    for number in 1...Limits.activities {
      activity.name = "\(number)"
      #expect(world.watch(activity) == .some(nil))
    }
    activity.name = "more"
    #expect(world.watch(activity) == .some(.tooMany))
    activity.name = "1"
    activity.end = activity.start + .minutes(14)
    #expect(world.watch(activity) == .some(.activityLength))
    activity.end = activity.start + .days(7) + .hours(1) + .milliseconds(1)
    #expect(world.watch(activity) == .some(.activityLength))
    activity.end = activity.start + .days(7)
    activity.thresholds = [Activity.Threshold("a", seconds: 0)]
    #expect(world.watch(activity) == .some(.malformed))
    activity.thresholds = [Activity.Threshold("", seconds: 1)]
    #expect(world.watch(activity) == .some(.badText))
    activity.thresholds = []
    #expect(world.watch(activity) == .some(nil))
    world.child(3, .app(World.app, .unwatch("1")))
    activity.name = "more"
    #expect(world.watch(activity) == .some(nil))
  }
}

extension World {
  /// The app on device 3 watches an activity.
  ///
  /// - Returns: The device's answer; `nil` without one.
  fileprivate mutating func watch(_ activity: Activity) -> Problem?? {
    let before = seen[3]?.count ?? 0
    child(3, .app(Self.app, .watch(activity)))
    for case .app(Self.app, .watched(activity.name, _, let problem, _)) in seen[3]![before...] {
      return .some(problem)
    }
    return nil
  }

  fileprivate mutating func show(_ pages: ShownPages, _ number: UInt64, of app: AppID = Self.app) {
    child(3, .app(app, .useWeb(number, pages)))
  }

  /// The moments in the entries that the app on device 3 has not acknowledged.
  fileprivate func moments() -> [ActivityMoment] {
    machines.children[3]!.feeds.first { $0.app == Self.app }!.entries.compactMap {
      if case .activity(_, _, let moment, _) = $0.body { moment } else { nil }
    }
  }
}
