/// A signed request of a device to append an event. Each accepted command produces exactly one
/// event.
///
/// The enum is indirect: a command passes through many functions, and each pass copies one
/// reference.
public indirect enum Command: Hashable, Sendable {
  /// Creates the family, or replaces its roster. Allowed: the administrator, guardians with a
  /// signature.
  case setRoster(Roster)
  /// Sets an account; the content is an account. Allowed: the administrator, the person, a guardian
  /// for a child.
  case setAccount(PersonID, Content)
  /// Turns a child's communication limits on or off. Allowed: guardians and the administrator.
  case setLimits(child: PersonID, on: Bool)
  /// Asks a question; the content is a question. Allowed: the child.
  case ask(QuestionHeader, Content)
  /// Reminds the guardians of an open question. Allowed: the child.
  case remind(QuestionID)
  /// Cancels an open question. Allowed: the child.
  case cancel(QuestionID)
  /// Decides an open question by the choice with this id. Allowed: guardians.
  case answer(QuestionID, choice: String)
  /// Writes a message into a child's conversation; the content is a text. Allowed: the child and
  /// guardians.
  case post(child: PersonID, Content)
  /// Changes a child's known contacts; the content is a contact. Allowed: guardians.
  case changeContact(child: PersonID, Content)
  /// Sets the family's passcode. Allowed: guardians.
  case setPasscode(Passcode)
  /// Asks and decides in one step, with the passcode; the content is a question. Allowed: the
  /// child's device.
  case answerInPerson(QuestionHeader, Content, choice: String, proof: [UInt8])
  /// Withdraws an approval or a consent; the content is a withdrawal. Allowed: guardians.
  case withdraw(child: PersonID, Content)
  /// Adds a child to a family without keys. Allowed: guardians.
  case addChild(displayName: String)
  /// Invites one device of a member. Allowed: guardians; for the organizer's devices, the
  /// organizer.
  case invite(Invitation)
  /// Records what a device notes about its apps: the content is an age memory, for an age answer
  /// that an app received, or the list of the device's apps. Allowed: the person.
  case noteAge(PersonID, Content)
  /// Changes age settings or clears an app's age memory. Allowed: the person and, for a child,
  /// guardians. A child's own device adds a proof of the passcode.
  case setAge(PersonID, Content, proof: [UInt8])
  /// Changes one setting of a child; the content is the setting. Allowed: guardians. The child's own
  /// device adds a proof of the passcode.
  case changeSettings(PersonID, Content, proof: [UInt8])
  /// Shares content keys with devices of the audience. Allowed: readers of the audience; for an
  /// account, also the administrator.
  case shareKeys(Audience, [KeyWrap])
  /// States that the sender cannot open these content keys, so that their holders share them with
  /// it again. Allowed: readers of the audience.
  case complain(Audience, [ContentKeyID])
  /// States what the sender has read, so that the family notices what the relay withholds. Allowed:
  /// guardians of a family with keys.
  case beat
  /// States something of a kind that the relay need not know. Allowed: readers of the audience.
  case opaque(Audience, OpaqueBody)
}

extension Command {
  /// The id of the question that the command concerns; `nil` for other commands.
  public var question: QuestionID? {
    switch self {
    case .ask(let header, _), .answerInPerson(let header, _, _, _): header.id
    case .remind(let id), .cancel(let id), .answer(let id, _): id
    default: nil
    }
  }
}
