/// How the child means to communicate (Q4).
public struct Actions: OptionSet, Hashable, Sendable {
  /// One bit per action, in the order of the constants.
  public var rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }
  /// Call with audio.
  public static let audioCall = Actions(rawValue: 1)
  /// Be followed by the person.
  public static let beFollowed = Actions(rawValue: 2)
  /// Call.
  public static let call = Actions(rawValue: 4)
  /// Chat.
  public static let chat = Actions(rawValue: 8)
  /// Communicate in any way.
  public static let communicate = Actions(rawValue: 16)
  /// Connect.
  public static let connect = Actions(rawValue: 32)
  /// Follow the person.
  public static let follow = Actions(rawValue: 64)
  /// Become friends.
  public static let friend = Actions(rawValue: 128)
  /// Send messages.
  public static let message = Actions(rawValue: 256)
  /// Call with video.
  public static let videoCall = Actions(rawValue: 512)
}

/// What a question is about (Q1, Q3, Q5).
public enum Topic: Hashable, Sendable {
  /// Communicating with people.
  case communication(people: [Subject], actions: Actions)
  /// Going on with an app that changed: the app's description of what changed.
  case significantUpdate(description: String)

  /// The kinds of topics.
  public enum Kind: Hashable, Sendable {
    /// Communicating with people.
    case communication
    /// Going on with an app that changed.
    case significantUpdate
  }

  /// What kind of topic it is.
  public var kind: Kind {
    if case .communication = self { .communication } else { .significantUpdate }
  }

  /// The handles asked about, in the order given.
  public var handles: [Handle] {
    if case .communication(let people, _) = self { people.map(\.handle) } else { [] }
  }
}

/// What a choice means.
public enum Answer: UInt8, Sendable {
  /// Permission is given.
  case approval = 1
  /// Permission is refused.
  case denial = 2
}

/// One of the answers that a question offers (Q7).
public struct Choice: Hashable, Sendable {
  /// Unique in its question.
  public var id: String
  /// What the guardian reads.
  public var title: String
  /// What choosing it means.
  public var answer: Answer
  /// A choice with these parts.
  public init(id: String, title: String, answer: Answer) {
    self.id = id
    self.title = title
    self.answer = answer
  }
  /// The default approval.
  public static let approve = Choice(id: "approve", title: "Approve", answer: .approval)
  /// The default denial.
  public static let decline = Choice(id: "decline", title: "Decline", answer: .denial)
}

/// A question to the guardians of a child (Q7).
public struct Question: Hashable, Sendable {
  /// The app's UUID for it.
  public var id: QuestionID
  /// What it is about.
  public var topic: Topic
  /// The answers offered.
  public var choices: [Choice]
  /// The choice that stands for asking being switched off (Q8); one of `choices`.
  public var defaultChoice: Choice
  /// After this moment nobody can answer any more.
  public var expiration: Instant?
  /// A question with the default choices, approve and decline.
  public init(
    id: QuestionID, topic: Topic, choices: [Choice] = [.approve, .decline],
    defaultChoice: Choice = .decline, expiration: Instant? = nil
  ) {
    self.id = id
    self.topic = topic
    self.choices = choices
    self.defaultChoice = defaultChoice
    self.expiration = expiration
  }
}
