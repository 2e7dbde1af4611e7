public import FamilyModel

/// A question as a conversation shows it.
///
/// `open` → `answered` (R3: the first answer), or `open` → `cancelled` (R8). Nothing leaves the last two.
/// Expiry is not a state: it is a matter of the clock.
public struct QuestionState: Hashable, Sendable {
  /// Where the question stands.
  public enum Phase: Hashable, Sendable {
    /// Nobody has answered.
    case open
    /// Answered by a guardian.
    case answered(ChoiceHeader, by: DeviceID, at: Instant)
    /// Taken back by the child.
    case cancelled
  }
  /// What the relay knows of it.
  public var header: QuestionHeader
  /// What it says, where this device can open it.
  public var question: Question?
  /// Its place in the conversation.
  public var seq: UInt64
  /// Where it stands.
  public var phase: Phase = .open
  /// When the guardians were last asked or reminded.
  public var lastAsked: Instant

  /// Whether it can be answered at `now`.
  public func isOpen(_ now: Instant) -> Bool {
    phase == .open && header.expiration.map { now <= $0 } ?? true
  }
}

/// A line of a conversation, in the order of the relay (M3).
public struct Line: Hashable, Sendable {
  /// What the line shows.
  public enum Body: Hashable, Sendable {
    /// A question's bubble.
    case question(QuestionID)
    /// An ordinary message.
    case text(String)
    /// A reminder of a question.
    case reminder(QuestionID)
    /// The decision on a question.
    case decision(QuestionID, ChoiceHeader)
    /// The child took a question back.
    case cancellation(QuestionID)
    /// A guardian answered a question on the child's device.
    case inPerson(QuestionID, ChoiceHeader)
    /// A guardian took something back.
    case withdrawal(Withdrawal)
  }
  /// Place in the family's log.
  public var seq: UInt64
  /// The command that led to it.
  public var command: CommandID
  /// Whose device: `DeviceLink.owner(of:)` tells whose it is.
  public var device: DeviceID
  /// When the relay accepted it.
  public var at: Instant
  /// What.
  public var body: Body
}

/// How far a message has come (M4).
public enum DeliveryState: Hashable, Sendable {
  /// In the outbox of this device.
  case sending
  /// Durable at the relay.
  case sent
  /// On at least one guardian's device.
  case delivered
  /// Seen by at least one guardian.
  case read
  /// Answered.
  case answered
}

/// A child's conversation with the guardians (M1), derived from its events.
public struct Conversation: Sendable {
  /// The lines, in the order of the relay.
  public private(set) var lines: [Line] = []
  /// The questions that were asked.
  public private(set) var questions: [QuestionID: QuestionState] = [:]
  /// Whether communication limits are on (F6); on unless a guardian turned them off.
  public private(set) var limitsOn = true
  private var limitsStamp = ID128(high: 0, low: 0)
  /// The handles that are known for the child (K1).
  public private(set) var known = KnownHandles()
  /// How far the guardians have come.
  public internal(set) var receipt = Receipt()

  /// A conversation in which nothing was said yet.
  public init() {}

  /// The delivery state of the question, `nil` where the relay does not have it yet.
  public func delivery(of id: QuestionID) -> DeliveryState? {
    guard let state = questions[id] else { return nil }
    if case .answered = state.phase { return .answered }
    return delivery(ofSeq: state.seq)
  }

  /// The delivery state of the child's message at this place.
  public func delivery(ofSeq seq: UInt64) -> DeliveryState {
    receipt.read >= seq ? .read : receipt.delivered >= seq ? .delivered : .sent
  }

  /// The questions, in the order asked.
  public var inOrder: [QuestionState] {
    lines.compactMap { line in
      switch line.body {
      case .question(let id), .inPerson(let id, _): questions[id]
      default: nil
      }
    }
  }

  /// Puts a line into its place: what had to wait for its key comes late.
  private mutating func add(_ line: Line) {
    var index = lines.endIndex
    while index > 0, lines[index - 1].seq > line.seq { index -= 1 }
    lines.insert(line, at: index)
  }

  mutating func apply(_ event: Event) {
    func line(_ body: Line.Body) -> Line {
      Line(
        seq: event.seq, command: event.command, device: event.device, at: event.at, body: body)
    }
    switch event.body {
    case .asked(let header, let content):
      var state = QuestionState(header: header, seq: event.seq, lastAsked: event.at)
      if case .question(let question) = content { state.question = question }
      questions[header.id] = state
      add(line(.question(header.id)))
    case .reminded(let id):
      questions[id]?.lastAsked = event.at
      add(line(.reminder(id)))
    case .cancelled(let id):
      questions[id]?.phase = .cancelled
      add(line(.cancellation(id)))
    case .decided(let decision):
      // Who answers a question has got it, and seen it: the relay sends no receipt for that.
      receipt.advance(to: questions[decision.question]?.seq ?? 0)
      questions[decision.question]?.phase = .answered(
        decision.choice, by: event.device, at: event.at)
      add(line(.decision(decision.question, decision.choice)))
    case .posted(_, let content):
      if case .text(let text) = content { add(line(.text(text))) }
    case .limitsChanged(_, let on):
      guard limitsStamp < event.stamp else { return }
      limitsStamp = event.stamp
      limitsOn = on
    case .answeredInPerson(let header, let content, let decision, _):
      var state = QuestionState(header: header, seq: event.seq, lastAsked: event.at)
      if case .question(let question) = content { state.question = question }
      state.phase = .answered(decision.choice, by: event.device, at: event.at)
      questions[header.id] = state
      add(line(.inPerson(header.id, decision.choice)))
    case .withdrawn(_, let content):
      if case .withdrawal(let what) = content { add(line(.withdrawal(what))) }
    case .rosterChanged, .accountChanged, .contactChanged, .passcodeChanged, .keysShared, .invited,
      .joinRequested, .ageNoted, .ageSet:
      break
    }
    known.apply(event) { questions[$0] }
  }
}
