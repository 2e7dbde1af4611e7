/// What a device wants to change. Each accepted command leads to exactly one event.
///
/// (Indirect, so that to hand it on is to hand on one reference: it goes through many hands.)
public indirect enum Command: Hashable, Sendable {
  /// Makes the family, or changes its members and devices (the administrator only).
  case setRoster(Roster)
  /// Sets an account (the administrator, or a guardian a child's, F5); the content is an account.
  case setAccount(PersonID, Content)
  /// Turns a child's limits on or off (guardians, and the administrator).
  case setLimits(child: PersonID, on: Bool)
  /// Asks (the child); the content is a question.
  case ask(QuestionHeader, Content)
  /// Reminds the guardians of an open question (the child).
  case remind(QuestionID)
  /// Takes an open question back (the child).
  case cancel(QuestionID)
  /// Answers with the choice of this id (a guardian).
  case answer(QuestionID, choice: String)
  /// Writes into a child's conversation (the child, a guardian); the content is a text.
  case post(child: PersonID, Content)
  /// Changes a child's known contacts (a guardian); the content is a contact.
  case changeContact(child: PersonID, Content)
  /// Sets the family's passcode (a guardian).
  case setPasscode(Passcode)
  /// Asks and answers at once, with the passcode (the child's device); the content is a question.
  case answerInPerson(QuestionHeader, Content, choice: String, proof: [UInt8])
  /// Takes something back (a guardian); the content is a withdrawal.
  case withdraw(child: PersonID, Content)
  /// Makes an account for a child, with a child's defaults on (a guardian, F4).
  case addChild(displayName: String)
  /// Lets one device of a member join (a guardian; one of the organizer's, the organizer).
  case invite(Invitation)
  /// Remembers what an app was told about the sender's age (anybody, D10); the content is an age memory.
  case noteAge(PersonID, Content)
  /// Changes age settings, or has a memory forgotten (a guardian of a child; others their own; on a
  /// child's device with a proof that somebody typed the passcode, D7).
  case setAge(PersonID, Content, proof: [UInt8])
  /// Gives content keys to devices that may read the audience (who reads it, and the administrator for an
  /// account).
  case shareKeys(Audience, [KeyWrap])
}

/// How far a device has come in one audience.
public struct Cursor: Hashable, Sendable {
  /// The audience.
  public var audience: Audience
  /// The last event applied.
  public var delivered: UInt64
  /// The last event that the person has seen; never above `delivered`.
  public var read: UInt64
  /// A position in `audience`.
  public init(_ audience: Audience, delivered: UInt64, read: UInt64 = 0) {
    self.audience = audience
    self.delivered = delivered
    self.read = read
  }
}

/// What a device asks of the relay.
public enum Request: Hashable, Sendable {
  /// Change something. The signature is the device's, or that of the device for which the administrator
  /// speaks. As request zero it is answered only where it leads to no new event: who listens to the event's
  /// audience gets its own event as everybody does, and needs no other word of it.
  case command(CommandID, Command, Signature? = nil)
  /// Start receiving: tells how far the device has come.
  case attach([Cursor])
  /// Give me what came after `after` in this audience.
  case fetch(Audience, after: UInt64)
  /// I have come this far. It has no reply.
  case acknowledge([Cursor])
  /// Are you there?
  case ping
  /// I am there, and so are these other devices with my key, on my connection. One `pong` for all of them;
  /// who lacks something is told its channels, with the request's number zero.
  case present([DeviceAddress])
  /// I have a code: let me join. It is repeated until the answer names my device.
  indirect case join(JoinRequest)
}

/// The relay's answer to one request.
public enum Reply: Hashable, Sendable {
  /// The command is durable as the event `seq`. A repeated command gets the same.
  case accepted(CommandID, seq: UInt64)
  /// The command changed nothing.
  case refused(CommandID, Problem)
  /// The channels that this device may listen to.
  case attached([Channel])
  /// The answer to a fetch; `more` says that another fetch is needed.
  case page(Audience, [Event], more: Bool)
  /// I am here.
  case pong
  /// The request to join is kept; once a guardian has signed it, this is the device. Zero: not yet.
  case joined(DeviceID)
  /// The request was not a command and was refused.
  case failed(Problem)
}

extension Reply {
  /// The page without the events after `upTo`: they are later than the request that it answers.
  public static func page(_ audience: Audience, _ events: [Event], more: Bool, upTo: UInt64)
    -> Reply
  {
    let kept = events.prefix { $0.seq <= upTo }
    return .page(audience, Array(kept), more: more && kept.count == events.count)
  }
}

/// Where the events of one audience are broadcast.
public struct Channel: Hashable, Sendable {
  /// Who listens.
  public var audience: Audience
  /// Changes whenever a device leaves: names a new topic and key.
  public var generation: UInt32
  /// The last event of the audience.
  public var head: UInt64
  /// The topic and key, filled in by the shell that holds the relay's secret; empty in the core.
  public var topic: [UInt8] = []
  /// The key of 32 bytes, likewise.
  public var key: [UInt8] = []
  /// How far guardians have come: the largest delivered and read of any guardian's device (M4).
  public var receipt: Receipt
  /// The channel of `audience`.
  public init(audience: Audience, generation: UInt32, head: UInt64, receipt: Receipt = Receipt()) {
    self.audience = audience
    self.generation = generation
    self.head = head
    self.receipt = receipt
  }
}

/// How far the guardians have come in a conversation (M4).
public struct Receipt: Hashable, Sendable {
  /// The last event that reached at least one guardian's device.
  public var delivered: UInt64
  /// The last event that at least one guardian has seen.
  public var read: UInt64
  /// A receipt up to these events.
  public init(delivered: UInt64 = 0, read: UInt64 = 0) {
    self.delivered = delivered
    self.read = read
  }
}

/// What goes out on a channel. Only events form the chain; the rest is a hint and may be lost.
public enum Broadcast: Hashable, Sendable {
  /// Something happened.
  case event(Event)
  /// The audience's last event is `seq`.
  case head(Audience, seq: UInt64)
  /// The guardians have come this far.
  case receipt(Audience, Receipt)
}

extension Command {
  /// The question that the command is about, if it is about one.
  public var question: QuestionID? {
    switch self {
    case .ask(let header, _), .answerInPerson(let header, _, _, _): header.id
    case .remind(let id), .cancel(let id), .answer(let id, _): id
    default: nil
    }
  }
}
