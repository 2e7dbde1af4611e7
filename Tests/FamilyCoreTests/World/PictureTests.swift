import FamilyModel
import Testing

@testable import FamilyCore

/// The setting for sensitive pictures and the check of pictures, between a device and its apps.
@Suite struct PictureTests {
  private static func world(_ setting: CommunicationSafety = .simple) -> World {
    var world = World.withAccount()
    world.setSafety(setting)
    world.child(3, .app(World.app, .attach(app: World.app, applied: 0)))
    return world
  }

  /// A valid picture of one pixel, with bytes after its end.
  static func picture(_ number: UInt8 = 0, bytes: Int = 100) -> Avatar {
    var png: [UInt8] = [
      0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 0,
      1, 0, 0, 0, 1, 8, 0, 0, 0, 0, 0x3A, 0x7E, 0x9B, 0x55, 0, 0, 0, 10, 0x49, 0x44, 0x41, 0x54,
      0x78, 0x9C, 0x63, 0xF8, 0x0F, 0, 1, 1, 1, 0, 0xB1, 0x38, 0xF6, 0x14, 0, 0, 0, 0, 0x49, 0x45,
      0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82, number,
    ]
    png += [UInt8](repeating: 0, count: bytes - png.count)
    return Avatar(mediaType: "image/png", bytes: png)
  }

  @Test("S2: a device reports the setting to an app that requests it, and each change once")
  func setting() {
    var world = Self.world()
    #expect(world.settings() == [])
    world.child(3, .app(World.app, .safety))
    #expect(world.settings() == [.simple])
    world.setSafety(.descriptive)
    #expect(world.settings() == [.descriptive])
    // The same setting again, and rules for the web, change no answer.
    world.setSafety(.descriptive)
    world.setWeb(.block)
    #expect(world.settings() == [])
    world.child(3, .app(World.app, .safety))
    #expect(world.settings() == [.descriptive])
    world.child(3, .appGone(World.app, exited: true))
    world.setSafety(.off)
    #expect(world.settings() == [])
    world.child(5, .app(World.app, .attach(app: World.app, applied: 0)))
    world.child(5, .app(World.app, .safety))
    #expect(world.take(5).contains(.app(World.app, .safety(.off))))
  }

  @Test("S2: a device that has not read the setting reports none, and checks pictures")
  func unread() {
    var world = World(isConnected: false)
    for id: UInt32 in [1, 2] { world.connect(id) }
    world.setSafety(.off)
    world.child(3, .app(World.app, .attach(app: World.app, applied: 0)))
    world.child(3, .app(World.app, .safety))
    #expect(world.settings() == [])
    #expect(world.check(1) != nil)
    world.connect(3)
    world.wait(.seconds(2))
    #expect(world.settings() == [.off])
    #expect(world.check(2) == nil && world.analyses() == [2: .failed(.picturesNotChecked)])
  }

  @Test("S2: a verdict reaches the app under its number; a wrong picture is refused at once")
  func verdicts() throws {
    var world = Self.world()
    for (number, analysis) in [
      (UInt64(7), PictureAnalysis.checked(isSensitive: true)), (8, .checked(isSensitive: false)),
      (9, .failed(.noVerdict)),
    ] {
      let found = world.check(number)
      let check = try #require(found)
      world.child(3, .pictureChecked(check, analysis))
      #expect(world.analyses() == [number: analysis])
      // A second verdict has no check.
      world.child(3, .pictureChecked(check, .checked(isSensitive: false)))
      #expect(world.analyses() == [:])
    }
    let large = Self.picture(bytes: Limits.avatarBytes + 1)
    #expect(world.check(1, large) == nil && world.analyses() == [1: .failed(.imageTooLarge)])
    for bad in [
      Avatar(mediaType: "image/png", bytes: [1, 2, 3]), Avatar(mediaType: "image/png", bytes: []),
      Avatar(mediaType: "text/html", bytes: Self.picture().bytes),
    ] {
      #expect(world.check(1, bad) == nil && world.analyses() == [1: .failed(.badImage)])
    }
    #expect(world.check(1, Self.picture(bytes: Limits.avatarBytes)) != nil)
  }

  @Test("S2: an app's pictures are bounded by their number and bytes; an end makes room")
  func bounds() throws {
    var world = Self.world()
    let checks = (0..<Limits.appPictures).map { world.check(UInt64($0))! }
    #expect(world.check(99) == nil && world.analyses() == [99: .failed(.tooManyPictures)])
    world.child(3, .pictureChecked(checks[0], .failed(.noVerdict)))
    _ = world.analyses()
    #expect(world.check(99) != nil)
    world = Self.world()
    let count = Limits.appPictureBytes / Limits.avatarBytes
    for number in 0..<count {
      #expect(world.check(UInt64(number), Self.picture(bytes: Limits.avatarBytes)) != nil)
    }
    #expect(world.check(99) == nil && world.analyses() == [99: .failed(.tooManyPictures)])
  }

  @Test("S2: the pictures of all apps of a device are bounded")
  func deviceBound() {
    var checks = PictureChecks()
    var refused = 0
    for index in 0..<Limits.devicePictures + 1 {
      let app = AppID("app\(index / Limits.appPictures)")
      do throws(Problem) { _ = try checks.start(Self.picture(), UInt64(index), of: app) } catch {
        #expect(error == .tooManyPictures && index == Limits.devicePictures)
        refused += 1
      }
    }
    #expect(refused == 1)
  }

  @Test("S2: an app that leaves gets no verdict and no room; its repetition joins the check")
  func leaves() throws {
    var world = Self.world()
    let checks = (0..<Limits.appPictures).map { world.check(UInt64($0))! }
    for exited in [false, true] {
      world.child(3, .appGone(World.app, exited: exited))
      world.child(3, .app(World.app, .attach(app: World.app, applied: 0)))
      #expect(world.check(99) == nil && world.analyses() == [99: .failed(.tooManyPictures)])
    }
    world.child(3, .pictureChecked(checks[0], .checked(isSensitive: false)))
    #expect(world.analyses() == [:])
    #expect(world.check(1) == nil && world.analyses() == [:])
    world.child(3, .pictureChecked(checks[1], .checked(isSensitive: true)))
    #expect(world.analyses() == [1: .checked(isSensitive: true)])
    // Another picture never gets the verdict of this one.
    #expect(world.check(2, Self.picture(77)) == nil && world.analyses() == [2: .failed(.malformed)])
  }

  @Test("S2: an app that the device does not know has no picture checked")
  func strangers() {
    var world = Self.world()
    world.child(3, .app(AppID("example.stranger"), .analyze(1, Self.picture())))
    let effects = world.take(3)
    #expect(
      effects.contains(.app(AppID("example.stranger"), .analyzed(1, .failed(.notEnrolled)))))
    #expect(!effects.contains { if case .checkPicture = $0 { true } else { false } })
  }
}

/// The pictures in an app, and the setting that survives its restart.
@Suite struct PictureQueueTests {
  private var app = AppMachine(World.app)
  private let picture = PictureTests.picture()

  private mutating func attach() -> [AppMachine.Effect] {
    let connected = app.step(.connected)
    _ = app.step(.reply(.attached(acknowledged: 0)))
    return connected + app.step(.reply(.caughtUp))
  }

  private func sent(_ effects: [AppMachine.Effect]) -> [UInt64] {
    effects.compactMap { if case .send(.analyze(let number, _)) = $0 { number } else { nil } }
  }

  @Test("S2: an app sends few pictures at a time, and the next one after a verdict or an end")
  mutating func flight() {
    #expect(sent(app.step(.analyze(0, picture))) == [])
    #expect(sent(attach()) == [0])
    let rest = (1..<10).flatMap { sent(app.step(.analyze($0, picture))) }
    #expect(rest == [1, 2, 3])
    let done = app.step(.reply(.analyzed(1, .checked(isSensitive: true))))
    #expect(done == [.analyzed(1, .checked(isSensitive: true)), .send(.analyze(4, picture))])
    #expect(app.step(.reply(.analyzed(1, .checked(isSensitive: false)))) == [])
    #expect(sent(app.step(.abandonPicture(9))) == [])
    #expect(sent(app.step(.abandonPicture(0))) == [5])
    // Lost requests and answers are repeated with a reconnect, and with a sign of life.
    #expect(sent(app.step(.reply(.pong))) == [2, 3, 4, 5])
    _ = app.step(.disconnected)
    #expect(sent(app.step(.abandonPicture(2))) == [])
    #expect(sent(attach()) == [3, 4, 5, 6])
  }

  @Test("S2: pictures above the limit of an app end at once")
  mutating func limit() {
    for number in 0..<Limits.waitingPictures {
      #expect(app.step(.analyze(UInt64(number), picture)) == [])
    }
    #expect(
      app.step(.analyze(999, picture)) == [.analyzed(999, .failed(.tooManyPictures))])
  }

  @Test("S2, O5: a device of an earlier version ends the pictures, and no question")
  mutating func older() {
    _ = attach()
    let question = Question(
      id: QuestionID(high: 1, low: 2),
      topic: .communication(people: [Subject(handle: Handle("ada", .custom))], actions: .chat))
    _ = app.step(.ask(question, .choose))
    _ = app.step(.analyze(1, picture))
    #expect(
      app.step(.reply(.failed(.unknownRequest))) == [.analyzed(1, .failed(.unknownRequest))])
    #expect(app.step(.reply(.asked(question.id, .sent))).contains(.asked(question.id, .sent)))
  }

  @Test("S2, X2: a killed app has the setting without its device, and requests it again")
  mutating func restart() {
    #expect(app.step(.safety) == [] && app.safety == nil)
    #expect(attach().contains(.send(.safety)))
    let effects = app.step(.reply(.safety(.simple)))
    #expect(effects == [.persist([.put(.safety(.simple))]), .safetyChanged])
    #expect(app.step(.reply(.safety(.simple))) == [])
    app = AppMachine(World.app, restoring: [.safety(.simple)])
    #expect(app.safety == .simple)
    #expect(!attach().contains(.send(.safety)))
    #expect(app.step(.safety) == [.send(.safety)])
    _ = app.step(.reply(.safety(.off)))
    #expect(app.safety == .off)
  }
}

extension World {
  fileprivate mutating func setSafety(_ setting: CommunicationSafety) {
    guardian(1, .changeSettings(World.emily, .communicationSafety(setting)))
    wait(.seconds(2))
  }

  /// The settings that device 3 has reported to its app since the last call.
  fileprivate mutating func settings() -> [CommunicationSafety] {
    take(3).compactMap {
      if case .app(World.app, .safety(let setting)) = $0 { setting } else { nil }
    }
  }

  /// Requests a check on device 3, as its app does; returns the check's number at the shell.
  fileprivate mutating func check(
    _ number: UInt64, _ picture: Avatar = PictureTests.picture()
  ) -> UInt64? {
    _ = take(3)
    child(3, .app(World.app, .analyze(number, picture)))
    for case .checkPicture(let check, picture) in seen[3] ?? [] { return check }
    return nil
  }

  /// The analyses that device 3 has sent to its app since the last call.
  fileprivate mutating func analyses() -> [UInt64: PictureAnalysis] {
    take(3).reduce(into: [:]) {
      if case .app(World.app, .analyzed(let number, let analysis)) = $1 { $0[number] = analysis }
    }
  }
}
