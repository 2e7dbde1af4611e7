import FamilyModel

/// The app entries that one app has not acknowledged, and the app's process.
///
/// - `asleep` → (a registered app has entries and is not attached) `launched`.
/// - `launched` → (exit) `asleep`; → (budget used up) terminated by the device, again each second
///   until exit.
///
/// While the consent to the app is withdrawn, only an unacknowledged withdrawal launches the app.
///
/// An exit without acknowledgement delays the next launch. An attached app that does not
/// acknowledge receives its first entry again, with growing delays: a dead app turns out to be
/// unreachable, and a live app ignores the repetition.
struct AppFeed: Sendable {
  enum ProcessState: Hashable, Sendable {
    case asleep
    /// Launched by the device, which terminates it at `until`.
    case launched(until: Instant)
  }

  /// The app's knowledge of the setting for sensitive pictures.
  enum KnownSafety: Hashable, Sendable {
    case nothing
    case setting(CommunicationSafety)
  }

  let app: AppID
  private(set) var progress: AppProgress
  private(set) var entries: [AppEntry]
  /// The handles that the app has named, in canonical form. The app learns about no other.
  private(set) var named: HandleSet
  /// Whether a guardian withdrew the consent to the app. Derived from the log, not durable here.
  var isConsentWithdrawn = false
  private(set) var isAttached = false
  /// Whether the app's connection has requested the access to sites, and learns of its changes.
  private(set) var requestsSites = false
  /// The knowledge of the app's connection about the setting for sensitive pictures; `nil`: the
  /// connection has not requested the setting.
  private(set) var safety: KnownSafety?
  private(set) var processState = ProcessState.asleep
  private(set) var attempts = 0
  private(set) var notBefore = Instant(milliseconds: .min)
  /// When the first entry is sent again, while an attached app has not acknowledged it.
  private var repeatDue: Instant?
  private var repetitions = 0

  init(
    _ app: AppID, progress: AppProgress = AppProgress(), entries: [AppEntry] = [],
    named: HandleSet = []
  ) {
    self.app = app
    self.progress = progress
    self.entries = entries.sorted { $0.position < $1.position }
    self.named = named
  }

  var deadline: Instant? {
    let end: Instant? =
      switch processState {
      case .launched(let until): until
      case .asleep: wantsLaunch ? notBefore : nil
      }
    return [end, repeatDue].compactMap { $0 }.min()
  }

  /// Whether the device has launched the app.
  var isRunning: Bool { processState != .asleep }

  private var wantsLaunch: Bool {
    progress.registered && !isAttached && !entries.isEmpty
      && (!isConsentWithdrawn || entries.contains { $0.body == .consentWithdrawn })
  }

  /// Whether an app that has applied the entries up to this position starts from the full set.
  ///
  /// A new app, an app that lost its state and an app with another device's state do.
  func needsReset(applied: UInt64) -> Bool {
    applied == 0 || applied < progress.acknowledged || applied > progress.head
  }

  /// Whether the newest unacknowledged entry about the consent is this one.
  func holdsConsent(_ body: AppEntry.Body) -> Bool {
    entries.last { $0.body == .consentWithdrawn || $0.body == .consentGiven }?.body == body
  }

  /// Whether the app has not acknowledged a response to the question.
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
    if needsReset(applied: applied) {
      var evidence = evidence()[...]
      while !evidence.isEmpty {
        replies.append(.evidence(Array(evidence.prefix(Limits.evidenceInMessage))))
        evidence = evidence.dropFirst(Limits.evidenceInMessage)
      }
      replies.append(.reset(position: progress.acknowledged, known: known))
    }
    return replies + entries.map { .entry($0) } + [.caughtUp]
  }

  /// Records that the app's connection has requested the access to sites.
  mutating func requestSites() { requestsSites = true }

  /// Records that the app's connection has requested the setting for sensitive pictures.
  mutating func requestSafety() { safety = .nothing }

  /// The report of the setting; `nil` if the app has not requested the setting, or knows it.
  mutating func report(_ setting: CommunicationSafety) -> DeviceEffect? {
    guard let known = safety, known != .setting(setting) else { return nil }
    safety = .setting(setting)
    return .app(app, .safety(setting))
  }

  mutating func register() -> [RecordChange] {
    guard !progress.registered else { return [] }
    progress.registered = true
    return [.put(.app(app, progress))]
  }

  /// Records handles that the app names, in canonical form.
  ///
  /// - Parameter limit: The largest number of handles; `nil` for the people of a response.
  /// - Returns: The changes, and the handles that the app had not named before.
  mutating func name(_ handles: [Handle], limit: Int?) -> (changes: [RecordChange], new: [Handle]) {
    let new = handles.filter { named.count < limit ?? .max && named.insert($0) }
    return (new.map { .put(.named(app, $0)) }, new)
  }

  /// Records the rating in the app's manifest, once the app has or had one.
  ///
  /// - Returns: The changes, and whether the rating has risen. An app without a rating counts as
  ///   the highest.
  mutating func record(rating: AgeRating?) -> (changes: [RecordChange], hasRisen: Bool) {
    let last = progress.rating
    guard rating != nil || last != nil else { return ([], false) }
    let rating = rating ?? .eighteen
    guard rating != last else { return ([], false) }
    progress.rating = rating
    return ([.put(.app(app, progress))], last.map { $0 < rating } ?? false)
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

  /// The app's connection ended or, if `exited`, its process.
  mutating func disconnected(exited: Bool, now: Instant) {
    isAttached = false
    requestsSites = false
    safety = nil
    guard exited, case .launched = processState else { return }
    processState = .asleep
    notBefore = entries.isEmpty ? now : retryTime(now: now)
  }

  /// Brings every deadline forward to the clock's new time.
  mutating func clockSetBack(now: Instant) {
    notBefore = min(notBefore, now)
    repeatDue = repeatDue.map { min($0, now) }
    if case .launched(let until) = processState {
      processState = .launched(until: min(until, now + Timing.launchBudget))
    }
  }

  private mutating func retryTime(now: Instant) -> Instant {
    defer { attempts += 1 }
    return now + Timing.backoff(attempts, Timing.firstRelaunchDelay, Timing.longestRelaunchDelay)
  }

  /// The next effect for the app. Launch and terminate precede repeated entries.
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
    switch processState {
    case .launched(let until):
      guard until <= now else { return nil }
      // Repeats each second until the shell reports the exit.
      processState = .launched(until: now + .seconds(1))
      return .terminate(app)
    case .asleep:
      guard wantsLaunch, notBefore <= now else { return nil }
      processState = .launched(until: now + Timing.launchBudget)
      return .launch(app, budget: Timing.launchBudget)
    }
  }
}
