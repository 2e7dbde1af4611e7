import FamilyModel

/// What one app on the device still has to learn, and whether the app runs.
///
/// An app is `asleep` → (launched) `launched` → (attach) `attached` → (detach, exit) `asleep`. While
/// entries wait and the app is registered, it is launched, again and again with growing delays (R6). An
/// attached app that does not acknowledge is given its first entry again, with growing delays: an app that
/// has died unnoticed turns out to be unreachable, and to one that lives the repetition means nothing.
struct AppFeed: Sendable {
  enum Life: Hashable, Sendable {
    case asleep
    /// Started by the device; it is ended when its time is over.
    case launched(until: Instant)
  }

  let app: AppID
  private(set) var progress: AppProgress
  private(set) var entries: [AppEntry]
  private(set) var isAttached = false
  private(set) var life = Life.asleep
  private var attempts = 0
  private var notBefore = Instant(milliseconds: .min)
  /// When the first entry is given again, while an attached app owes an acknowledgement.
  private var repeatDue: Instant?
  private var repetitions = 0

  init(_ app: AppID, progress: AppProgress = AppProgress(), entries: [AppEntry] = []) {
    self.app = app
    self.progress = progress
    self.entries = entries.sorted { $0.position < $1.position }
  }

  var deadline: Instant? {
    let end: Instant? =
      switch life {
      case .launched(let until): until
      case .asleep: wantsLaunch ? notBefore : nil
      }
    return [end, repeatDue].compactMap { $0 }.min()
  }

  /// Whether the device has launched it.
  var isRunning: Bool { life != .asleep }

  private var wantsLaunch: Bool { progress.registered && !isAttached && !entries.isEmpty }

  /// Whether a response to the question waits for the app's acknowledgement.
  func holdsResponse(to id: QuestionID) -> Bool {
    entries.contains {
      if case .response(let question, _) = $0.body { question.id == id } else { false }
    }
  }

  mutating func attach(
    applied: UInt64, known: [Handle], evidence: () -> [Evidence] = { [] }
  ) -> [AppReply] {
    isAttached = true
    var replies: [AppReply] = [.attached(acknowledged: progress.acknowledged)]
    // An app that is new, or lost its state, or has another device's state, starts from the full set.
    if applied == 0 || applied < progress.acknowledged || applied > progress.head {
      var evidence = evidence()[...]
      while !evidence.isEmpty {
        replies.append(.evidence(Array(evidence.prefix(Limits.evidence))))
        evidence = evidence.dropFirst(Limits.evidence)
      }
      replies.append(.reset(position: progress.acknowledged, known: known))
    }
    return replies + entries.map { .entry($0) } + [.caughtUp]
  }

  mutating func register() -> [RecordChange] {
    guard !progress.registered else { return [] }
    progress.registered = true
    return [.put(.app(app, progress))]
  }

  mutating func append(_ body: AppEntry.Body, _ evidence: [Evidence] = []) -> [RecordChange] {
    progress.head += 1
    let entry = AppEntry(position: progress.head, body: body, evidence: evidence)
    entries.append(entry)
    return [.put(.entry(app, entry)), .put(.app(app, progress))]
  }

  mutating func acknowledge(_ position: UInt64) -> [RecordChange] {
    let position = min(position, progress.head)
    guard position > progress.acknowledged else { return [] }
    progress.acknowledged = position
    attempts = 0
    repeatDue = nil
    repetitions = 0
    let done = entries.prefix { $0.position <= position }
    entries.removeFirst(done.count)
    return done.map { .delete(.entry(app, position: $0.position)) } + [.put(.app(app, progress))]
  }

  /// The app's process ended, or its connection did.
  mutating func disconnected(exited: Bool, now: Instant) {
    isAttached = false
    guard exited, case .launched = life else { return }
    life = .asleep
    notBefore = entries.isEmpty ? now : retryTime(now: now)
  }

  /// The clock was set back: no wait is longer than it would be from now.
  mutating func clockSetBack(now: Instant) {
    notBefore = min(notBefore, now)
    repeatDue = repeatDue.map { min($0, now) }
    if case .launched(let until) = life {
      life = .launched(until: min(until, now + Timing.launchBudget))
    }
  }

  private mutating func retryTime(now: Instant) -> Instant {
    defer { attempts += 1 }
    return now + Timing.backoff(attempts, Timing.firstRelaunchDelay, Timing.longestRelaunchDelay)
  }

  /// What there is to do about the app: about its process first.
  mutating func nextAction(now: Instant) -> DeviceEffect? {
    nextLifecycleAction(now: now) ?? repeatFirstEntry(now: now)
  }

  private mutating func repeatFirstEntry(now: Instant) -> DeviceEffect? {
    guard isAttached, let first = entries.first else {
      repeatDue = nil
      repetitions = 0
      return nil
    }
    let isDue = repeatDue.map { $0 <= now } ?? false
    guard isDue || repeatDue == nil else { return nil }
    repeatDue =
      now + Timing.backoff(repetitions, Timing.firstRequestTimeout, Timing.longestRequestTimeout)
    repetitions += 1
    return isDue ? .app(app, .entry(first)) : nil
  }

  private mutating func nextLifecycleAction(now: Instant) -> DeviceEffect? {
    switch life {
    case .launched(let until):
      guard until <= now else { return nil }
      // Asked once more each second, until the shell says that the process has ended.
      life = .launched(until: now + 1_000)
      return .terminate(app)
    case .asleep:
      guard wantsLaunch, notBefore <= now else { return nil }
      life = .launched(until: now + Timing.launchBudget)
      return .launch(app, budget: Timing.launchBudget)
    }
  }
}
