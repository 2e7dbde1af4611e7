public import FamilyModel

/// A child's device: prompts, the conversation, the known handles, and the apps with their
/// launches.
///
/// The machine also serves the device of an adult, and of a person without a family. An adult's
/// question is refused, and a question without a family gets its default choice.
public struct ChildMachine: Sendable {
  /// An input of the machine.
  public enum Input: Sendable {
    /// The connection to the relay is up.
    case connected
    /// The connection to the relay is down.
    case disconnected
    /// The relay answered a request.
    case reply(UInt64, Reply)
    /// A broadcast arrived.
    case broadcast(Broadcast)
    /// The question window admits the question that requested admission.
    case admitted(CommandID)
    /// An app on this device sent a request.
    case app(AppID, AppRequest)
    /// The app's connection ended or, if `exited`, its process.
    case appGone(AppID, exited: Bool)
    /// The owner answered a prompt.
    case answered(prompt: UInt64, PromptAnswer)
    /// The passcode was checked: `proof` signs the given bytes, or is `nil` if the passcode was
    /// wrong.
    case passcodeChecked(prompt: UInt64, proof: [UInt8]?)
    /// The child writes a message into the conversation.
    case post(String)
    /// The child cancels a question.
    case cancel(QuestionID)
    /// The owner changes their own age settings. A child needs a guardian with the passcode.
    case setAge(AgeSettings)
    /// The owner deletes the age answers to an app, so that the app can ask again.
    case shareAgain(AppID)
    /// The owner has read all notifications.
    case readNotifications
    /// The owner dismisses one notification or, without an id, all.
    case dismissNotification(CommandID?)
    /// An adult owner sets their own account.
    case setOwnAccount(Account)
    /// The check of the picture with this number has ended.
    case pictureChecked(UInt64, PictureAnalysis)
    /// The snapshot with this number was made; `nil`: the records allow none.
    case snapshotMade(UInt64, [UInt8]?)
    /// The clock was set back. Deadlines set before the change would fire too late.
    case clockSetBack
    /// The deadline has passed.
    case timer
  }

  /// Returns the day of a moment in a time zone; an empty name stands for the device's own.
  public typealias Calendar = @Sendable (Instant, _ timeZone: String) -> Account.Day

  /// Returns a digest of the people of a question. Only machines without ``Security`` use it;
  /// otherwise the conversation's key makes the digest.
  public typealias Digest = @Sendable (AppID, [Handle]) -> [UInt8]

  /// Blinds a typed passcode with a random number, so that the relay does not learn it.
  public typealias Blind = @Sendable (String) -> PasscodeAttempt

  /// The connection to the relay, and the state derived from it.
  public internal(set) var link: DeviceLink
  let isInFamily: Bool
  let digest: Digest
  let blind: Blind
  let calendar: Calendar
  let manifests: [AppID: AppManifest]
  let regions: RegionTable
  var relayTime = RelayTime()
  /// The reading of a clock that is never set, at the current step.
  var uptime: Milliseconds?
  var ageRequests = AgeRequestQueue()
  var feeds: [AppFeed]
  var flows: [UInt64: AskFlow] = [:]
  var known = KnownHandles()
  var latest = LatestTime()
  /// The settings of the apps' stores. No store is empty.
  var managed: [AppID: ManagedStores] = [:]
  /// The activities that apps watch, by name.
  public internal(set) var activities: [AppID: [String: WatchedActivity]] = [:]
  var steady = SteadyTime()
  /// The state of the web rules that the apps know; `nil` while no app has requested sites.
  var reportedWeb: WebState?
  /// Whether an approval of a site began or ended in this step.
  var haveSitesMoved = false
  var pictures = PictureChecks()
  /// The use of the web that the apps have reported.
  var webUse: [AppID: AppWebUse] = [:]
  var webReporting = WebReporting()
  /// The guardians' consent to each app. A gateway that posts withdrawals to the apps' servers reads
  /// the statements after a restart, because the effect `consentChanged` is not durable.
  public internal(set) var consents = Consents()
  /// The notices that the owner has not dismissed.
  public private(set) var notifications: Notifications
  private var lastPrompt: UInt64 = 0
  private var areRatingsRecorded = false
  /// Whether the list of apps may differ from the reported one.
  var isListDue = true

  /// A device restored from its records.
  ///
  /// - Parameter address: The device. Its family is ignored if `isInFamily` is `false`.
  /// - Parameter isInFamily: Whether the person is in a family.
  /// - Parameter apps: The installed apps.
  /// - Parameter manifests: The apps' declarations.
  /// - Parameter regions: The law of all regions. All devices of a family should have one table.
  /// - Parameter security: The keys to verify and open events; `nil` verifies nothing, for tests of
  ///   the machine alone.
  /// - Parameter hostAnnouncesPresence: Whether the host announces the presence of all devices of
  ///   its connection.
  /// - Parameter records: All records that earlier steps made durable.
  /// - Parameter blind: Blinds passcodes; by default for the ideal function of machines without keys.
  /// - Parameter calendar: Returns the day of a moment; by default in UTC.
  public init(
    _ address: DeviceAddress, of person: PersonID, isInFamily: Bool = true, apps: [AppID],
    manifests: [AppID: AppManifest] = [:], regions: RegionTable = .standard,
    security: Security? = nil,
    hostAnnouncesPresence: Bool = false, restoring records: [DeviceRecord] = [], ids: IDSource,
    calendar: @escaping Calendar = { now, _ in Account.Day(utc: now) },
    digest: @escaping Digest = { _, _ in [] }, blind: @escaping Blind = PasscodeAttempt.ideal
  ) {
    var ids = ids
    let first = AppProgress(startingAfter: ids.next() >> 16)
    // Without a family there are no events of other devices to verify.
    link = DeviceLink(
      address, of: person, isInFamily ? security : nil, isChild: true, hasApps: !apps.isEmpty,
      hostAnnouncesPresence: hostAnnouncesPresence,
      restoring: records, ids: ids)
    notifications = Notifications(restoring: records, joined: link.joined)
    self.isInFamily = isInFamily
    self.digest = digest
    self.blind = blind
    self.calendar = calendar
    self.manifests = manifests
    self.regions = regions
    feeds = apps.sorted().map { app in
      var progress = first
      var entries: [AppEntry] = []
      var named = HandleSet()
      for record in records {
        if case .app(app, let found) = record { progress = found }
        if case .entry(app, let entry) = record { entries.append(entry) }
        if case .named(app, let handle) = record { named.insert(handle) }
      }
      return AppFeed(app, progress: progress, entries: entries, named: named)
    }
    for record in records {
      if case .latestTime(let found) = record { latest.restore(found) }
      if case .managed(let app, let name, let settings) = record, apps.contains(app) {
        managed[app, default: [:]][name] = settings
      }
      if case .activity(let app, let watched) = record, apps.contains(app) {
        activities[app, default: [:]][watched.activity.name] = watched
      }
      if case .webUse(let app, let day, let message) = record { restore(day, message, of: app) }
    }
    restoreDerived()
  }

  /// Restores what this machine derives from the events of the link.
  private mutating func restoreDerived() {
    if let child = link.restoredChild {
      (known, consents) = (child.known, child.consents)
      if let time = child.newestTime { relayTime.learn(time, uptime: nil) }
    }
    known.advance(to: latest.value)
    let covered = link.draft?.events
    var part = DeviceLink.RestoredChild()
    for (index, event) in link.restored.enumerated() {
      if index == covered { part = derived }
      updateKnownHandles(event)
      relayTime.learn(event.at, uptime: nil)
      updateConsents(event)
    }
    if link.restored.count == covered { part = derived }
    link.finishSnapshot(child: part)
  }

  /// Releases the restored events, which only tools read.
  public mutating func releaseRestored() { link.releaseRestored() }

  /// Moves the settled history from memory to a storage. The state of the device stays equal.
  public mutating func moveHistory(to storage: any HistoryStorage) {
    link.moveHistory(to: storage)
  }

  /// Takes the changes that this start requires. The first step persists them if nobody takes them.
  public mutating func takeStartChanges() -> [RecordChange] { link.takeStartChanges() }

  private var derived: DeviceLink.RestoredChild {
    DeviceLink.RestoredChild(known: known, consents: consents, newestTime: relayTime.newest)
  }

  /// When the machine needs the input `timer`, or `nil` if it needs none.
  public var deadline: Instant? { deadline(ofLink: link.deadline) }

  /// The deadline, which is searched once after each change and read without a copy of the machine.
  public mutating func findDeadline() -> Instant? {
    let ofLink = link.findDeadline()
    return deadline(ofLink: ofLink)
  }

  private func deadline(ofLink: Instant?) -> Instant? {
    var earliest = ofLink
    earliest.advance(to: endDeadline)
    earliest.advance(to: webReporting.due)
    earliest.advance(to: activityDeadline)
    for index in feeds.indices {
      if let due = feeds[index].deadline, isManaged(feeds[index]) { earliest.advance(to: due) }
    }
    return earliest
  }

  /// The handles that are known in the app, in order.
  public func knownHandles(in app: AppID) -> [Handle] { known.all(in: app) }

  /// The number of app entries that this device's apps have not acknowledged.
  public var unacknowledged: Int { feeds.reduce(0) { $0 + $1.entries.count } }

  /// The owner's conversation with the guardians.
  public var conversation: Conversation? { link.conversations[link.personID] }

  /// Handles one input.
  ///
  /// - Parameter now: The device's wall clock, which its owner may set.
  /// - Parameter uptime: The reading of a clock that is never set; by default the wall clock is
  ///   trusted.
  /// - Returns: The effects, the change of durable state first.
  public mutating func step(_ input: Input, now: Instant, uptime: Milliseconds? = nil)
    -> [DeviceEffect]
  {
    var out = DeviceLink.Output()
    var effects: [DeviceEffect] = []
    self.uptime = uptime ?? Milliseconds(now.milliseconds)
    relayTime.start(uptime: self.uptime!)
    steady.start(clock: now, uptime: self.uptime!)
    haveSitesMoved = false
    observeTime(now: now, into: &out, effects: &effects)
    if !areRatingsRecorded { recordRatings(into: &out, effects: &effects) }
    link.evaluateNewer(into: &out)
    switch input {
    case .connected:
      isListDue = true
      link.connected(now: now, into: &out)
    case .disconnected: link.disconnected(now: now, into: &out)
    case .reply(let id, let reply):
      if case .attached(_, let time) = reply { learn(relay: time) }
      link.reply(id, reply, now: now, into: &out)
    case .broadcast(let broadcast): link.broadcast(broadcast, now: now, into: &out)
    case .admitted(let id): link.admitted(id, now: now)
    case .snapshotMade(let number, let snapshot):
      link.storeSnapshot(snapshot, number, into: &out)
    case .timer: link.timer(now: now, into: &out)
    case .clockSetBack:
      link.clockSetBack(now: now)
      webReporting.due = webReporting.due.map { min($0, now + Timing.webReportInterval) }
      for index in feeds.indices { feeds[index].clockSetBack(now: now) }
    case .app(let app, let request):
      appRequested(request, by: app, now: now, into: &out, effects: &effects)
    case .appGone(let app, let exited): disconnected(app, exited: exited, now: now)
    case .pictureChecked(let check, let analysis):
      pictureChecked(check, analysis, effects: &effects)
    case .answered(let prompt, let answer):
      promptAnswered(prompt, with: answer, now: now, into: &out, effects: &effects)
    case .passcodeChecked(let prompt, let proof):
      passcodeChecked(prompt, proof, now: now, into: &out, effects: &effects)
    case .post(let text):
      send(.post(child: link.personID, .text(text)), now: now, into: &out)
    case .cancel(let id):
      try? link.cancel(id, id: link.nextID(now: now), now: now, into: &out)
    case .setAge(let settings): set(settings, now: now, into: &out, effects: &effects)
    case .shareAgain(let app):
      changeAge(
        .noteAge(link.personID, .ageMemory(app, nil)), now: now, into: &out, effects: &effects)
    case .readNotifications: out.changes += notifications.markRead()
    case .dismissNotification(let id): out.changes += notifications.dismiss(id)
    case .setOwnAccount(let account): setOwn(account, now: now, into: &out, effects: &effects)
    }
    keep(effects, id: nil, at: now, into: &out, effects: &effects)
    if out.hasMovedRosters { show(link.rosterProofs, effects: &effects) }
    for event in out.events {
      relayTime.learn(event.at, uptime: self.uptime)
      var caused: [DeviceEffect] = []
      apply(event, now: now, into: &out, effects: &caused)
      effects += caused
      keep(caused, id: event.command, at: event.at, into: &out, effects: &effects)
    }
    for done in out.evaluated { evaluated(done, now: now, into: &out, effects: &effects) }
    report(now: now, into: &out, effects: &effects)
    effects += link.endStep(now: now, into: &out)
    recordLatestTime(into: &out)
    for index in feeds.indices where isManaged(feeds[index]) {
      if let effect = feeds[index].nextAction(now: now) { effects.append(effect) }
    }
    return (out.changes.isEmpty ? [] : [.persist(out.changes)]) + out.sends + effects
  }

  private mutating func learn(relay time: Instant) {
    relayTime.learn(time, uptime: uptime)
    // A reply without a time teaches nothing.
    if let uptime, time.milliseconds > 0 { steady.learn(relay: time, uptime: uptime) }
  }

  /// Reports to guardians and apps what has changed in this step.
  private mutating func report(
    now: Instant, into out: inout DeviceLink.Output, effects: inout [DeviceEffect]
  ) {
    reportApps(now: now, into: &out)
    reportWebUse(now: now, into: &out)
    endManaging(into: &out)
    reportActivities(now: now, into: &out, effects: &effects)
    reportSites(haveMoved: haveSitesMoved, effects: &effects)
    reportSafety(effects: &effects)
  }

  /// Keeps the notices among the effects of one cause. A notice of no event gets an id of its own.
  private mutating func keep(
    _ caused: [DeviceEffect], id: CommandID?, at: Instant, into out: inout DeviceLink.Output,
    effects: inout [DeviceEffect]
  ) {
    if let joined = link.joined { notifications.join(at: joined) }
    for case .notify(let notice) in caused where notice.isKept {
      let id = id ?? link.nextID(now: at)
      guard let new = notifications.add(notice, id: id, at: at, changes: &out.changes) else {
        continue
      }
      effects.append(.alert(new))
    }
  }

  // MARK: entries, commands and prompts

  /// Appends an entry with its evidence to the app's feed, and sends it if the app is attached.
  mutating func enqueue(
    _ body: AppEntry.Body, for app: AppID, signed commands: [CommandName] = [],
    into out: inout DeviceLink.Output,
    effects: inout [DeviceEffect]
  ) {
    guard let index = feeds.firstIndex(where: { $0.app == app }) else { return }
    let evidence = link.evidence(commands, for: app, named: feeds[index].named)
    out.changes += feeds[index].append(body, evidence)
    if feeds[index].isAttached, let entry = feeds[index].entries.last {
      effects.append(.app(app, .entry(entry)))
    }
  }

  mutating func update<R>(_ app: AppID, _ body: (inout AppFeed) -> R) -> R? {
    feeds.firstIndex { $0.app == app }.map { body(&feeds[$0]) }
  }

  @discardableResult
  mutating func send(_ command: Command, now: Instant, into out: inout DeviceLink.Output)
    -> Problem?
  {
    do throws(Problem) {
      try link.send(command, id: link.nextID(now: now), now: now, into: &out)
      return nil
    } catch { return error }
  }

  mutating func show(_ prompt: Prompt, _ flow: AskFlow, effects: inout [DeviceEffect]) {
    flows[show(prompt, window: flow.window, effects: &effects)] = flow
  }

  /// Shows a prompt.
  ///
  /// - Returns: The number that its answer carries.
  mutating func show(
    _ prompt: Prompt, window: String = "", effects: inout [DeviceEffect]
  ) -> UInt64 {
    lastPrompt += 1
    effects.append(.prompt(lastPrompt, prompt, window: window))
    return lastPrompt
  }

  /// Records the ratings of the apps, which change only while the device is stopped.
  private mutating func recordRatings(
    into out: inout DeviceLink.Output, effects: inout [DeviceEffect]
  ) {
    areRatingsRecorded = true
    for index in feeds.indices {
      let app = feeds[index].app
      let (changes, hasRisen) = feeds[index].record(rating: manifest(app).ageRating)
      out.changes += changes
      if hasRisen, let rating = feeds[index].progress.rating {
        effects.append(.notify(.ratingRaised(app, rating)))
      }
    }
  }
}
