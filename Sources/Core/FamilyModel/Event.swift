/// A guardian's choice for a question.
public struct Decision: Hashable, Sendable {
  /// The question that is decided.
  public var question: QuestionID
  /// One of the question's choices.
  public var choice: ChoiceHeader
  /// Creates the decision of `question` by `choice`.
  public init(question: QuestionID, choice: ChoiceHeader) {
    self.question = question
    self.choice = choice
  }
}

/// A committed entry of a family's log.
public struct Event: Hashable, Sendable {
  /// The change that the event makes. The enum is indirect for the same reason as ``Command``.
  public indirect enum Body: Hashable, Sendable {
    /// The complete new roster. The first one creates the family.
    case rosterChanged(Roster)
    /// A guardian turned a child's communication limits on or off.
    case limitsChanged(child: PersonID, on: Bool)
    /// The content is the new account.
    case accountChanged(PersonID, Content)
    /// A child asked; the content is a question.
    case asked(QuestionHeader, Content)
    /// A child reminded the guardians of an open question.
    case reminded(QuestionID)
    /// A child cancelled an open question.
    case cancelled(QuestionID)
    /// A guardian decided a question.
    case decided(Decision)
    /// A member of a conversation wrote a message; the content is a text.
    case posted(child: PersonID, Content)
    /// A guardian changed a child's known contacts; the content is a contact.
    case contactChanged(child: PersonID, Content)
    /// A guardian set the family's passcode.
    case passcodeChanged(Passcode)
    /// A guardian decided on the child's device with the passcode. The content is a question; the
    /// proof is a signature of ``InPerson``'s bytes.
    case answeredInPerson(QuestionHeader, Content, Decision, proof: [UInt8])
    /// A guardian withdrew an approval or a consent; the content is a withdrawal.
    case withdrawn(child: PersonID, Content)
    /// A guardian invited one device.
    case invited(Invitation)
    /// A device proved that it has an invitation's code. The device joins the family only with a
    /// later roster.
    case joinRequested(JoinRequest)
    /// A device recorded an age answer that an app received, or the list of its apps; the content is
    /// an age memory or a list of apps.
    case ageNoted(PersonID, Content)
    /// An authorized person changed age settings or cleared an app's age memory. The content is age
    /// settings or an age memory. The proof is a signature of ``InPerson``'s bytes if the device is
    /// the child's own.
    case ageSet(PersonID, Content, proof: [UInt8])
    /// An authorized person changed one setting of a child; the content is the setting. The proof is a
    /// signature of ``InPerson``'s bytes if the device is the child's own.
    case settingsChanged(PersonID, Content, proof: [UInt8])
    /// Content keys of the audience, each sealed for one device.
    case keysShared([KeyWrap])
    /// A reader of the audience cannot open these content keys.
    case complained([ContentKeyID])
    /// A guardian's device states what it has read: its signature names the heads of all audiences
    /// that it reads.
    case beat
    /// A change of a kind that this version does not know.
    case opaque(OpaqueBody)
  }
  /// The position in the family's log: 1, 2, 3, …
  public var seq: UInt64
  /// The `seq` of the audience's previous event; zero for the first.
  public var previous: UInt64
  /// The devices that may read the event.
  public var audience: Audience
  /// The command that produced the event.
  public var command: CommandID
  /// The device that sent the command; zero: the administrator.
  public var device: DeviceID
  /// The relay's clock at acceptance.
  public var at: Instant
  /// The change that the event makes.
  public var body: Body
  /// The device's signature, which the relay received with the command. Every reader verifies it.
  public var signature: Signature?
  /// The hash of this event and of all events before it in its audience. Every reader computes it
  /// and accepts no other.
  public var hash: ChainHash
  /// Creates an event; without a signature only for tests of the machines.
  public init(
    seq: UInt64, previous: UInt64, audience: Audience, command: CommandID, device: DeviceID,
    at: Instant, body: Body, signature: Signature? = nil, hash: ChainHash = ChainHash()
  ) {
    self.seq = seq
    self.previous = previous
    self.audience = audience
    self.command = command
    self.device = device
    self.at = at
    self.body = body
    self.signature = signature
    self.hash = hash
  }
}
