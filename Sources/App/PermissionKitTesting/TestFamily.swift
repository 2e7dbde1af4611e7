import AppClient
public import FamilyCore
public import FamilyModel
public import Foundation
import PermissionKit
import RelayStore
import Synchronization

/// A named account for tests: age, declaration, region, limits and the guardians' answers.
public typealias SandboxCase = FamilyModel.SandboxCase

/// The rule behind an age answer, for the person, the guardians and tests.
public typealias AgeExplanation = FamilyCore.AgeExplanation

/// A family for an app's tests: the child's device, the guardians and the relay in the test's
/// process.
///
/// ```swift
/// @Test func approvalOpensTheChat() async throws {
///   let family = TestFamily(child: "Emily", guardians: ["Rosa", "Alex"])
///   family.guardian("Rosa").will(.approve)
///   try await family.app {
///     try await chat.askToChat()                   // the app's own code
///     var updates = CommunicationLimits.current.updates.makeAsyncIterator()
///     let response = try await updates.next()
///     #expect(response?.choice == .approve)
///     #expect(await chat.isOpen)
///   }
/// }
/// ```
///
/// Inside ``app(isolation:_:)`` the calls to `CommunicationLimits.current`, `AskCenter.shared` and
/// `AgeRangeService.shared` reach this family, also from child tasks. `Task.detached` inherits no
/// family. Tests with separate families may run in parallel. The relay and the devices run the
/// code of the real programs. Nothing sleeps: time moves only when the test moves the clock.
public final class TestFamily: Sendable {
  /// The members of the family and the app's manifest.
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
  private let family: Mutex<InMemoryFamily>
  /// The running process of the app, if any.
  private struct RunningApp {
    var process: AppProcess?
    var session: AppSession?
    var isBackground = false
    /// Whether a launch is under way and the process does not run yet.
    var isStarting = false
  }

  /// The real time that ``settle()`` waits for the app to handle its responses.
  static let patience = Duration.seconds(10)
  /// The real time that the app's code waits for a response before the test counts as stalled.
  let stallTime: Duration
  /// Counts the changes of the family, to notice that nothing happens.
  let activity = Mutex<UInt64>(0)

  private let running = Mutex(RunningApp())
  private let background = Mutex<(@Sendable () async throws -> Void)?>(nil)

  /// Creates a family with one child, whose device runs the app.
  ///
  /// - Parameter child: The child's name.
  /// - Parameter guardians: The guardians' names, the organizer first. Precondition: at least one.
  /// - Parameter app: The app's bundle identifier.
  /// - Parameter isInFamily: Whether the person has a family. Without one, the default choice is
  ///   the response.
  /// - Parameter isChild: Whether the app's user is a child. An adult's question is refused.
  /// - Parameter declaresAgeRange: Whether the app's manifest has `usesDeclaredAgeRange`.
  /// - Parameter stallTime: The real time without any event after which ``app(isolation:_:)`` ends
  ///   a loop that waits for a response, and throws ``Stalled``.
  public init(
    child: String = "Emily", guardians: [String] = ["Rosa"], app: String = "example.app",
    isInFamily: Bool = true, isChild: Bool = true, declaresAgeRange: Bool = true,
    stallTime: Duration = .seconds(5)
  ) {
    precondition(!guardians.isEmpty, "a family has a guardian")
    people = People(
      child: child, guardians: guardians, isInFamily: isInFamily, isChild: isChild,
      declaresAgeRange: declaresAgeRange)
    self.app = AppID(app)
    self.stallTime = stallTime
    let now = Instant(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
    family = Mutex(InMemoryFamily(people, app: self.app, now: now))
  }

  // MARK: people

  /// The person who uses the app: a child, unless `isChild` is `false`.
  public var child: TestChild { TestChild(family: self) }

  /// The guardian with this name. Precondition: the name is one of those given at creation.
  public func guardian(
    _ name: String, file: StaticString = #file, line: UInt = #line
  ) -> TestGuardian {
    guard let index = people.guardians.firstIndex(of: name) else {
      let names = people.guardians.map { "“\($0)”" }.joined(separator: ", ")
      preconditionFailure(
        "No guardian is called “\(name)”. The guardians: \(names).", file: file, line: line)
    }
    return TestGuardian(family: self, device: UInt32(index) + 2)
  }

  /// The organizer, which is the first guardian.
  public var organizer: TestGuardian { guardian(people.guardians[0]) }

  // MARK: time

  /// The family's clock. The clock starts at the time of creation and moves by ``advance(by:)``
  /// alone.
  public var now: Date {
    Date(timeIntervalSince1970: Double(family.withLock(\.now).milliseconds) / 1_000)
  }

  /// Advances the clock: timers fire and planned answers are given, in order. Returns settled.
  ///
  /// - Parameter duration: The time to pass, rounded down to milliseconds.
  public func advance(by duration: Duration) async {
    let end = family.withLock(\.now) + Milliseconds(duration)
    repeat {
      perform { $0.advance(to: end) }
      await settle()
      // The app that still runs has outlived its ended loops.
      await running.withLock(\.session)?.finishEndedLoops()
    } while family.withLock(\.now) < end
  }

  /// Sets the clock forward without firing the timers on the way. Cheap for months and years.
  ///
  /// Timers that became due fire once, afterwards.
  public func jump(by duration: Duration) async {
    perform { $0.now = $0.now + Milliseconds(duration) }
    await advance(by: .milliseconds(1))
  }

  /// Sets the person's account, the limits and all guardians' answers to a named case.
  public func sandbox(_ sandbox: SandboxCase) async {
    perform { $0.set(sandbox) }
    await settle()
  }

  // MARK: the app

  /// Runs the app's code as one process of the app on the child's device.
  ///
  /// The process ends when `body` returns or throws. The next process receives the unhandled
  /// responses again. Precondition: no other process of the app runs.
  ///
  /// - Parameter isolation: The isolation of `body`: that of the caller, by default.
  /// - Parameter body: The app's code. Child tasks inherit the family, `Task.detached` does not.
  /// - Throws: The error of `body`, or ``Stalled``.
  @discardableResult
  public func app<R>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> R
  ) async throws -> R {
    let (process, session) = try start()
    defer { end(process) }
    let running = Task { await session.run() }
    defer { running.cancel() }
    while process.count > session.eventsProcessed { await Task.yield() }
    let watch = StallWatch(self, session)
    defer { watch.end() }
    do {
      let result = try await AppSession.$override.withValue(session, operation: body)
      if let stalled = watch.stalled { throw stalled }
      // The process exits with status 0.
      if process.isRunning { await session.finishEndedLoops() }
      return result
    } catch {
      throw watch.stalled ?? error
    }
  }

  /// Sets the app's code for background launches.
  ///
  /// Without a body every launch fails at once, and the device retries with growing delays. The
  /// process ends when the body returns or throws, or after 30 seconds of the family's clock.
  ///
  /// A body that returns after its loop has handled the last response. A body that throws has not:
  /// the device launches the app again.
  public func whenLaunched(_ body: @escaping @Sendable () async throws -> Void) {
    background.withLock { $0 = body }
    family.withLock { $0.isLaunchable = true }
  }

  /// The number of background launches so far, failed ones included.
  public var launches: Int { family.withLock(\.launches) }

  /// Whether the device may launch the app: the app has read `updates` or `responses(for:)`, or has
  /// asked. See ``untilListening(loops:)`` for a loop that is open.
  public var isListening: Bool {
    family.withLock { family in
      family.records.contains {
        if case .app(_, let standing) = $0 { standing.registered } else { false }
      }
    }
  }

  /// Whether the running process was launched by the device.
  var isBackground: Bool { running.withLock(\.isBackground) }

  /// The number of open loops of the running process.
  var openLoops: Int { running.withLock(\.session)?.openLoops ?? 0 }

  /// The name of the guardian with this device.
  func name(of device: UInt32) -> String { people.guardians[Int(device) - 2] }

  /// Kills the running app, as `kill -9` does. The device drops its later requests.
  public func crashApp() {
    if let process = running.withLock(\.process) { end(process) }
  }

  /// Kills the child's device and starts it again. The app keeps running and reconnects.
  public func restartDevice() async {
    perform { family in
      family.process?.deliver(.disconnected)
      family.startChild()
      family.process?.deliver(.connected)
    }
    await settle()
  }

  /// Installs a version of the app with this age rating, and restarts the device.
  ///
  /// - Parameter rating: The rating in the manifest; `nil`: none.
  public func installApp(rating: AgeRating?) async {
    perform { $0.manifest.ageRating = rating }
    await restartDevice()
  }

  /// Waits until the app has received everything that the device sent.
  ///
  /// The method also waits until the loops of the app have handled their responses, for at most ten
  /// seconds of real time. A loop of the calling task is not awaited. A loop in the foreground that
  /// ended has then handled its last response.
  ///
  /// Call this method before an expectation that something did *not* happen. A test that waits for
  /// a response does not need it.
  public func settle() async {
    let end = ContinuousClock.now + Self.patience
    await running.withLock(\.session)?.reportPages()
    let task = withUnsafeCurrentTask { $0?.hashValue }
    while true {
      let app = running.withLock { $0 }
      let isSettled =
        app.session.map {
          app.isBackground ? $0.isFinished && unhandled == 0 : $0.isResting(except: task)
        } ?? true
      let isHandling = !isSettled && ContinuousClock.now < end
      if !app.isStarting, !isHandling, app.process?.count ?? 0 <= app.session?.eventsProcessed ?? 0
      {
        if !app.isBackground { await app.session?.finishEndedLoops() }
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
    var timing = SessionTiming()
    timing.loopGrace = nil
    timing.webUseGap = .seconds(Int64.max)
    let session = try AppSession(
      app, family.withLock(\.appSecurity), process, timing: timing,
      clock: { [weak self] in self?.family.withLock(\.now) ?? Instant(milliseconds: 0) },
      pageTime: { [weak self] in
        .milliseconds(self?.family.withLock(\.now).milliseconds ?? 0)
      },
      openStore: { [disk] () throws(StoreError) in disk.store() })
    running.withLock { running in
      precondition(running.process == nil, "the app runs already")
      running.process = process
      running.session = session
      running.isBackground = running.isStarting
      running.isStarting = false
    }
    family.withLock { $0.process = process }
    return (process, session)
  }

  private func end(_ process: AppProcess) {
    process.end()
    let wasRunning = running.withLock { running in
      guard running.process === process else { return false }
      running = RunningApp()
      return true
    }
    guard wasRunning else { return }
    perform { family in
      family.process = nil
      family.step(.appGone(self.app, exited: true))
    }
  }

  // MARK: the family's state

  /// Changes the family, then carries out the launches and the end of the app that follow.
  @discardableResult
  func perform<R: Sendable>(_ body: @Sendable (InMemoryFamily) -> R) -> R {
    activity.withLock { $0 += 1 }
    let (result, launches, terminated) = family.withLock { family in
      let result = body(family)
      defer {
        family.pendingLaunches = 0
        family.isTerminated = false
      }
      return (result, family.pendingLaunches, family.isTerminated ? family.process : nil)
    }
    if let terminated { end(terminated) }
    for _ in 0..<launches { launch() }
    return result
  }

  private func launch() {
    let body = background.withLock { $0 }
    let isFree = running.withLock { running in
      guard running.process == nil, !running.isStarting, body != nil else { return false }
      running.isStarting = true
      return true
    }
    // No launch code, or the app runs already: the launch fails, and the device retries.
    guard isFree, let body else { return perform { $0.step(.appGone(self.app, exited: true)) } }
    Task {
      try? await app {
        try await body()
      }
    }
  }
}
