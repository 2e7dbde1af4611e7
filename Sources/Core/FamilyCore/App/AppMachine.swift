public import FamilyModel

/// The library's state inside an app: the known handles, the responses, and the open questions.
///
/// - An app entry is received → (verified) applied to the known handles → (subscribed) delivered to
///   the app's code → (handled) consumed → acknowledged.
///
/// Application and consumption are durable before the acknowledgement. After a crash the device
/// repeats the entries without acknowledgement: an applied entry changes nothing, and a consumed
/// one is not delivered.
public struct AppMachine: Sendable {
  /// An entry that the app's code has not handled.
  struct PendingEntry: Sendable {
    enum Content: Sendable {
      case response(Question, Choice)
      case moment(String, UInt64, ActivityMoment, at: Instant)
    }
    var position: UInt64
    var content: Content
    var isDelivered = false
  }

  let app: AppID
  /// The handles that are known, in canonical form.
  public internal(set) var known = HandleSet()
  /// The ends of those known handles that no approval without an end makes known. Past an end, the
  /// handle is unknown even before the device's entry arrives.
  public var ends: [Handle: Instant] {
    (verifier?.ends(in: app) ?? [:]).filter { known.contains($0.key) }
  }
  /// The latest time that the device's entries prove; approvals with an end are judged by no earlier
  /// one.
  public var latestTime: Instant { verifier?.latest ?? Instant(milliseconds: .min) }
  /// The handles that the app's code may regard as known: none while the consent is withdrawn.
  public var visible: HandleSet { isConsentWithdrawn ? HandleSet() : known }
  /// Whether a guardian withdrew the consent to the app, and has neither approved an update nor
  /// given the consent back since.
  public internal(set) var isConsentWithdrawn = false
  private var applied: UInt64 = 0
  /// Every entry up to this position is consumed; later consumed ones are in `consumedAhead`.
  var consumed: UInt64 = 0
  var consumedAhead: Set<UInt64> = []
  /// The position of the last entry that this process received. The device repeats, in order, the
  /// entries that an earlier process applied but did not consume.
  var lastReceived: UInt64 = 0
  /// Whether the connection to the device is up.
  public private(set) var isConnected = false
  /// Whether the device has replied to this connection's attachment. Earlier messages are for a
  /// former connection.
  private(set) var isAttached = false
  /// Whether the device refuses this connection's attachment, for example because the app is rated
  /// above the child's ceiling.
  private var isRefused = false
  private var isRegistered = false
  var subscribed: Set<Topic.Kind> = []
  private var openAsks: [(question: Question, manner: AskManner, window: String)] = []
  /// Age requests without an answer, in order.
  private var ageRequests: [(id: UInt64, request: AppRequest)] = []
  /// Ascending by position.
  var pendingEntries: [PendingEntry] = []
  /// `nil` verifies nothing, for tests of the machine alone.
  var verifier: EvidenceVerifier?
  /// The launcher's security that is not durable yet.
  private var unsavedPin: AppSecurity?
  /// Whether the launcher's security differs from the pinned one.
  private var isOtherFamily = false
  /// Whether the app ignored messages of this attachment, because the device has not shown the
  /// rosters that a former process has verified.
  var isWaitingForRosters = false
  /// Questions whose default choice approves, in order.
  var askedHere: [Question] = []
  /// The handles that the app has named, as the device confirmed. The device reports no other.
  public internal(set) var named = HandleSet()
  /// The handles that the app has named and the device has not confirmed.
  public internal(set) var unconfirmed = HandleSet()
  /// The access to the sites that the app has named, as the device answered.
  var sites: [Site: SiteAccess] = [:]
  /// The sites with an answer, in the order in which the app named them.
  var siteOrder: [Site] = []
  /// The sites that the app has named and the device has not answered, in order.
  var unansweredSites: [Site] = []
  /// Whether the app's code has named sites, or requested whether rules restrict the web.
  var requestsSites = false
  /// The setting for sensitive pictures; `nil` before the device's first answer.
  public internal(set) var safety: CommunicationSafety?
  /// Whether the app's code has requested the setting.
  var requestsSafety = false
  var pictures = PictureQueue()
  var webUses = WebUseQueue()
  /// Whether guardians' rules restrict the web; `nil` before the device's first answer.
  public internal(set) var isWebRestricted: Bool?
  /// Whether a guardian declined the app's authorization, or the authorization has ended.
  var isAuthorizationDenied = false
  /// The activities that the app watches, by name.
  public internal(set) var planned: [String: PlannedActivity] = [:]
  /// The unanswered `manage` requests of this attachment, by the store's name.
  var openManages: [String: Int] = [:]
  /// Whether the app's code handles the moments of activities.
  var handlesMoments = false
  /// The settings of the app's stores by name, which the device enforces. An empty store waits for the
  /// device's answer.
  public internal(set) var managed: [String: ManagedSettings] = [:]
  /// The access to sites that the app's code may know: none while the consent is withdrawn.
  public var visibleSites: [Site: SiteAccess] { isConsentWithdrawn ? [:] : sites }

  /// The app, restored from its records.
  ///
  /// - Parameters:
  ///   - security: The launcher's security, which a pinned one overrides, and the cryptography to
  ///     verify with.
  public init(
    _ app: AppID, trusting security: (claim: AppSecurity, vault: any EvidenceVault)? = nil,
    restoring records: [AppRecord] = []
  ) {
    self.app = app
    if let security {
      var pinned: AppSecurity?
      for case .pinned(let found) in records { pinned = found }
      if pinned == nil, !security.claim.organizerKey.isEmpty { unsavedPin = security.claim }
      isOtherFamily = pinned.map { $0 != security.claim } ?? false
      verifier = EvidenceVerifier(security.vault, pinned: pinned ?? security.claim)
    }
    for record in records {
      switch record {
      case .pinned: break
      case .statement(let statement): verifier?.restore(statement, in: app)
      case .asked(let question): askedHere.append(question)
      case .latestTime(let time): verifier?.advance(to: time)
      case .named(let handle): named.insert(handle)
      case .site(let access): restore(access)
      case .webRestricted(let isRestricted): isWebRestricted = isRestricted
      case .authorizationDenied: isAuthorizationDenied = true
      case .managed(let name, let settings): managed[name] = settings
      case .activity(let activity): planned[activity.activity.name] = activity
      case .webDeletion(let number, let part): webUses.restore(part, number)
      case .safety(let setting): safety = setting
      case .roster(let digest): verifier?.rosters.restore(digest)
      case .known(let handle): known.insert(handle)
      case .consentWithdrawn: isConsentWithdrawn = true
      case .consumedAhead(let position): consumedAhead.insert(position)
      case .position(let applied, let consumed):
        self.applied = applied
        self.consumed = consumed
      }
    }
    lastReceived = consumed
  }

  /// Handles one input and returns its effects.
  public mutating func step(_ input: Input) -> [Effect] {
    switch input {
    case .connected:
      isConnected = true
      isAttached = false
      openManages = [:]
      isRefused = false
      var first: [Effect] = []
      if let security = unsavedPin {
        unsavedPin = nil
        first = [.persist([.put(.pinned(security))])]
      }
      if isOtherFamily { first += [.rejected(.otherFamily), .send(.rejected(.otherFamily))] }
      return first + [.send(.attach(app: app, applied: applied))]
        + (isRegistered ? [.send(.register)] : [])
        + openAsks.map { .send(.ask($0.question, $0.manner, window: $0.window)) }
        + ageRequests.map { .send($0.request) } + requestNames(unconfirmed.sorted())
        + repeatPictures()
    case .disconnected:
      isConnected = false
      return []
    case .ask(let question, let manner, let window):
      openAsks.append((question, manner, window))
      let request = AppRequest.ask(question, manner, window: window)
      return rememberAsked(question) + name(question.topic.handles.map(\.canonical))
        + (isConnected ? [.send(request)] : [])
    case .askAge(let id, let gates, let window):
      return request(id, .age(id, gates: gates, window: window))
    case .askRating(let id): return request(id, .rating(id))
    case .abandonAsk(let id):
      openAsks.removeAll { $0.question.id == id }
      return []
    case .abandonAge(let id):
      ageRequests.removeAll { $0.id == id }
      return []
    case .register: return register()
    case .name(let handles): return name(handles)
    case .sites(let sites): return name(sites)
    case .useWeb(let pages, let now): return useWeb(pages, at: now)
    case .deleteWebUse(let part, let now): return deleteWebUse(part, at: now)
    case .manage(let name, let settings): return manage(name, settings)
    case .watch(let activity, let schedule): return watch(activity, schedule)
    case .unwatch(let name): return unwatch(name)
    case .handleMoments:
      handlesMoments = true
      return register() + deliver()
    case .safety: return requestSafety()
    case .analyze(let number, let picture): return analyze(number, picture)
    case .abandonPicture(let number): return abandonPicture(number)
    case .subscribe(let kind):
      guard subscribed.insert(kind).inserted else { return [] }
      return register() + deliver()
    case .consumed(let position): return consume(position)
    case .reply(let reply): return received(reply)
    }
  }

  mutating func register() -> [Effect] {
    guard !isRegistered else { return [] }
    isRegistered = true
    return isConnected ? [.send(.register)] : []
  }

  private mutating func request(_ id: UInt64, _ request: AppRequest) -> [Effect] {
    ageRequests.append((id, request))
    return isConnected ? [.send(request)] : []
  }

  private mutating func received(_ reply: AppReply) -> [Effect] {
    // The device repeats a message that it sent to a former process or connection.
    guard isAttached || !reply.followsAttachment else { return [] }
    if reply.needsRosters, let verifier, !verifier.rosters.isComplete { return waitForRosters() }
    switch reply {
    case .attached(let acknowledged):
      isAttached = true
      isRefused = false
      isWaitingForRosters = false
      verifier?.rosters.restart()
      // An app with positions of another device continues at this device's position.
      guard acknowledged > consumed else { return [] }
      consumed = acknowledged
      lastReceived = max(lastReceived, consumed)
      return [.persist(dropConsumedAhead() + [position])]
    case .reset(let position, let handles): return reset(position, handles)
    case .roster(let proof): return append(proof)
    case .evidence(let evidence):
      do throws(Problem) {
        return [.persist(try applyVerified(evidence))]
      } catch { return reject(error) }
    case .entry(let entry): return apply(entry)
    case .caughtUp:
      return [.caughtUp] + requestAllSites() + manageAgain() + watchAgain()
        + requestSafetyAgain() + sendWebUse(again: true)
    case .asked(let id, let outcome):
      // The outcome also ends a repeated ask of the same question. An abandoned ask has no reader.
      let count = openAsks.count
      openAsks.removeAll { $0.question.id == id }
      return (outcome.mayHaveResponse ? [] : forgetAsked(id))
        + (openAsks.count < count ? [.asked(id, outcome)] : [])
    case .age(let id, let reply):
      guard let index = ageRequests.firstIndex(where: { $0.id == id }) else { return [] }
      ageRequests.remove(at: index)
      return [.age(id, reply)]
    case .pong: return repeatPictures()
    case .safety(let setting): return apply(setting)
    case .analyzed(let number, let analysis): return analyzed(number, analysis)
    case .sites(let answers, let isRestricted): return apply(answers, isRestricted: isRestricted)
    case .sitesChanged: return requestAllSites()
    case .webUsed(let number): return webUsed(number)
    case .managed(let name, let problem): return answered(name, problem)
    case .watched(let name, let number, let problem, let time):
      return watched(name, number, problem, at: time)
    case .named(let handles):
      let changes = confirm(handles)
      return changes.isEmpty ? [] : [.persist(changes), .namesChanged]
    case .failed(let problem):
      isRefused = !isAttached
      // A device of an earlier version knows neither the setting, pictures nor the use of the web.
      if problem == .unknownRequest {
        webUses.removePages()
        return failPictures(problem)
      }
      let refused: [Effect] = isRefused ? [.namesChanged] : []
      // The device could not read the question that was sent last.
      guard let open = openAsks.popLast() else { return refused }
      return refused + [.asked(open.question.id, .refused(problem))]
    }
  }

  /// Attaches again. The device then forgets the age requests, which the app repeats.
  func attachAgain() -> [Effect] {
    [.send(.attach(app: app, applied: applied))] + ageRequests.map { .send($0.request) }
      + repeatPictures()
  }

  /// Whether the device will answer to a handle's name.
  public var isAnswered: Bool { isConnected && !isRefused }

  var position: AppRecordChange { .put(.position(applied: applied, consumed: consumed)) }

  private mutating func reset(_ position: UInt64, _ claimed: [Handle]) -> [Effect] {
    // A handle that is not known by the evidence was withdrawn later, or never approved.
    let handles = claimed.filter { verifier?.isKnown($0, in: app) ?? true }
    let hasForgery = claimed.contains { verifier?.hasNoStatement(about: $0, in: app) ?? false }
    let wasAuthorized = known.contains(.authorization)
    known = HandleSet(handles)
    // A device that lost its store may not have read the authorization again.
    let isStillAuthorized = verifier?.isKnown(.authorization, in: app) ?? false
    let authorization =
      updateAuthorization(wasAuthorized, isRestored: isStillAuthorized) + unconfirmActivities()
    applied = position
    consumed = position
    lastReceived = position
    pendingEntries = []
    let ahead = consumedAhead.sorted().map { AppRecordChange.remove(.consumedAhead($0)) }
    consumedAhead = []
    let (renamed, requests) = nameAgain(except: handles)
    return [
      .persist(
        [.forgetAll] + handles.map { .put(.known($0)) } + ahead + renamed + authorization + [
          self.position
        ])
    ] + requests + (hasForgery ? reject(.notSigned) : [])
  }

  private mutating func apply(_ entry: AppEntry) -> [Effect] {
    guard entry.position > consumed else { return [.send(.acknowledge(consumed))] }
    // The device sent the entry to a former process. Attach again to receive the earlier entries
    // first.
    guard entry.position <= lastReceived + 1, entry.position <= applied + 1 else {
      return [.send(.attach(app: app, applied: applied))]
    }
    var effects: [Effect] = []
    var isVerified = true
    if entry.position > applied {
      applied = entry.position
      let wasWithdrawn = isConsentWithdrawn
      let wasAuthorized = known.contains(.authorization)
      let wasInForce = visible.contains(.authorization)
      do throws(Problem) {
        let changes = try applyVerified(entry)
        var authorization = updateAuthorization(wasAuthorized, by: entry)
        // The device has ended all activities.
        if wasInForce, !visible.contains(.authorization) { authorization += unconfirmActivities() }
        effects.append(
          .persist(changes + confirmPeople(of: entry) + authorization + [position]))
        effects += entry.authorizationAnswer
        if !wasInForce, visible.contains(.authorization) { effects += manageAgain() + watchAgain() }
      } catch {
        isVerified = false
        effects = [.persist([position])] + reject(error)
      }
      if wasWithdrawn != isConsentWithdrawn { effects.append(.consentChanged) }
    } else {
      // A former process applied or rejected the entry already.
      do throws(Problem) { try verify(entry) } catch { isVerified = false }
    }
    lastReceived = max(lastReceived, entry.position)
    if isVerified, let content = entry.contentForCode, isWanted(content),
      !consumedAhead.contains(entry.position),
      !pendingEntries.contains(where: { $0.position == entry.position })
    {
      pendingEntries.append(PendingEntry(position: entry.position, content: content))
      pendingEntries.sort { $0.position < $1.position }
    }
    return effects + endUnplanned(entry) + deliver() + dropUnwanted()
  }
}
