@testable import FamilyCore
import FamilyModel
import Testing

/// The lists of apps that children's devices report to the guardians.
@Suite struct AppListTests {
  /// The apps of Emily as the guardian's device sees them: device, app and rating.
  private func listed(_ world: World, by guardian: UInt32 = 1) -> [String] {
    world.guardians[guardian]!.link.apps(of: World.emily).map { app in
      "\(app.device.rawValue) \(app.listed.app.rawValue) \(app.listed.rating?.rawValue ?? 0)"
    }
  }

  private func reports(_ world: World) -> Int {
    world.machines.log.count {
      if case .ageNoted(_, .apps) = $0.body { true } else { false }
    }
  }

  private static let all = [
    "3 example.landmarks 9", "4 example.landmarks 9", "3 example.other 0", "4 example.other 0",
  ]

  @Test("D13: guardians list the apps on each device of a child, with their ratings") func list() {
    let world = World()
    #expect(listed(world) == Self.all && listed(world, by: 2) == Self.all)
    // The other devices of the child see the list, and an adult lists nothing.
    #expect(world.children[4]!.link.apps(of: World.emily).count == 4)
    #expect(world.children[5]!.link.apps(of: World.emily).isEmpty)
    #expect(reports(world) == 2)
  }

  @Test("D13: the list has names and frameworks, and changes when an app registers")
  func registers() throws {
    var world = World()
    func app() -> ListedApp? {
      world.guardians[1]!.link.apps(of: World.emily).first { $0.device == DeviceID(3) }?.listed
    }
    #expect(app()?.frameworks == .ageRanges && app()?.name == nil)
    world.child(3, .app(World.app, .register))
    #expect(app()?.frameworks == [.ageRanges, .permissions])
    world.manifests[World.app]?.name = "Landmarks"
    world.restoreChild(3, 3)
    world.connect(3)
    #expect(app()?.name == "Landmarks")
    #expect(world.guardians[2]!.link.name(of: World.app) == "Landmarks")
    #expect(world.guardians[2]!.link.appNames == [World.app: "Landmarks"])
  }

  @Test("D13: an unchanged list is sent once, whatever restarts") func idempotent() {
    var world = World()
    for _ in 0..<3 {
      world.child(3, .app(World.app, .register))
      world.restoreChild(3, 3)
      world.connect(3)
      world.restartRelay()
    }
    #expect(reports(world) == 3 && listed(world) == Self.all)
    world.restoreGuardian(1)
    #expect(listed(world) == Self.all)
  }

  @Test("D13: a list that the device could not send before its death is sent after the restart")
  func outbox() {
    var world = World()
    world.disconnect(3)
    world.child(3, .app(World.app, .register))
    #expect(reports(world) == 2)
    world.restoreChild(3, 3)
    world.connect(3)
    #expect(reports(world) == 3)
  }

  @Test("D13: a removed app and the apps of a removed device disappear") func removed() {
    var world = World()
    world.restoreChild(3, 3, apps: [World.otherApp])
    world.connect(3)
    #expect(listed(world) == Self.all.filter { $0 != "3 example.landmarks 9" })
    world.restoreChild(3, 3, apps: [])
    world.connect(3)
    #expect(listed(world) == Self.all.filter { $0.hasPrefix("4") })
    var roster = World.roster
    roster.devices.removeAll { $0.id == DeviceID(4) }
    world.administrate(.setRoster(roster))
    #expect(listed(world) == [])
  }

  @Test("D13: each guardian is notified of a rating that rises, once and durably") func rises() {
    var world = World()
    func install(_ rating: AgeRating?, on device: UInt32 = 3) {
      world.manifests[World.app]?.ageRating = rating
      world.restoreChild(device, 3)
      world.connect(device)
    }
    func kept(_ guardian: UInt32) -> [Notice] {
      world.guardians[guardian]!.notifications.all.map(\.notice)
    }
    func raised(_ rating: AgeRating) -> Notice {
      .ratingsRaised(child: World.emily, [RisenRating(app: World.app, rating: rating)])
    }
    install(.four)
    #expect(kept(1) == [])
    install(.thirteen)
    #expect(kept(1) == [raised(.thirteen)] && kept(2) == [raised(.thirteen)])
    // The child's other device follows: the guardians know already.
    install(.thirteen, on: 4)
    // An app without a rating counts as the highest.
    install(nil)
    #expect(kept(1) == [raised(.thirteen), raised(.eighteen)])
    world.restoreGuardian(1)
    world.disconnect(1)
    world.connect(1)
    install(.eighteen)
    #expect(kept(1) == [raised(.thirteen), raised(.eighteen)])
    // A removed app that returns with a higher rating is new.
    world.restoreChild(3, 3, apps: [])
    world.connect(3)
    install(.eighteen)
    #expect(kept(2).count == 2)
  }

  @Test("D13: the times of an app and of its rating survive a restart") func times() throws {
    var world = World()
    let start = world.machines.now
    world.machines.now = start + .hours(5)
    world.manifests[World.app]?.ageRating = .sixteen
    world.restoreChild(3, 3)
    world.connect(3)
    world.restoreGuardian(2)
    for guardian: UInt32 in [1, 2] {
      let app = try #require(world.guardians[guardian]!.link.apps(of: World.emily).first)
      #expect(app.since <= start && app.ratedSince >= start + .hours(5))
    }
  }

  @Test("D13: the list is bounded, and a name that no message can carry is left out")
  func bounded() throws {
    var world = World()
    let apps = (0..<200).map { AppID("example.app\(1000 + $0)") }
    world.manifests = [
      apps[0]: AppManifest(name: String(repeating: "a", count: Limits.titleBytes + 1)),
      apps[1]: AppManifest(name: ""), apps[2]: AppManifest(name: "Two"),
    ]
    world.restoreChild(3, 3, apps: apps + [AppID(String(repeating: "b", count: 129))])
    world.connect(3)
    let listed = world.guardians[1]!.link.apps(of: World.emily).filter { $0.device == DeviceID(3) }
    #expect(listed.map(\.listed.app) == Array(apps.prefix(Limits.listedApps)))
    #expect(listed.prefix(3).map(\.listed.name) == [nil, nil, "Two"])
  }

  @Test("D13: only the child's own devices report apps") func authors() {
    var world = World()
    let count = reports(world)
    let forged = Content.apps([ListedApp(app: AppID("example.forged"))])
    world.request(1, 900, .command(ID128(high: 9, low: 900), .noteAge(World.emily, forged)))
    world.request(5, 901, .command(ID128(high: 9, low: 901), .noteAge(World.emily, forged)))
    #expect(reports(world) == count && listed(world) == Self.all)
  }

  @Test(
    "D13, X2: kill -9 of the child's device or of the relay at each step loses no app",
    arguments: 0..<3, [true, false])
  func kills(step: Int, isDevice: Bool) {
    var world = World()
    func kill(_ number: Int) { if number == step { world.kill(isDevice: isDevice) } }
    kill(0)
    world.manifests[World.app]?.ageRating = .sixteen
    world.restoreChild(3, 3)
    kill(1)
    world.connect(3)
    kill(2)
    world.wait(.minutes(1))
    let expected = [
      "3 example.landmarks 16", "4 example.landmarks 9", "3 example.other 0", "4 example.other 0",
    ]
    #expect(listed(world) == expected && listed(world, by: 2) == expected)
    #expect(reports(world) == 3)
  }
}
