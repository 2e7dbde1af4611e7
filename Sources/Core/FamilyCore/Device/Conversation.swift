public import FamilyModel

/// A question as a conversation shows it.
///
/// - `open` → (first decision) `answered`.
/// - `open` → (cancelled by the child) `cancelled`.
///
/// `answered` and `cancelled` are final. Expiry is not a state, because it depends on the clock.
public struct QuestionState: Hashable, Sendable {
  /// The phase of a question.
  public enum Phase: Hashable, Sendable {
    /// Without a decision.
    case open
    /// Answered by a guardian.
    case answered(ChoiceHeader, by: DeviceID, at: Instant)
    /// Cancelled by the child.
    case cancelled
  }
  /// The part of the question that the relay can read.
  public var header: QuestionHeader
  /// The content, or `nil` if this device cannot open it.
  public var question: Question?
  /// The sequence number of the question's event. Every screen, table and log of the family shows it
  /// as the question's number.
  public var seq: UInt64
  /// The current phase.
  public var phase: Phase = .open
  /// The time of the question or of its last reminder.
  public var lastAsked: Instant

  /// Whether a guardian can answer the question at `now`.
  public func isOpen(_ now: Instant) -> Bool {
    phase == .open && !header.hasExpired(at: now)
  }
}

/// A line of a conversation, in the order of the relay.
public struct Line: Hashable, Sendable {
  /// The content of a line.
  public enum Body: Hashable, Sendable {
    /// A question's bubble.
    case question(QuestionID)
    /// An ordinary message.
    case text(String)
    /// A reminder of a question.
    case reminder(QuestionID)
    /// The decision on a question.
    case decision(QuestionID, ChoiceHeader)
    /// The child cancelled a question.
    case cancellation(QuestionID)
    /// A guardian answered a question on the child's device.
    case inPerson(QuestionID, ChoiceHeader)
    /// A guardian withdrew an approval.
    case withdrawal(Withdrawal)
    /// An event of a kind that this version does not know.
    case newer
  }
  /// The event's sequence number in the family's log.
  public var seq: UInt64
  /// The command of the event.
  public var command: CommandID
  /// The author's device; ``DeviceLink/owner(of:)`` returns its owner.
  public var device: DeviceID
  /// When the relay accepted the command.
  public var at: Instant
  /// The content of this line.
  public var body: Body

  /// The question that the line brought; `nil` for any other line.
  var question: QuestionID? {
    switch body {
    case .question(let id), .inPerson(let id, _): id
    default: nil
    }
  }
}

/// The delivery state of a message.
public enum DeliveryState: Hashable, Sendable {
  /// In the outbox of this device.
  case sending
  /// Durable at the relay.
  case sent
  /// On at least one guardian's device.
  case delivered
  /// Read by at least one guardian.
  case read
  /// Answered by a guardian.
  case answered
}

/// A child's conversation with the guardians, derived from its events.
public struct Conversation: Sendable {
  /// The lines, in the order of the relay.
  public internal(set) var lines = Lines()
  /// All questions of the conversation.
  public internal(set) var questions = Questions()
  /// Whether communication limits are on. They are on until a guardian turns them off.
  public var limitsOn: Bool { limits.current?.value ?? true }
  var limits = Statements<Bool>()
  /// The handles that are known for the child.
  public internal(set) var known = KnownHandles()
  /// The guardians' consent to each app.
  public internal(set) var consents = Consents()
  /// An event that changed the known handles.
  struct Origin: Hashable, Sendable {
    enum Kind: UInt64 { case contact, approval, withdrawal }
    var kind: Kind
    var seq: UInt64
    var device: DeviceID
    var at: Instant
  }
  /// The origins of the statements about known handles, by their commands.
  var origins = PackedMap<CommandName, Origin>()
  var names: [Handle: Statements<String>] = [:]
  /// The guardians' receipt.
  public internal(set) var receipt = Receipt()

  /// Creates an empty conversation.
  public init() {}

  /// The delivery state of the question, or `nil` while the relay does not have it.
  public func delivery(of id: QuestionID) -> DeliveryState? {
    guard let state = questions[id] else { return nil }
    if case .answered = state.phase { return .answered }
    return delivery(ofSeq: state.seq)
  }

  /// The delivery state of the child's message with this sequence number.
  public func delivery(ofSeq seq: UInt64) -> DeliveryState {
    receipt.read >= seq ? .read : receipt.delivered >= seq ? .delivered : .sent
  }

  /// All questions, in the order of their events. Takes time and memory for each: see
  /// ``Questions/unanswered`` and ``newest(_:)``.
  public var inOrder: [QuestionState] {
    lines.compactMap(\.question).compactMap { questions[$0] }
  }

  /// The newest questions among the last ``Limits/recentHistory`` lines, in the order of their events.
  public func newest(_ count: Int) -> [QuestionState] {
    lines.suffix(Limits.recentHistory).reversed().lazy.compactMap(\.question).prefix(count)
      .reversed()
      .compactMap { questions[$0] }
  }

  /// The name that a guardian gave the handle; `nil` without one.
  public func name(of handle: Handle) -> String? {
    names[handle.canonical]?.current.flatMap { $0.value.isEmpty ? nil : $0.value }
  }

  mutating func apply(_ event: Event) {
    func line(_ body: Line.Body) -> Line {
      Line(
        seq: event.seq, command: event.command, device: event.device, at: event.signedAt,
        body: body)
    }
    switch event.body {
    case .asked(let header, let content):
      var state = QuestionState(header: header, seq: event.seq, lastAsked: event.at)
      if case .question(let question) = content { state.question = question }
      questions[header.id] = state
      lines.add(line(.question(header.id)))
    case .reminded(let id):
      questions[id]?.lastAsked = event.at
      lines.add(line(.reminder(id)))
    case .cancelled(let id):
      questions[id]?.phase = .cancelled
      lines.add(line(.cancellation(id)))
    case .decided(let decision):
      // An answer implies delivery and reading; the relay sends no receipt for them.
      receipt.advance(to: questions[decision.question]?.seq ?? 0)
      questions[decision.question]?.phase = .answered(
        decision.choice, by: event.device, at: event.signedAt)
      lines.add(line(.decision(decision.question, decision.choice)))
    case .posted(_, let content):
      if case .text(let text) = content { lines.add(line(.text(text))) }
    case .limitsChanged(_, let on): limits.add(on, event.order)
    case .answeredInPerson(let header, let content, let decision, _):
      var state = QuestionState(header: header, seq: event.seq, lastAsked: event.at)
      if case .question(let question) = content { state.question = question }
      state.phase = .answered(decision.choice, by: event.device, at: event.signedAt)
      questions[header.id] = state
      lines.add(line(.inPerson(header.id, decision.choice)))
    case .withdrawn(_, let content):
      if case .withdrawal(let what) = content { lines.add(line(.withdrawal(what))) }
    case .contactChanged(_, .contactName(let handle, let name)):
      names[handle.canonical, default: Statements()].add(name, event.order)
    case .contactChanged: break
    case .opaque: lines.add(line(.newer))
    case .rosterChanged, .accountChanged, .passcodeChanged, .keysShared, .complained, .invited,
      .joinRequested, .ageNoted, .ageSet, .settingsChanged, .beat:
      break
    }
    if let kind = event.body.originKind {
      origins[event.name] = Origin(
        kind: kind, seq: event.seq, device: event.device, at: event.signedAt)
    }
    known.apply(event) { questions[$0] }
    consents.apply(event) { questions[$0] }
  }
}

extension Event.Body {
  /// The way in which the event changes the known handles; `nil` if it does not.
  fileprivate var originKind: Conversation.Origin.Kind? {
    switch self {
    case .contactChanged(_, .contact): .contact
    case .withdrawn(_, .withdrawal(.handle)): .withdrawal
    case .decided(let decision), .answeredInPerson(_, _, let decision, _):
      decision.choice.answer == .approval ? .approval : nil
    default: nil
    }
  }
}
