public import FamilyModel

/// The part of the library inside an app: the known handles, the responses, and the questions under way.
///
/// An entry is applied once (the known handles), delivered to the app's code, and then consumed; both are
/// durable before the device hears of them. After a crash the device sends again what it was not told of:
/// an entry that was applied changes nothing, and one that was consumed is not delivered.
public struct AppMachine: Sendable {
  /// What happens to the app.
  public enum Input: Sendable {
    /// The device is connected, anew or again.
    case connected
    /// The device is away.
    case disconnected
    /// The device says something.
    case reply(AppReply)
    /// The app asks.
    case ask(Question, AskManner)
    /// The app asks for the age range between these gates, or, without gates, for what the law asks.
    case askAge(UInt64, gates: [Int32]?)
    /// The app listens to the responses about this (R7).
    case subscribe(Topic.Kind)
    /// The app's code has handled the response at this position.
    case consumed(UInt64)
  }

  /// What is to be done, in this order within a step.
  public enum Effect: Hashable, Sendable {
    /// Make these changes durable in one transaction.
    case persist([AppRecordChange])
    /// Send to the device.
    case send(AppRequest)
    /// Give the response to the app's code.
    case deliver(UInt64, Question, Choice)
    /// ``AppMachine/isConsentWithdrawn`` has changed.
    case consentChanged
    /// An `ask` has ended.
    case asked(QuestionID, AskOutcome)
    /// The request of this number about the age has its answer.
    case age(UInt64, AgeReply)
    /// Everything that waited at the device has been delivered.
    case caughtUp
    /// The device told something that does not verify; nothing of it was taken (X3).
    case rejected(Problem)
  }

  /// A response that the app's code has not handled yet.
  private struct Waiting: Sendable {
    var position: UInt64
    var question: Question
    var choice: Choice
    var isDelivered = false
  }

  let app: AppID
  /// The handles that are known, in canonical form.
  public private(set) var known = HandleSet()
  /// Whether a guardian withdrew the consent that the child goes on using the app, and has not approved an
  /// update since (R9).
  public private(set) var isConsentWithdrawn = false
  private var applied: UInt64 = 0
  /// Everything up to here is consumed; of what comes after it, these positions are.
  private var consumed: UInt64 = 0
  private var consumedAhead: Set<UInt64> = []
  /// The last entry that this process was given. Entries that an earlier process applied and did not hand
  /// to the app's code come again, one after the other: those behind this one are not consumed.
  private var lastGiven: UInt64 = 0
  private var isConnected = false
  /// Whether the device has answered this connection's attachment: what it says from then on is meant for it.
  private var isAttached = false
  private var subscribed: Set<Topic.Kind> = []
  private var asking: [(question: Question, manner: AskManner)] = []
  /// Requests about the age that have no answer, in order.
  private var ages: [(id: UInt64, gates: [Int32]?)] = []
  /// Ascending by position.
  private var waiting: [Waiting] = []
  /// What this app believes; `nil`: all that its device says, as in the machines' own tests.
  var trust: EvidenceVerifier?
  /// What is to be kept of whom it trusts, and what is wrong with what the launcher said.
  private var unsavedPin: AppSecurity?
  private var isOtherFamily = false
  /// Questions whose default permits something, in the order in which they were asked.
  var askedHere: [Question] = []

  /// The app, restored from its records.
  ///
  /// - Parameters:
  ///   - security: What the launcher said of the family; what an earlier process kept of it counts instead.
  ///   - vault: The cryptography to verify with.
  public init(
    _ app: AppID, trusting security: (says: AppSecurity, vault: any EvidenceVault)? = nil,
    restoring records: [AppRecord] = []
  ) {
    self.app = app
    if let security {
      var pinned: AppSecurity?
      for case .pinned(let found) in records { pinned = found }
      if pinned == nil, !security.says.organizerKey.isEmpty { unsavedPin = security.says }
      isOtherFamily = pinned.map { $0 != security.says } ?? false
      trust = EvidenceVerifier(security.vault, pinned: pinned ?? security.says)
    }
    for record in records {
      switch record {
      case .pinned: break
      case .statement(let statement): trust?.restore(statement, in: app)
      case .asked(let question): askedHere.append(question)
      case .known(let handle): known.insert(handle)
      case .consentWithdrawn: isConsentWithdrawn = true
      case .consumedAhead(let position): consumedAhead.insert(position)
      case .position(let applied, let consumed):
        self.applied = applied
        self.consumed = consumed
      }
    }
    lastGiven = consumed
  }

  /// Takes one input and says what is to be done.
  public mutating func step(_ input: Input) -> [Effect] {
    switch input {
    case .connected:
      isConnected = true
      isAttached = false
      var first: [Effect] = []
      if let security = unsavedPin {
        unsavedPin = nil
        first = [.persist([.put(.pinned(security))])]
      }
      if isOtherFamily { first += [.rejected(.otherFamily), .send(.rejected(.otherFamily))] }
      return first + [.send(.attach(app: app, applied: applied))]
        + (subscribed.isEmpty ? [] : [.send(.register)])
        + asking.map { .send(.ask($0.question, $0.manner)) }
        + ages.map { .send(.age($0.id, gates: $0.gates)) }
    case .disconnected:
      isConnected = false
      return []
    case .ask(let question, let manner):
      asking.append((question, manner))
      return rememberAsked(question) + (isConnected ? [.send(.ask(question, manner))] : [])
    case .askAge(let id, let gates):
      ages.append((id, gates))
      return isConnected ? [.send(.age(id, gates: gates))] : []
    case .subscribe(let kind):
      let isFirst = subscribed.isEmpty
      guard subscribed.insert(kind).inserted else { return [] }
      return (isConnected && isFirst ? [.send(.register)] : []) + deliver()
    case .consumed(let position): return consume(position)
    case .reply(let reply): return received(reply)
    }
  }

  private mutating func received(_ reply: AppReply) -> [Effect] {
    // What is for an earlier process, or connection, that the device had not seen end comes again.
    guard isAttached || !reply.followsAttachment else { return [] }
    switch reply {
    case .attached(let acknowledged):
      isAttached = true
      // Whoever has the app's positions from another device starts from that device's.
      guard acknowledged > consumed else { return [] }
      consumed = acknowledged
      lastGiven = max(lastGiven, consumed)
      return [.persist(forgetAhead() + [position])]
    case .reset(let position, let handles): return reset(position, handles)
    case .roster(let proof): return trust?.append(proof).map(reject) ?? []
    case .evidence(let evidence):
      do throws(Problem) {
        return [.persist(try applyVerified(evidence))]
      } catch { return reject(error) }
    case .entry(let entry): return apply(entry)
    case .caughtUp: return [.caughtUp]
    case .asked(let id, let outcome):
      guard asking.contains(where: { $0.question.id == id }) else { return [] }
      // It may have been asked twice at once: the outcome is of both.
      asking.removeAll { $0.question.id == id }
      return (outcome.mayHaveResponse ? [] : forgetAsked(id)) + [.asked(id, outcome)]
    case .age(let id, let reply):
      guard let index = ages.firstIndex(where: { $0.id == id }) else { return [] }
      ages.remove(at: index)
      return [.age(id, reply)]
    case .failed(let problem):
      // The device could not read a question: it is the last one that was sent.
      guard let (question, _) = asking.popLast() else { return [] }
      return [.asked(question.id, .refused(problem))]
    }
  }

  private var position: AppRecordChange { .put(.position(applied: applied, consumed: consumed)) }

  private mutating func reset(_ position: UInt64, _ told: [Handle]) -> [Effect] {
    // What is not known by now was taken back later, or was never signed.
    let handles = told.filter { trust?.isKnown($0, in: app) ?? true }
    let isMadeUp = told.contains { trust?.hasNoStatement(about: $0, in: app) ?? false }
    known = HandleSet(handles)
    applied = position
    consumed = position
    lastGiven = position
    waiting = []
    let ahead = consumedAhead.sorted().map { AppRecordChange.remove(.consumedAhead($0)) }
    consumedAhead = []
    return [
      .persist(
        [.forgetAll] + handles.map { .put(.known($0)) } + ahead + [self.position])
    ] + (isMadeUp ? reject(.notSigned) : [])
  }

  private mutating func apply(_ entry: AppEntry) -> [Effect] {
    guard entry.position > consumed else { return [.send(.acknowledge(consumed))] }
    // The device may have sent it to an earlier process, before it heard of this one: what is behind comes first.
    guard entry.position <= lastGiven + 1, entry.position <= applied + 1 else {
      return [.send(.attach(app: app, applied: applied))]
    }
    var effects: [Effect] = []
    var isBelieved = true
    if entry.position > applied {
      applied = entry.position
      let wasWithdrawn = isConsentWithdrawn
      do throws(Problem) {
        effects.append(.persist(try applyVerified(entry) + [position]))
      } catch {
        isBelieved = false
        effects = [.persist([position])] + reject(error)
      }
      if wasWithdrawn != isConsentWithdrawn { effects.append(.consentChanged) }
    } else {
      // It was taken, or not believed, before.
      do throws(Problem) { try verify(entry) } catch { isBelieved = false }
    }
    lastGiven = max(lastGiven, entry.position)
    if isBelieved, case .response(let question, let choice) = entry.body,
      !consumedAhead.contains(entry.position),
      !waiting.contains(where: { $0.position == entry.position })
    {
      waiting.append(Waiting(position: entry.position, question: question, choice: choice))
      waiting.sort { $0.position < $1.position }
    }
    return effects + deliver() + consumeDone()
  }

  /// Takes what the device says for true.
  mutating func applyUnverified(_ body: AppEntry.Body) -> [AppRecordChange] {
    switch body {
    case .response(_, let choice) where choice.answer == .denial: return []
    case .response(let question, _):
      guard question.topic.kind == .significantUpdate else {
        return remember(question.topic.handles.map(\.canonical))
      }
      isConsentWithdrawn = false
      return [.remove(.consentWithdrawn)]
    case .known(let handles): return remember(handles)
    case .consentWithdrawn:
      isConsentWithdrawn = true
      return [.put(.consentWithdrawn)]
    case .forgotten(let handles):
      for handle in handles { known.remove(handle) }
      return handles.map { .remove(.known($0)) }
    }
  }

  mutating func setConsent(isWithdrawn: Bool) -> AppRecordChange {
    isConsentWithdrawn = isWithdrawn
    return isWithdrawn ? .put(.consentWithdrawn) : .remove(.consentWithdrawn)
  }

  mutating func setKnown(_ handle: Handle, _ isKnown: Bool) -> AppRecordChange {
    guard isKnown else {
      known.remove(handle)
      return .remove(.known(handle))
    }
    known.insert(handle)
    return .put(.known(handle))
  }

  private mutating func remember(_ handles: [Handle]) -> [AppRecordChange] {
    for handle in handles { known.insert(handle) }
    return handles.map { .put(.known($0)) }
  }

  private mutating func deliver() -> [Effect] {
    var effects: [Effect] = []
    for index in waiting.indices
    where !waiting[index].isDelivered && subscribed.contains(waiting[index].question.topic.kind) {
      waiting[index].isDelivered = true
      let item = waiting[index]
      effects.append(.deliver(item.position, item.question, item.choice))
    }
    return effects
  }

  /// Loops over two topics are not in step: one may be done with a later response than the other.
  private mutating func consume(_ position: UInt64) -> [Effect] {
    guard let index = waiting.firstIndex(where: { $0.position == position }) else { return [] }
    let forgotten = forgetAsked(waiting.remove(at: index).question.id)
    guard index > 0 else { return forgotten + consumeDone() }
    consumedAhead.insert(position)
    return forgotten + [.persist([.put(.consumedAhead(position))])]
  }

  /// Entries without a response need nobody: they go with the last response before them.
  private mutating func consumeDone() -> [Effect] {
    let done = waiting.first.map { $0.position - 1 } ?? lastGiven
    guard done > consumed else { return [] }
    consumed = done
    return [.persist(forgetAhead() + [position]), .send(.acknowledge(consumed))]
  }

  private mutating func forgetAhead() -> [AppRecordChange] {
    let passed = consumedAhead.filter { $0 <= consumed }.sorted()
    consumedAhead.subtract(passed)
    waiting.removeAll { $0.position <= consumed && !$0.isDelivered }
    return passed.map { .remove(.consumedAhead($0)) }
  }
}

extension AppReply {
  /// Whether it means something only after the answer to the attachment.
  fileprivate var followsAttachment: Bool {
    switch self {
    case .roster, .evidence, .reset, .entry, .caughtUp: true
    case .attached, .asked, .age, .failed: false
    }
  }
}
