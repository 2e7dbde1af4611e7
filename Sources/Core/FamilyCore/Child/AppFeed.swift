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
  private(set) var standing: AppProgress
  private(set) var entries: [AppEntry]
  private(set) var isAttached = false
  private(set) var life = Life.asleep
  private var attempts = 0
  private var notBefore = Instant(milliseconds: .min)
  /// When the first entry is given again, while an attached app owes an acknowledgement.
  private var repeatAt: Instant?
  private var repetitions = 0

  init(_ app: AppID, standing: AppProgress = AppProgress(), entries: [AppEntry] = []) {
    self.app = app
    self.standing = standing
    self.entries = entries.sorted { $0.position < $1.position }
  }

  var deadline: Instant? {
    let end: Instant? =
      switch life {
      case .launched(let until): until
      case .asleep: wantsLaunch ? notBefore : nil
      }
    return [end, repeatAt].compactMap { $0 }.min()
  }

  /// Whether the device has launched it.
  var isRunning: Bool { life != .asleep }

  private var wantsLaunch: Bool { standing.registered && !isAttached && !entries.isEmpty }

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
    var replies: [AppReply] = [.attached(acknowledged: standing.acknowledged)]
    // An app that is new, or lost its state, or has another device's state, starts from the full set.
    if applied == 0 || applied < standing.acknowledged || applied > standing.head {
      var evidence = evidence()[...]
      while !evidence.isEmpty {
        replies.append(.evidence(Array(evidence.prefix(Limits.evidence))))
        evidence = evidence.dropFirst(Limits.evidence)
      }
      replies.append(.reset(position: standing.acknowledged, known: known))
    }
    return replies + entries.map { .entry($0) } + [.caughtUp]
  }

  mutating func register() -> [RecordChange] {
    guard !standing.registered else { return [] }
    standing.registered = true
    return [.put(.app(app, standing))]
  }

  mutating func append(_ body: AppEntry.Body, _ evidence: [Evidence] = []) -> [RecordChange] {
    standing.head += 1
    let entry = AppEntry(position: standing.head, body: body, evidence: evidence)
    entries.append(entry)
    return [.put(.entry(app, entry)), .put(.app(app, standing))]
  }

  mutating func acknowledge(_ position: UInt64) -> [RecordChange] {
    let position = min(position, standing.head)
    guard position > standing.acknowledged else { return [] }
    standing.acknowledged = position
    attempts = 0
    repeatAt = nil
    repetitions = 0
    let done = entries.prefix { $0.position <= position }
    entries.removeFirst(done.count)
    return done.map { .delete(.entry(app, position: $0.position)) } + [.put(.app(app, standing))]
  }

  /// The app's process ended, or its connection did.
  mutating func gone(exited: Bool, now: Instant) {
    isAttached = false
    guard exited, case .launched = life else { return }
    life = .asleep
    notBefore = entries.isEmpty ? now : retryTime(now)
  }

  /// The clock was set back: no wait is longer than it would be from now.
  mutating func clockSetBack(_ now: Instant) {
    notBefore = min(notBefore, now)
    repeatAt = repeatAt.map { min($0, now) }
    if case .launched(let until) = life {
      life = .launched(until: min(until, now + Timing.launchBudget))
    }
  }

  private mutating func retryTime(_ now: Instant) -> Instant {
    defer { attempts += 1 }
    return now + Timing.backoff(attempts, Timing.relaunchFirst, Timing.relaunchMost)
  }

  /// What there is to do about the app: about its process first.
  mutating func manage(_ now: Instant) -> DeviceEffect? {
    manageLife(now) ?? repeatFirst(now)
  }

  private mutating func repeatFirst(_ now: Instant) -> DeviceEffect? {
    guard isAttached, let first = entries.first else {
      repeatAt = nil
      repetitions = 0
      return nil
    }
    let isDue = repeatAt.map { $0 <= now } ?? false
    guard isDue || repeatAt == nil else { return nil }
    repeatAt = now + Timing.backoff(repetitions, Timing.requestFirst, Timing.requestMost)
    repetitions += 1
    return isDue ? .app(app, .entry(first)) : nil
  }

  private mutating func manageLife(_ now: Instant) -> DeviceEffect? {
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
