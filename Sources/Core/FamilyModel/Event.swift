/// Who may see an event. Each audience has its own channel and its own chain of events.
public struct Audience: Hashable, Comparable, Sendable {
  /// The kind in the upper half, the person in the lower.
  public var rawValue: UInt64
  /// Reads the number of the wire.
  public init(rawValue: UInt64) { self.rawValue = rawValue }
  /// Everybody in the family: who is in it.
  public static let family = Audience(rawValue: 0)
  /// The child and all guardians (M1).
  public static func conversation(_ child: PersonID) -> Audience {
    Audience(rawValue: 1 << 32 | UInt64(child.rawValue))
  }
  /// The person and, of a child, the guardians: the account's own record (F2).
  public static func account(_ person: PersonID) -> Audience {
    Audience(rawValue: 2 << 32 | UInt64(person.rawValue))
  }
  /// The child whose conversation this is; `nil` for other audiences.
  public var conversationChild: PersonID? {
    rawValue >> 32 == 1 ? PersonID(UInt32(truncatingIfNeeded: rawValue)) : nil
  }
  /// The person whose account this is; `nil` for other audiences.
  public var accountPerson: PersonID? {
    rawValue >> 32 == 2 ? PersonID(UInt32(truncatingIfNeeded: rawValue)) : nil
  }
  public static func < (a: Audience, b: Audience) -> Bool { a.rawValue < b.rawValue }
}

/// What people say to each other. The relay carries it as bytes and does not look inside.
///
/// (Indirect but for the bytes, which is all that the relay ever has: the others are ten times as large.)
public enum Content: Hashable, Sendable {
  /// Encoded, and not opened here.
  case sealed([UInt8])
  /// A question in full.
  indirect case question(Question)
  /// An ordinary text message (M1).
  indirect case text(String)
  /// A handle on the child's list of known contacts, put there or taken off (K1).
  indirect case contact(Handle, known: Bool)
  /// A person's account (F2).
  indirect case account(Account)
  /// What a guardian takes back (R9).
  indirect case withdrawal(Withdrawal)
  /// What an app was told about the person's age; `nil`: all of it is forgotten (D8, D9).
  indirect case ageMemory(AppID, AgeAnswer?)
  /// A person's age settings (D6, D13).
  indirect case ageSettings(AgeSettings)
}

/// A guardian's answer (R3).
public struct Decision: Hashable, Sendable {
  /// The question.
  public var question: QuestionID
  /// One of the question's choices.
  public var choice: ChoiceHeader
  /// The answer `choice` to `question`.
  public init(question: QuestionID, choice: ChoiceHeader) {
    self.question = question
    self.choice = choice
  }
}

/// Something that happened in a family, durable at the relay.
public struct Event: Hashable, Sendable {
  /// What happened. (Indirect, as ``Command`` is.)
  public indirect enum Body: Hashable, Sendable {
    /// The family came to be, or its members or devices changed: the roster as it is now.
    case rosterChanged(Roster)
    /// A guardian turned a child's communication limits on or off (F6).
    case limitsChanged(child: PersonID, on: Bool)
    /// An account's own record changed; the content is an account.
    case accountChanged(PersonID, Content)
    /// A child asked; the content is a question.
    case asked(QuestionHeader, Content)
    /// A child reminded the guardians of a question (A6).
    case reminded(QuestionID)
    /// A child took a question back (R8).
    case cancelled(QuestionID)
    /// A guardian answered (R3).
    case decided(Decision)
    /// Somebody wrote into a child's conversation; the content is a text.
    case posted(child: PersonID, Content)
    /// A guardian changed a child's known contacts; the content is a contact.
    case contactChanged(child: PersonID, Content)
    /// A guardian set the family's passcode (A4).
    case passcodeChanged(Passcode)
    /// A guardian answered on the child's device, with the passcode (A4); the content is a question, and
    /// the proof a signature of ``InPerson``'s bytes.
    case answeredInPerson(QuestionHeader, Content, Decision, proof: [UInt8])
    /// A guardian took something back (R9); the content is a withdrawal.
    case withdrawn(child: PersonID, Content)
    /// A guardian lets one device join (F3).
    case invited(Invitation)
    /// A device has the code of an invitation, and wants to join; it is in no family until a guardian's
    /// device signs so.
    case joinRequested(JoinRequest)
    /// A device of the person remembers what an app was told (D10); the content is an age memory.
    case ageNoted(PersonID, Content)
    /// Somebody who may changed the person's age settings, or has an app's memory forgotten (D7); the
    /// content is age settings or an age memory, and the proof, on a child's own device, a signature of
    /// ``InPerson``'s bytes.
    case ageSet(PersonID, Content, proof: [UInt8])
    /// Content keys of the audience, each sealed for one device.
    case keysShared([KeyWrap])
  }
  /// Position in the family's log: 1, 2, 3, …
  public var seq: UInt64
  /// The `seq` of the event before it of the same audience; zero for the first.
  public var previous: UInt64
  /// Who may see it.
  public var audience: Audience
  /// The command that led to it.
  public var command: CommandID
  /// The device that sent the command; zero: the administrator.
  public var device: DeviceID
  /// The relay's clock when it was accepted.
  public var at: Instant
  /// What happened.
  public var body: Body
  /// What the relay got with the command: who decided it, for everybody to verify.
  public var signature: Signature?
  /// An event with these parts.
  public init(
    seq: UInt64, previous: UInt64, audience: Audience, command: CommandID, device: DeviceID,
    at: Instant, body: Body, signature: Signature? = nil
  ) {
    self.seq = seq
    self.previous = previous
    self.audience = audience
    self.command = command
    self.device = device
    self.at = at
    self.body = body
    self.signature = signature
  }
}
