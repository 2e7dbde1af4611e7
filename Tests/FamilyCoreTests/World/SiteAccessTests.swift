import FamilyModel
import Testing

@testable import FamilyCore

/// The access to sites between a device and its app.
@Suite struct SiteAccessTests {
  private static let site = Site("example.co.uk")!
  private static let other = Site("other.example")!

  private static func world(_ others: WebAccess = .ask) -> World {
    var world = World.withAccount()
    world.setWeb(others)
    world.child(3, .app(World.app, .attach(app: World.app, applied: 0)))
    return world
  }

  @Test("S5: a device answers an app about the sites that the app names, and reports each change")
  func device() throws {
    var world = Self.world()
    #expect(
      world.answers([Self.site, Self.other])
        == [SiteAccess(Self.site, .ask), SiteAccess(Self.other, .ask)])
    let hour = Choice(id: "hour", title: "Hour", answer: .approval, end: .after(.hours(1)))
    let question = Question(
      id: QuestionID(high: 60, low: 1), topic: .browse(Self.site), choices: [hour, .decline])
    world.ask(question)
    #expect(world.changes() == 0)
    world.guardian(1, .answer(question.id, choice: "hour"))
    world.wait(.seconds(2))
    #expect(world.changes() == 1)
    let opened = try #require(world.answers([Self.site])?.first)
    let until = try #require(opened.until)
    #expect(opened.access == .allow && until <= world.machines.now + .hours(1))
    world.wait(.minutes(61))
    #expect(world.changes() == 1)
    #expect(world.answers([Self.site]) == [SiteAccess(Self.site, .ask)])
    world.setWeb(.block)
    #expect(world.changes() == 1)
    #expect(world.answers([Self.other]) == [SiteAccess(Self.other, .block)])
    // The same rules again, and an approval of a person, change no answer.
    world.setWeb(.block)
    world.guardian(1, .changeContact(child: World.emily, Handle("ada", .custom), known: true))
    world.wait(.seconds(2))
    #expect(world.changes() == 0)
  }

  @Test("S5: a withdrawal reaches the app; an allowed site has no end")
  func withdrawn() throws {
    var world = Self.world()
    let question = Question(id: QuestionID(high: 60, low: 2), topic: .browse(Self.site))
    world.ask(question)
    world.guardian(1, .answer(question.id, choice: "approve"))
    world.wait(.seconds(2))
    #expect(world.answers([Self.site]) == [SiteAccess(Self.site, .allow)])
    world.guardian(2, .withdraw(child: World.emily, .handle(Handle(Self.site), in: nil)))
    world.wait(.seconds(2))
    #expect(world.changes() == 1)
    #expect(world.answers([Self.site]) == [SiteAccess(Self.site, .ask)])
  }

  @Test("S5: an app that named no site learns of no change")
  func unasked() {
    var world = Self.world()
    world.setWeb(.block)
    #expect(world.changes() == 0)
  }

  @Test("S5: rules restrict the web only if they differ from the default")
  func restricted() {
    var world = Self.world(.allow)
    #expect(world.answer([])?.isRestricted == false)
    world.setWeb(.allow, [Self.site: .block])
    #expect(world.answer([])?.isRestricted == true)
    world.child(5, .app(World.app, .attach(app: World.app, applied: 0)))
    world.child(5, .app(World.app, .sites([Self.site])))
    // The adult's device has no rules.
    let adult = world.take(5).contains {
      $0 == .app(World.app, .sites([SiteAccess(Self.site, .allow)], isRestricted: false))
    }
    #expect(adult)
  }

  @Test("S5: a device that has not read the family's rules gives no answer, and reports them")
  func unread() {
    var world = World(isConnected: false)
    for id: UInt32 in [1, 2] { world.connect(id) }
    world.setWeb(.block)
    world.child(3, .app(World.app, .attach(app: World.app, applied: 0)))
    #expect(world.answers([Self.site]) == nil)
    world.connect(3)
    world.wait(.seconds(2))
    #expect(world.changes() == 1)
    #expect(world.answers([Self.site]) == [SiteAccess(Self.site, .block)])
  }

  @Test("S5: a device that a guardian removed answers no app about sites")
  func removed() {
    var world = Self.world(.allow)
    #expect(world.answers([Self.site]) == [SiteAccess(Self.site, .allow)])
    var roster = World.roster
    roster.devices.removeAll { $0.id == DeviceID(3) }
    world.administrate(.setRoster(roster))
    // A connected device is still subscribed to the old channel, on which it receives the roster.
    let event = world.log.last { if case .rosterChanged = $0.body { true } else { false } }
    world.child(3, .broadcast(.event(event!)))
    #expect(world.answers([Self.site]) == nil)
  }

  @Test("S5, Q12: from the end of an approval on, the cached answer asks again")
  func ended() {
    let end = Instant(milliseconds: 5_000)
    let access = SiteAccess(Self.site, .allow, until: end)
    #expect(access.access(at: end - .milliseconds(1)) == .allow && access.access(at: end) == .ask)
    #expect(SiteAccess(Self.site, .allow).access(at: end) == .allow)
    #expect(SiteAccess(Self.site, .block, until: end).access(at: end) == .block)
  }
}

/// The cache of sites in an app.
@Suite struct SiteCacheTests {
  private static let site = Site("example.co.uk")!
  private static let other = Site("other.example")!
  private var app = AppMachine(World.app)

  private mutating func attach() -> [AppMachine.Effect] {
    _ = app.step(.connected)
    _ = app.step(.reply(.attached(acknowledged: 0)))
    return app.step(.reply(.caughtUp))
  }

  @Test("S5: an app requests its sites after each attachment and each change")
  mutating func requests() {
    #expect(app.step(.sites([Self.site])) == [])
    #expect(attach() == [.caughtUp, .send(.sites([Self.site]))])
    #expect(app.step(.sites([Self.other])) == [.send(.sites([Self.other]))])
    let allowed = SiteAccess(Self.site, .allow)
    #expect(
      app.step(
        .reply(.sites([allowed, SiteAccess(Site("third.example")!, .allow)], isRestricted: true)))
        == [.persist([.put(.site(allowed)), .put(.webRestricted(true))]), .sitesChanged])
    // An answer without news changes nothing.
    #expect(app.step(.reply(.sites([allowed], isRestricted: true))) == [])
    #expect(app.visibleSites == [Self.site: allowed] && app.isWebRestricted == true)
    #expect(app.step(.reply(.sitesChanged)) == [.send(.sites([Self.site, Self.other]))])
    _ = app.step(.disconnected)
    #expect(app.step(.sites([Self.other])) == [])
    #expect(attach() == [.caughtUp, .send(.sites([Self.site, Self.other]))])
  }

  @Test("S5: an app that names no site requests nothing, and rejects answers")
  mutating func silent() {
    #expect(attach() == [.caughtUp])
    #expect(app.step(.reply(.sites([SiteAccess(Self.site, .allow)], isRestricted: true))) == [])
    #expect(app.visibleSites.isEmpty && app.isWebRestricted == nil)
    #expect(app.step(.sites([])) == [.send(.sites([]))])
  }

  @Test("S5, X2: a killed app has the answers without its device, and requests them again")
  mutating func restart() {
    _ = app.step(.sites([Self.site]))
    _ = attach()
    let allowed = SiteAccess(Self.site, .allow)
    let effects = app.step(.reply(.sites([allowed], isRestricted: true)))
    guard case .persist(let changes) = effects.first else {
      Issue.record("nothing is durable")
      return
    }
    app = AppMachine(
      World.app,
      restoring: changes.compactMap { if case .put(let record) = $0 { record } else { nil } })
    #expect(app.visibleSites == [Self.site: allowed] && app.isWebRestricted == true)
    #expect(attach() == [.caughtUp, .send(.sites([Self.site]))])
    let blocked = SiteAccess(Self.site, .block)
    _ = app.step(.reply(.sites([blocked], isRestricted: true)))
    #expect(app.visibleSites == [Self.site: blocked])
  }

  @Test("S5, R9: an app without consent knows no site")
  mutating func consent() {
    app = AppMachine(
      World.app, restoring: [.site(SiteAccess(Self.site, .allow)), .consentWithdrawn])
    #expect(app.visibleSites.isEmpty)
  }

  @Test("S5: an app forgets the site that it named first above the limit of its cache")
  mutating func limit() {
    _ = attach()
    let sites = (0...Limits.cachedSites).map { Site("s\($0).example")! }
    for site in sites.dropLast() {
      _ = app.step(.sites([site]))
      _ = app.step(.reply(.sites([SiteAccess(site, .allow)], isRestricted: false)))
    }
    #expect(app.visibleSites.count == Limits.cachedSites)
    let forgotten = app.step(.sites([sites.last!]))
    #expect(forgotten.first == .persist([.remove(.site(SiteAccess(sites[0], .allow)))]))
    _ = app.step(.reply(.sites([SiteAccess(sites.last!, .allow)], isRestricted: false)))
    #expect(app.visibleSites.count == Limits.cachedSites)
    #expect(app.visibleSites[sites[0]] == nil && app.visibleSites[sites.last!] != nil)
    let requests = app.step(.reply(.sitesChanged))
    #expect(requests.count == Limits.cachedSites / Limits.sitesInMessage)
  }

  @Test("S5: the response to a question to browse waits for no loop")
  mutating func response() {
    _ = attach()
    let question = Question(id: QuestionID(high: 60, low: 3), topic: .browse(Self.site))
    let entry = AppEntry(position: 1, body: .response(question, .approve))
    #expect(app.step(.reply(.entry(entry))).contains(.send(.acknowledge(1))))
  }
}

extension World {
  /// Requests the access on device 3, as its app does; `nil` without an answer.
  fileprivate mutating func answer(_ sites: [Site]) -> (sites: [SiteAccess], isRestricted: Bool)? {
    _ = take(3)
    child(3, .app(World.app, .sites(sites)))
    for case .app(World.app, .sites(let sites, let isRestricted)) in take(3) {
      return (sites, isRestricted)
    }
    return nil
  }

  fileprivate mutating func answers(_ sites: [Site]) -> [SiteAccess]? { answer(sites)?.sites }

  /// The number of changes that device 3 reported to its app since the last call.
  fileprivate mutating func changes() -> Int {
    take(3).count { $0 == .app(World.app, .sitesChanged) }
  }
}
