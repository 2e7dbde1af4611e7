import FamilyHarness
import FamilyModel
import Testing

@testable import FamilyCore

/// The use of the web between an app, its device and the guardians' devices.
@Suite struct WebUseTests {
  private static let news = Site("news.example")!
  private static let games = Site("games.example")!

  private static func world() -> World {
    var world = World.withAccount()
    var rules = WebRules()
    rules.report = .sites
    world.guardian(1, .changeSettings(World.emily, .webRules(rules)))
    world.wait(.seconds(2))
    return world
  }

  @Test("S5: a device counts each message once, whatever order they arrive in")
  func once() {
    var world = Self.world()
    for message: UInt64 in [5, 5, 4, 5, 6] { world.shows(Self.news, 10, message) }
    #expect(world.stored() == [5, 5, 5, 5, 6])
    world.wait(.minutes(16))
    #expect(world.report(1) == [Self.news: 20])
    // Another app has numbers of its own.
    world.shows(Self.news, 7, 5, app: World.otherApp)
    world.wait(.minutes(16))
    #expect(world.report(1) == [Self.news: 27])
  }

  @Test("S5: the devices of a child report separately, and guardians read the sum")
  func devices() {
    var world = Self.world()
    world.shows(Self.news, 10, 1)
    world.shows(Self.games, 5, 1, on: 4)
    world.shows(Self.news, 3, 2, on: 4)
    world.wait(.minutes(16))
    for device: UInt32 in [1, 2, 3, 4] {
      #expect(world.report(device) == [Self.news: 13, Self.games: 5], "device \(device)")
    }
    #expect(world.report(5).isEmpty)
  }

  @Test("S5: reports are at least 15 minutes apart, and none follows without use")
  func interval() {
    var world = Self.world()
    func reports() -> Int {
      world.machines.log.count { $0.body.isWebReport }
    }
    for message in 1...100 {
      world.shows(Self.news, 15, UInt64(message))
      world.wait(.seconds(15))
    }
    // 25 minutes: at once, and after 15 minutes.
    #expect(reports() == 2)
    world.wait(.hours(10))
    #expect(reports() == 3)
    #expect(world.report(1) == [Self.news: 1_500])
  }

  @Test("S5: after a deletion no store of a device has the site, and no report returns")
  func deletion() {
    var world = Self.world()
    world.shows(Self.games, 40, 1)
    world.shows(Self.news, 20, 2)
    world.wait(.minutes(16))
    world.disconnect(4)
    world.guardian(2, .changeSettings(World.emily, .webUseDeleted(Self.games)))
    world.wait(.minutes(16))
    world.connect(4)
    world.wait(.minutes(16))
    for device: UInt32 in [1, 2, 3, 4] {
      #expect(world.report(device) == [Self.news: 20], "device \(device)")
      let held = world.machines.records(of: device).filter { record in
        switch record {
        case .webUse(_, let day, _): day.sites[Self.games] != nil
        case .webReport(_, _, let report): report.day.sites[Self.games] != nil
        case .event(let event): event.body.isWebReport
        default: false
        }
      }
      #expect(held.isEmpty, "device \(device) holds \(held)")
    }
  }

  @Test(
    "S5, X2: kills of a child's device at each effect lose nothing stored, and count nothing twice")
  func kills() {
    for effects in 0..<12 {
      var world = Self.world()
      world.shows(Self.news, 10, 1)
      world.forgetSeen()
      world.machines.kill = (3, effects)
      world.shows(Self.news, 20, 2)
      world.wait(.minutes(16))
      world.guardian(1, .changeSettings(World.emily, .webUseDeleted(Self.games)))
      world.wait(.minutes(16))
      if world.isKilled { world.revive() }
      world.machines.kill = nil
      // The app repeats what the device has not confirmed.
      world.shows(Self.news, 20, 2)
      world.wait(.minutes(16))
      #expect(world.report(1) == [Self.news: 30], "killed after \(effects) effects")
      #expect(world.report(3) == [Self.news: 30], "killed after \(effects) effects")
    }
  }

  @Test("S5: a restarted device has its days and those of others, and sends no report again")
  func restarts() {
    var world = Self.world()
    world.shows(Self.news, 10, 1)
    world.wait(.minutes(16))
    let count = world.machines.log.count
    for id: UInt32 in [1, 3] {
      world.disconnect(id)
      if id == 1 { world.restoreGuardian(id) } else { world.restoreChild(id, 3) }
      world.connect(id)
    }
    world.wait(.minutes(16))
    #expect(world.report(1) == [Self.news: 10] && world.report(3) == [Self.news: 10])
    #expect(world.machines.log.count == count)
    world.shows(Self.news, 10, 1)
    world.shows(Self.news, 4, 2)
    world.wait(.minutes(16))
    #expect(world.report(1) == [Self.news: 14])
  }

  @Test("S5: a device that leaves the family while a report is due has no deadline in the past")
  func removed() {
    var world = Self.world()
    world.shows(Self.news, 10, 1)
    world.shows(Self.news, 10, 2)
    var roster = World.roster
    roster.devices.removeAll { $0.id == DeviceID(3) }
    world.administrate(.setRoster(roster))
    world.wait(.minutes(20))
    world.child(3, .timer)
    #expect(world.machines.children[3]!.deadline.map { $0 > world.machines.now } ?? true)
  }

  @Test("S5: a device that has no relay for days keeps one report in its outbox, and all days")
  func away() {
    var world = Self.world()
    world.shows(Self.news, 10, 1)
    world.wait(.minutes(16))
    world.disconnect(3)
    for message: UInt64 in 2...200 {
      world.shows(Self.news, 10, message)
      world.wait(.minutes(16))
    }
    let machine = world.machines.children[3]!
    #expect(machine.link.pendingCommands.count == 1)
    #expect(machine.deadline.map { $0 > world.machines.now } ?? true)
    world.connect(3)
    for _ in 0..<4 { world.wait(.minutes(16)) }
    #expect(world.report(1) == [Self.news: 2_000])
  }

  @Test("S5: the days of all apps of a device are at most those that readers keep")
  func days() {
    var world = Self.world()
    for day: UInt64 in 1...40 {
      let app = day.isMultiple(of: 2) ? World.app : World.otherApp
      world.shows(Self.news, 10, day, app: app)
      world.wait(.hours(24))
    }
    let held = world.machines.records(of: 3).compactMap {
      if case .webUse(_, let day, _) = $0 { day.day } else { nil }
    }
    #expect(Set(held).count == Limits.webUseDays)
    let count = world.machines.log.count
    world.restoreChild(3, 3)
    world.connect(3)
    world.wait(.hours(2))
    #expect(world.machines.log.count == count)
  }

  @Test("S5: days that no report can have are not counted, so that the device starts again")
  func lateClock() throws {
    var world = Self.world()
    world.machines.now = Instant(milliseconds: 8_000_000_000_000)
    world.disconnect(3)
    world.connect(3)
    world.shows(Self.news, 10, 1)
    let years = world.machines.records(of: 3).compactMap {
      if case .webUse(_, let day, _) = $0 { day.day.year } else { nil }
    }
    #expect(years.allSatisfy(Limits.years.contains))
    #expect(world.stored() == [1])
  }

  @Test("S5: an app deletes its own history, and guardians see that")
  func history() {
    var world = Self.world()
    world.shows(Self.games, 40, 1)
    world.shows(Self.games, 2, 1, app: World.otherApp)
    world.child(3, .app(World.app, .deleteWebUse(2, .site(Self.games))))
    // A late message does not bring the time back.
    world.shows(Self.games, 40, 1)
    world.wait(.minutes(16))
    #expect(world.report(1) == [Self.games: 2])
    let days = world.machines.guardians[1]!.link.webReport(of: World.emily)
    #expect(days.map(\.isShortened) == [true])
  }
}

extension World {
  fileprivate mutating func shows(
    _ site: Site, _ seconds: UInt32, _ message: UInt64, app: AppID = World.app, on id: UInt32 = 3
  ) {
    child(id, .app(app, .useWeb(message, ShownPages(seconds: seconds, sites: [site: seconds]))))
  }

  /// The numbers that device 3 has confirmed.
  fileprivate func stored() -> [UInt64] {
    (seen[3] ?? []).compactMap {
      if case .app(_, .webUsed(let number)) = $0 { number } else { nil }
    }
  }

  /// The time of each site over all days, as a device knows it.
  fileprivate func report(_ id: UInt32) -> [Site: UInt32] {
    let link = machines.guardians[id]?.link ?? machines.children[id]!.link
    return link.webReport(of: Self.emily).reduce(into: [:]) { times, day in
      times.merge(day.sites, uniquingKeysWith: +)
    }
  }
}
