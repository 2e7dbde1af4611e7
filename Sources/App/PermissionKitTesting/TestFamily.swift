import AppClient
import FamilyCore
public import FamilyModel
public import Foundation
import PermissionKit
import Synchronization

/// A named case of an account: age, declaration, region, limits and consent.
public typealias SandboxCase = FamilyModel.SandboxCase

/// A family for the tests of an app: the child's device, the guardians and the relay, in the test's process.
///
/// ```swift
/// @Test func theChatOpens() async throws {
///   let family = TestFamily(child: "Emily", guardians: ["Rosa", "Alex"])
///   family.guardian("Rosa").will(.approve)
///   try await family.app {
///     try await chat.askToChat()                   // the app's own code
///     for await _ in CommunicationLimits.current.updates { break }
///     #expect(await chat.isOpen)
///   }
/// }
/// ```
///
/// Within ``app(_:)`` the app's calls to `CommunicationLimits.current` and `AskCenter.shared` reach this
/// family; tests with families of their own may run at the same time. (Not in `Task.detached`, which
/// inherits nothing.) The machines are those of the real relay and devices; nothing waits, and time
/// moves only when the test moves it.
public final class TestFamily: Sendable {
  /// Who is in the family.
  struct People: Sendable {
    var child: String
    var guardians: [String]
    var isInFamily: Bool
    var isChild: Bool
    var declaresAgeRange: Bool
  }

  private let people: People
  private let app: AppID
  private let disk = AppDisk()
  private let home: Mutex<InMemoryFamily>
  /// A life of the app.
  private struct Life {
    var process: AppProcess?
    var session: AppSession?
    var isBackground = false
    /// Launched, but not running yet.
    var isStarting = false
  }

  /// How long a launched app may take over a response, in real time, until it counts as settled.
  private static let patience = Duration.seconds(10)

  private let running = Mutex(Life())
  private let background = Mutex<(@Sendable () async throws -> Void)?>(nil)

  /// A family with one child, whose device runs the app.
  ///
  /// - Parameters:
  ///   - child: The child's name.
  ///   - guardians: The guardians' names, the organizer first; at least one.
  ///   - app: The app's bundle identifier.
  ///   - isInFamily: Whether the person is in a family group; when not, nobody is asked (F7, Q8).
  ///   - isChild: Whether the person with the app is a child; an adult may not ask (Q9).
  ///   - declaresAgeRange: Whether the app's manifest declares that it asks for age ranges (D14).
  public init(
    child: String = "Emily", guardians: [String] = ["Rosa"], app: String = "example.app",
    isInFamily: Bool = true, isChild: Bool = true, declaresAgeRange: Bool = true
  ) {
    precondition(!guardians.isEmpty, "a family has a guardian")
    people = People(
      child: child, guardians: guardians, isInFamily: isInFamily, isChild: isChild,
      declaresAgeRange: declaresAgeRange)
    self.app = AppID(app)
    let now = Instant(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
    home = Mutex(InMemoryFamily(people, app: self.app, now: now))
  }

  // MARK: people

  /// The child.
  public var child: TestChild { TestChild(family: self) }

  /// The guardian of this name.
  public func guardian(_ name: String) -> TestGuardian {
    guard let index = people.guardians.firstIndex(of: name) else {
      preconditionFailure("no guardian is called \(name)")
    }
    return TestGuardian(family: self, device: DeviceID(UInt32(index) + 2))
  }

  /// The first guardian: the organizer.
  public var organizer: TestGuardian { guardian(people.guardians[0]) }

  // MARK: time

  /// The family's time.
  public var now: Date {
    Date(timeIntervalSince1970: Double(home.withLock(\.now).milliseconds) / 1_000)
  }

  /// Lets time pass: timers end, and people do what they will do.
  public func advance(by duration: Duration) async {
    let (seconds, attoseconds) = duration.components
    let end =
      home.withLock(\.now) + (seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
    repeat {
      perform { $0.advance(to: end) }
      await settle()
    } while home.withLock(\.now) < end
  }

  /// Moves the clock, over any time, at once: who waits for a year need not wait for its timers.
  public func jump(by duration: Duration) async {
    let (seconds, attoseconds) = duration.components
    let milliseconds = seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    perform { $0.now = $0.now + milliseconds }
    await advance(by: .milliseconds(1))
  }

  /// Sets the account to a named case, and what the guardians answer: then both frameworks answer so.
  public func sandbox(_ sandbox: SandboxCase) async {
    perform { $0.set(sandbox) }
    await settle()
  }

  // MARK: the app

  /// Runs the app's code as a process of the app on the child's device, until it returns or throws.
  ///
  /// What the app had not handled by then it gets again in its next life.
  @discardableResult
  public func app<R>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> R
  ) async throws -> R {
    let (process, session) = try start()
    defer { end(process) }
    let running = Task { await session.run() }
    defer { running.cancel() }
    while process.count > session.eventsTaken { await Task.yield() }
    return try await AppSession.$override.withValue(session, operation: body)
  }

  /// What the app does when the device launches it in the background (R6).
  ///
  /// Without it a launch fails at once, and the device tries again later. The app's life ends when the
  /// body returns or throws.
  public func whenLaunched(_ body: @escaping @Sendable () async throws -> Void) {
    background.withLock { $0 = body }
    home.withLock { $0.isLaunchable = true }
  }

  /// How often the device has launched the app in the background.
  public var launches: Int { home.withLock(\.launches) }

  /// Whether the app listens to responses, and is launched for them from then on (R7).
  public var isListening: Bool {
    home.withLock { home in
      home.disk.values.contains {
        if case .app(_, let standing) = $0 { standing.registered } else { false }
      }
    }
  }

  /// Kills the app that runs now, as `kill -9` does: nothing that it says from here on is heard.
  public func crashApp() {
    if let process = running.withLock(\.process) { end(process) }
  }

  /// Kills the child's device and starts it again; the app stays and connects anew.
  public func restartDevice() async {
    perform { home in
      home.process?.give(.disconnected)
      home.restartChild(isInFamily: people.isInFamily)
      home.process?.give(.connected)
    }
    await settle()
  }

  /// Returns when the app has taken in everything that the device has for it, and, launched in the
  /// background, has handled it (or taken ten seconds of the real clock over it).
  ///
  /// For expectations that something did *not* happen; who waits for a response needs it not.
  public func settle() async {
    let end = ContinuousClock.now + Self.patience
    while true {
      let life = running.withLock { $0 }
      let isHandling =
        life.isBackground && !(life.session?.isIdle ?? true) && ContinuousClock.now < end
      if !life.isStarting, !isHandling, life.process?.count ?? 0 <= life.session?.eventsTaken ?? 0 {
        return
      }
      await Task.yield()
    }
  }

  private func start() throws -> (AppProcess, AppSession) {
    let process = AppProcess { [weak self] request in
      guard let self else { return }
      self.perform { $0.step(.app(self.app, request)) }
    }
    let session = try AppSession(
      app, home.withLock(\.appSecurity), process, disk.store()
    ) { [weak self] in
      self?.home.withLock(\.now) ?? Instant(milliseconds: 0)
    }
    running.withLock { running in
      precondition(running.process == nil, "the app runs already")
      running.process = process
      running.session = session
      running.isBackground = running.isStarting
      running.isStarting = false
    }
    home.withLock { $0.process = process }
    return (process, session)
  }

  private func end(_ process: AppProcess) {
    process.end()
    let wasRunning = running.withLock { running in
      guard running.process === process else { return false }
      running = Life()
      return true
    }
    guard wasRunning else { return }
    perform { home in
      home.process = nil
      home.step(.appGone(self.app, exited: true))
    }
  }

  // MARK: within

  /// Changes the family, and begins the lives of the app that come of it.
  @discardableResult
  func perform<R: Sendable>(_ body: (inout InMemoryFamily) -> R) -> R {
    let (result, toDo, toEnd) = home.withLock { home in
      let result = body(&home)
      defer {
        home.launchesToDo = 0
        home.terminated = false
      }
      return (result, home.launchesToDo, home.terminated ? home.process : nil)
    }
    if let toEnd { end(toEnd) }
    for _ in 0..<toDo { launch() }
    return result
  }

  private func launch() {
    let body = background.withLock { $0 }
    let isFree = running.withLock { running in
      guard running.process == nil, !running.isStarting, body != nil else { return false }
      running.isStarting = true
      return true
    }
    // Nothing to launch, or it runs already: the device tries again later.
    guard isFree, let body else { return perform { $0.step(.appGone(self.app, exited: true)) } }
    Task {
      try? await app {
        try await body()
      }
    }
  }
}
