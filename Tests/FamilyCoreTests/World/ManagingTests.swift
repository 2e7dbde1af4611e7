import FamilyModel
import Testing

@testable import FamilyCore

/// Apps that guardians authorize to manage the child, and the settings that the device enforces.
@Suite struct ManagingTests {
  private static let site = Site("games.example")!

  private static var settings: ManagedSettings {
    var settings = ManagedSettings()
    settings.sites = .specific([site])
    settings.blockedApps = [World.app, World.otherApp]
    settings.deniesPeople = true
    return settings
  }

  @Test("S3: an approval authorizes the app that asked, on all devices of the child")
  func authorizes() {
    let world = World.authorized()
    for id: UInt32 in [3, 4] {
      #expect(world.children[id]!.isAuthorized(World.app))
      #expect(!world.children[id]!.isAuthorized(World.otherApp))
    }
    #expect(!world.children[5]!.isAuthorized(World.app))
  }

  @Test("S3: a declined question authorizes nothing, and limits that are off approve nothing")
  func declined() {
    var world = World.withAccount()
    world.guardian(1, .setLimits(child: World.emily, on: false))
    world.ask(World.authorizationQuestion)
    #expect(world.outcome(World.authorizationQuestion) == .sent)
    world.guardian(2, .answer(World.authorizationQuestion.id, choice: "decline"))
    world.wait(.seconds(2))
    #expect(!world.children[3]!.isAuthorized(World.app))
    #expect(world.manage(Self.settings) == .some(.notAuthorized))
    #expect(world.children[3]!.managedSettings.isEmpty)
  }

  @Test("S3: no question about people names an authorization")
  func forged() {
    var world = World.withAccount()
    let question = World.question(1, .authorization)
    world.child(3, .app(World.app, .attach(app: World.app, applied: 0)))
    world.child(3, .app(World.app, .ask(question, .byMessage)))
    #expect(world.outcome(question) == .refused(.badHandle))
    world.guardian(1, .changeContact(child: World.emily, .authorization, known: true))
    world.wait(.seconds(2))
    #expect(!world.children[3]!.isAuthorized(World.app))
  }

  @Test("S3: the device enforces the settings against every app, on this device only")
  func enforces() {
    var world = World.authorized()
    #expect(world.children[3]!.access(to: Self.site) == .allow)
    #expect(world.manage(Self.settings) == .some(nil))
    #expect(world.children[3]!.access(to: Self.site) == .block)
    #expect(world.children[3]!.access(to: Site("other.example")!) == .allow)
    #expect(world.children[4]!.access(to: Self.site) == .allow)
    // An app does not block itself.
    #expect(world.children[3]!.refusal(of: World.app) == nil)
    #expect(world.children[3]!.refusal(of: World.otherApp) == .appBlocked)
    let people = World.question(2)
    world.child(3, .app(World.app, .ask(people, .byMessage)))
    #expect(world.outcome(people) == .refused(.peopleDenied))
    world.child(3, .app(World.otherApp, .attach(app: World.otherApp, applied: 0)))
    #expect(world.take(3).contains(.app(World.otherApp, .failed(.appBlocked))))
    // An empty store ends the restrictions.
    #expect(world.manage(ManagedSettings()) == .some(nil))
    #expect(world.children[3]!.access(to: Self.site) == .allow)
    #expect(world.children[3]!.refusal(of: World.otherApp) == nil)
  }

  @Test("S3: all sites but the named ones are blocked; each store counts")
  func filters() {
    var world = World.authorized()
    var settings = ManagedSettings()
    settings.sites = .all(except: [Self.site])
    #expect(world.manage(settings, store: "a") == .some(nil))
    #expect(world.children[3]!.access(to: Self.site) == .allow)
    #expect(world.children[3]!.access(to: Site("other.example")!) == .block)
    settings.sites = .specific([Self.site])
    #expect(world.manage(settings, store: "b") == .some(nil))
    #expect(world.children[3]!.access(to: Self.site) == .block)
    #expect(world.manage(ManagedSettings(), store: "a") == .some(nil))
    #expect(world.children[3]!.access(to: Site("other.example")!) == .allow)
  }

  @Test("S3, X2: settings survive a kill, and end with the authorization at once, also offline")
  func withdrawn() {
    var world = World.authorized()
    #expect(world.manage(Self.settings) == .some(nil))
    world.restoreChild(3, 3)
    #expect(world.children[3]!.access(to: Self.site) == .block)
    world.connect(3)
    world.guardian(2, .withdraw(child: World.emily, .handle(.authorization, in: World.app)))
    world.wait(.seconds(2))
    #expect(world.children[3]!.access(to: Self.site) == .allow)
    #expect(world.children[3]!.managed.isEmpty)
    world.disconnect(3)
    world.restoreChild(3, 3)
    #expect(world.children[3]!.managed.isEmpty)
    #expect(world.manage(Self.settings) == .some(.notAuthorized))
  }

  @Test("S3, Q12: an authorization with an end takes the settings back without a connection")
  func ends() {
    var world = World.withAccount()
    let hour = Choice(id: "hour", title: "Hour", answer: .approval, end: .after(.hours(1)))
    let question = Question(
      id: QuestionID(high: 70, low: 2), topic: .authorization, choices: [hour, .decline])
    world.ask(question)
    world.guardian(1, .answer(question.id, choice: "hour"))
    world.wait(.seconds(2))
    #expect(world.manage(Self.settings) == .some(nil))
    world.disconnect(3)
    world.wait(.minutes(61))
    #expect(world.children[3]!.managed.isEmpty)
    #expect(world.children[3]!.access(to: Self.site) == .allow)
  }

  @Test("S3: stores, sites and apps have limits")
  func limits() {
    var world = World.authorized()
    var settings = ManagedSettings()
    settings.deniesPeople = true
    for number in 1...Limits.managedStores {
      #expect(world.manage(settings, store: "\(number)") == .some(nil))
    }
    #expect(world.manage(settings, store: "more") == .some(.tooMany))
    #expect(world.manage(settings, store: "") == .some(.badText))
    settings.blockedApps = Set((0...Limits.blockedApps).map { AppID("\($0)") })
    #expect(world.manage(settings, store: "1") == .some(.tooMany))
    settings.blockedApps = []
    settings.sites = .all(except: Set((0...Limits.managedSites).map { Site("s\($0).example")! }))
    #expect(world.manage(settings, store: "1") == .some(.tooMany))
  }

  @Test("S3: the app's machine sends its settings again at each attachment, until the end")
  func app() {
    var app = AppMachine(World.app)
    let attach: [AppReply] = [.attached(acknowledged: 0), .caughtUp]
    #expect(app.authorization == .undetermined)
    #expect(app.step(.manage("a", Self.settings)) == [.managed("a", .notAuthorized)])
    _ = app.step(.connected)
    for reply in attach { _ = app.step(.reply(reply)) }
    let approved = AppEntry(position: 1, body: .response(World.authorizationQuestion, .approve))
    let answered = AppMachine.Effect.authorized(World.authorizationQuestion.id, true)
    #expect(app.step(.reply(.entry(approved))).contains(answered))
    #expect(app.authorization == .approved)
    let record = AppRecord.managed("a", Self.settings)
    #expect(
      app.step(.manage("a", Self.settings))
        == [.persist([.put(record)]), .send(.manage("a", Self.settings))])
    #expect(app.step(.manage("a", Self.settings)) == [])
    // A killed app has the settings from its records.
    app = AppMachine(
      World.app,
      restoring: [.known(.authorization), .position(applied: 1, consumed: 1), record])
    _ = app.step(.connected)
    _ = app.step(.reply(attach[0]))
    #expect(app.step(.reply(.caughtUp)).contains(.send(.manage("a", Self.settings))))
    let ended = AppEntry(position: 2, body: .forgotten([.authorization]))
    guard case .persist(let changes) = app.step(.reply(.entry(ended))).first else {
      Issue.record("the end is not durable")
      return
    }
    #expect(changes.contains(.put(.authorizationDenied)))
    #expect(changes.contains(.remove(.managed("a", ManagedSettings()))))
    #expect(app.authorization == .denied && app.managed.isEmpty)
  }
}

extension World {
  /// The app on a device replaces the settings of its store.
  ///
  /// - Returns: The device's answer; `nil` without one.
  mutating func manage(
    _ settings: ManagedSettings, store: String = "default", on id: UInt32 = 3
  ) -> Problem?? {
    seen[id] = []
    child(id, .app(Self.app, .manage(store, settings)))
    for case .app(Self.app, .managed(store, let problem)) in take(id) { return .some(problem) }
    return nil
  }
}
