import FamilyModel
import Testing

@testable import FamilyCore

/// The activities in the machine of an app.
@Suite struct PlannedActivityTests {
  private static let activity = Activity(
    "bedtime", number: 1, from: Instant(milliseconds: 0), to: Instant(milliseconds: 3_600_000))

  private static func attached(_ records: [AppRecord] = []) -> AppMachine {
    var app = AppMachine(
      World.app,
      restoring: [.known(.authorization), .position(applied: 1, consumed: 1)] + records)
    _ = app.step(.connected)
    _ = app.step(.reply(.attached(acknowledged: 1)))
    return app
  }

  private static let time = Instant(milliseconds: 7)

  private static func entry(_ position: UInt64, _ moment: ActivityMoment, _ number: UInt64 = 1)
    -> AppMachine.Input
  {
    let body = AppEntry.Body.activity("bedtime", number, moment, at: time)
    return .reply(.entry(AppEntry(position: position, body: body)))
  }

  @Test("S3: an app sends an activity until the device confirms it")
  func confirms() {
    var app = AppMachine(World.app)
    #expect(
      app.step(.watch(Self.activity, schedule: [])) == [.watched("bedtime", .notAuthorized)])
    app = Self.attached()
    let planned = PlannedActivity(Self.activity, schedule: [7])
    let effects = app.step(.watch(Self.activity, schedule: [7]))
    #expect(effects.first == .persist([.put(.activity(planned))]))
    #expect(effects.last == .send(.watch(Self.activity)))
    // The device has not answered the former process.
    app = Self.attached([.activity(planned)])
    #expect(app.step(.reply(.caughtUp)).contains(.send(.watch(Self.activity))))
    var confirmed = planned
    confirmed.isConfirmed = true
    #expect(
      app.step(.reply(.watched("bedtime", 1, nil, at: Self.time)))
        == [.persist([.put(.activity(confirmed))]), .watched("bedtime", nil)])
    app = Self.attached([.activity(confirmed)])
    #expect(!app.step(.reply(.caughtUp)).contains(.send(.watch(Self.activity))))
    // A device that lost its store gets the activity again.
    let reset = app.step(.reply(.reset(position: 1, known: [.authorization])))
    guard case .persist(let changes) = reset.first else {
      Issue.record("the reset is not durable")
      return
    }
    #expect(changes.contains(.put(.activity(planned))))
    #expect(app.step(.reply(.caughtUp)).contains(.send(.watch(Self.activity))))
  }

  @Test("S3: the answer about a former interval confirms no later one")
  func earlierAnswer() {
    var app = Self.attached()
    _ = app.step(.watch(Self.activity, schedule: []))
    var later = Self.activity
    later.number = 2
    _ = app.step(.watch(later, schedule: []))
    #expect(app.step(.reply(.watched("bedtime", 1, nil, at: Self.time))) == [])
    #expect(app.planned["bedtime"] == PlannedActivity(later, schedule: []))
    #expect(!app.step(.reply(.watched("bedtime", 2, nil, at: Self.time))).isEmpty)
    #expect(app.planned["bedtime"]?.isConfirmed == true)
  }

  @Test("S3: a temporary refusal keeps the activity for the next attachment")
  func refusedForNow() {
    var app = Self.attached()
    _ = app.step(.watch(Self.activity, schedule: []))
    #expect(
      app.step(.reply(.watched("bedtime", 1, .appBlocked, at: Self.time)))
        == [.watched("bedtime", .appBlocked)])
    #expect(app.step(.reply(.caughtUp)).contains(.send(.watch(Self.activity))))
  }

  @Test("S3: a refused activity is gone, and one that is over ends for the app's code")
  func refused() {
    var app = Self.attached()
    _ = app.step(.watch(Self.activity, schedule: []))
    #expect(
      app.step(.reply(.watched("bedtime", 1, .activityOver, at: Self.time)))
        == [.moment(nil, "bedtime", 1, .ended, at: Self.time)])
    #expect(app.planned["bedtime"] != nil)
    _ = app.step(.watch(Self.activity, schedule: []))
    let planned = PlannedActivity(Self.activity, schedule: [])
    #expect(
      app.step(.reply(.watched("bedtime", 1, .tooMany, at: Self.time)))
        == [.persist([.remove(.activity(planned))]), .watched("bedtime", .tooMany)])
    #expect(app.planned.isEmpty)
  }

  @Test("S3, X2: a moment reaches the app's code until it is consumed")
  func moments() {
    let planned = AppRecord.activity(
      PlannedActivity(Self.activity, schedule: [], isConfirmed: true))
    var app = Self.attached([planned])
    // Without a monitor, the device keeps the entry.
    #expect(!app.step(Self.entry(2, .started)).contains(.send(.acknowledge(2))))
    #expect(app.step(.handleMoments).contains(.moment(2, "bedtime", 1, .started, at: Self.time)))
    // The process is killed before its code has handled the moment.
    app = Self.attached([planned, .position(applied: 2, consumed: 1)])
    _ = app.step(.handleMoments)
    let started = AppMachine.Effect.moment(2, "bedtime", 1, .started, at: Self.time)
    #expect(app.step(Self.entry(2, .started)).contains(started))
    #expect(app.step(.consumed(2)).contains(.send(.acknowledge(2))))
    let ended = AppMachine.Effect.moment(3, "bedtime", 1, .ended, at: Self.time)
    #expect(app.step(Self.entry(3, .ended)).contains(ended))
    #expect(app.step(.consumed(3)).contains(.send(.acknowledge(3))))
    // Of a replaced interval, only the end reaches the code.
    let former = app.step(Self.entry(4, .started, 7))
    #expect(former.contains(.send(.acknowledge(4))))
    #expect(!former.contains(.moment(4, "bedtime", 7, .started, at: Self.time)))
    #expect(
      app.step(Self.entry(5, .ended, 7))
        .contains(.moment(5, "bedtime", 7, .ended, at: Self.time)))
  }

  @Test("S3: moments without a reader stop waiting when their activity is not watched any more")
  func unwatches() {
    var app = Self.attached()
    _ = app.step(.watch(Self.activity, schedule: []))
    #expect(!app.step(Self.entry(2, .started)).contains(.send(.acknowledge(2))))
    let effects = app.step(.unwatch("bedtime"))
    #expect(effects.contains(.send(.acknowledge(2))) && effects.last == .send(.unwatch("bedtime")))
  }

  @Test("S3: the end of the authorization ends all activities")
  func authorization() {
    var app = Self.attached()
    _ = app.step(.watch(Self.activity, schedule: []))
    let ended = AppEntry(position: 2, body: .forgotten([.authorization]))
    guard case .persist(let changes) = app.step(.reply(.entry(ended))).first else {
      Issue.record("the end is not durable")
      return
    }
    #expect(changes.contains(.remove(.activity(PlannedActivity(Self.activity, schedule: [])))))
    #expect(app.planned.isEmpty)
  }

  @Test("S3: a consent that is given back sends the activities and stores again")
  func consent() {
    var app = Self.attached()
    var settings = ManagedSettings()
    settings.deniesPeople = true
    _ = app.step(.manage("a", settings))
    _ = app.step(.watch(Self.activity, schedule: []))
    _ = app.step(.reply(.watched("bedtime", 1, nil, at: Self.time)))
    _ = app.step(.reply(.entry(AppEntry(position: 2, body: .consentWithdrawn))))
    #expect(app.planned["bedtime"]?.isConfirmed == false)
    let given = app.step(.reply(.entry(AppEntry(position: 3, body: .consentGiven))))
    #expect(given.contains(.send(.watch(Self.activity))))
    #expect(given.contains(.send(.manage("a", settings))))
  }

  @Test("S3: the device ends an activity that the app does not watch")
  func orphan() {
    var app = Self.attached()
    let effects = app.step(Self.entry(2, .started))
    #expect(effects.contains(.send(.unwatch("bedtime"))))
    #expect(effects.contains(.send(.acknowledge(2))))
  }

  @Test("S3, X2: an emptied store is sent until the device has answered")
  func emptied() {
    var app = Self.attached()
    var settings = ManagedSettings()
    settings.deniesPeople = true
    _ = app.step(.manage("a", settings))
    _ = app.step(.reply(.managed("a", nil)))
    let record = AppRecord.managed("a", ManagedSettings())
    #expect(app.step(.manage("a", ManagedSettings())).first == .persist([.put(record)]))
    // The app is killed before the device receives the request.
    app = Self.attached([record])
    #expect(app.step(.reply(.caughtUp)).contains(.send(.manage("a", ManagedSettings()))))
    #expect(
      app.step(.reply(.managed("a", nil))) == [.persist([.remove(record)]), .managed("a", nil)])
    #expect(!app.step(.reply(.caughtUp)).contains(.send(.manage("a", ManagedSettings()))))
  }
}
