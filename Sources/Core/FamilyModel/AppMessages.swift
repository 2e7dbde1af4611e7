/// What an app asks of the device that it runs on.
public enum AppRequest: Hashable, Sendable {
  /// Start receiving. `applied` is the last entry that the app has applied; zero: none.
  case attach(app: AppID, applied: UInt64)
  /// The app listens to `updates`, and may be launched in the background for them (R7).
  case register
  /// Ask the guardians. The answer comes as `AppReply.asked`, however long the child takes.
  case ask(Question, AskManner)
  /// Everything up to this entry was handled by the app (R6). It has no reply.
  case acknowledge(UInt64)
  /// The app goes to sleep. It has no reply.
  case detach
  /// The age range between these gates; `nil`: what the law of the region asks. The number, which the app
  /// chooses, comes back with `AppReply.age`.
  case age(UInt64, gates: [Int32]?)
  /// The app does not believe something that the device told, and has not taken it. It has no reply.
  case disbelieved(Problem)
}

/// How a question begins on the child's device.
public enum AskManner: UInt8, Sendable {
  /// The child chooses: by message, in person, or not at all (A1).
  case choose = 0
  /// The compose sheet opens at once.
  case byMessage = 1
  /// The passcode is asked for at once (A4).
  case inPerson = 2
  /// Nobody is asked: an adult takes note of a significant update.
  case acknowledge = 3
}

/// What a device tells an app.
public enum AppReply: Hashable, Sendable {
  /// The app is attached; entries after `acknowledged` follow, then `caughtUp`.
  case attached(acknowledged: UInt64)
  /// Forget what you know and start from here: the known handles in full, as of entry `position`.
  case reset(position: UInt64, known: [Handle])
  /// The family's next roster, for the app to verify what follows.
  case roster(RosterProof)
  /// What was signed about handles that a `reset`, which comes next, is about.
  case evidence([Evidence])
  /// Something for the app.
  case entry(AppEntry)
  /// All entries that there were at the attach have been sent.
  case caughtUp
  /// How an `ask` ended.
  case asked(QuestionID, AskOutcome)
  /// The request was refused.
  case failed(Problem)
  /// The answer to `AppRequest.age` of this number.
  case age(UInt64, AgeReply)
}

/// How `ask` ended on the child's device.
public enum AskOutcome: Hashable, Sendable {
  /// The message is in the outbox and will reach the guardians (A3).
  case sent
  /// The child cancelled: no response will come (A5).
  case cancelled
  /// The same people are asked about already, by the question given (A6).
  case alreadyAsked(QuestionID)
  /// Nobody is asked: the default choice comes as the response (Q8).
  case answeredByDefault
  /// A guardian answered here, with the passcode (A4).
  case answeredInPerson(approved: Bool)
  /// The person took note of the update.
  case acknowledged
  /// The question cannot be asked.
  case refused(Problem)
}

/// One thing that an app learns. Positions count 1, 2, 3, … per app and device.
public struct AppEntry: Hashable, Sendable {
  /// What the app learns.
  public enum Body: Hashable, Sendable {
    /// A question was answered. An approval makes its handles known (R6, K1).
    case response(Question, Choice)
    /// These handles are known from now on.
    case known([Handle])
    /// These handles are not known any more.
    case forgotten([Handle])
    /// A guardian withdrew the consent that the child goes on using the app (R9).
    case consentWithdrawn
  }
  /// The place in the app's sequence of entries.
  public var position: UInt64
  /// What the app learns.
  public var body: Body
  /// What was signed of it; empty for a default response, which nobody decided (Q8).
  public var evidence: [Evidence]
  /// The entry at `position`.
  public init(position: UInt64, body: Body, evidence: [Evidence] = []) {
    self.position = position
    self.body = body
    self.evidence = evidence
  }
}
