/// The ways in which a child wants to communicate.
public struct Actions: OptionSet, Hashable, Sendable {
  /// One bit per action, in the order of the constants.
  public var rawValue: UInt32
  /// Creates a set from its bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }
  /// Make audio calls.
  public static let audioCall = Actions(rawValue: 1)
  /// Be followed by the person.
  public static let beFollowed = Actions(rawValue: 2)
  /// Make calls.
  public static let call = Actions(rawValue: 4)
  /// Chat.
  public static let chat = Actions(rawValue: 8)
  /// Communicate in any way.
  public static let communicate = Actions(rawValue: 16)
  /// Connect with the person.
  public static let connect = Actions(rawValue: 32)
  /// Follow the person.
  public static let follow = Actions(rawValue: 64)
  /// Become friends.
  public static let friend = Actions(rawValue: 128)
  /// Send messages.
  public static let message = Actions(rawValue: 256)
  /// Make video calls.
  public static let videoCall = Actions(rawValue: 512)
}

/// The subject of a question.
public enum Topic: Hashable, Sendable {
  /// Communication with people.
  case communication(people: [Subject], actions: Actions)
  /// The use of an app after a significant update; the app describes the update.
  case significantUpdate(description: String)
  /// The opening of a site.
  case browse(Site)
  /// The authorization of the app to manage the child.
  case authorization

  /// The kinds of topics.
  public enum Kind: Hashable, Sendable {
    /// Communication with people.
    case communication
    /// A significant update of an app.
    case significantUpdate
    /// The opening of a site.
    case browse
    /// The authorization of an app to manage the child.
    case authorization

    /// Whether the question is asked only while the child's communication limits are on.
    ///
    /// The law requires consent to an update, whatever the limits are.
    public var needsLimits: Bool {
      switch self {
      case .communication: true
      case .significantUpdate, .browse, .authorization: false
      }
    }

    /// Whether the app's code reads the response. Another state of the app answers the other topics.
    public var hasResponse: Bool {
      switch self {
      case .communication, .significantUpdate: true
      case .browse, .authorization: false
      }
    }

    /// Whether a default choice may approve. Only a guardian approves the other topics.
    public var allowsApprovingDefault: Bool {
      switch self {
      case .communication: true
      case .significantUpdate, .browse, .authorization: false
      }
    }
  }

  /// The topic's kind.
  public var kind: Kind {
    switch self {
    case .communication: .communication
    case .significantUpdate: .significantUpdate
    case .browse: .browse
    case .authorization: .authorization
    }
  }

  /// The handles in question, in the order given; empty for an update. A site and an authorization have
  /// a handle of their own kind.
  public var handles: [Handle] {
    switch self {
    case .communication(let people, _): people.map(\.handle)
    case .significantUpdate: []
    case .browse(let site): [Handle(site)]
    case .authorization: [.authorization]
    }
  }
}

/// The meaning of a choice.
public enum Answer: UInt8, Sendable {
  /// The guardian grants permission.
  case approval = 1
  /// The guardian refuses permission.
  case denial = 2
}

/// One of the answers that a question offers.
public struct Choice: Hashable, Sendable {
  /// Unique in its question.
  public var id: String
  /// The text that the guardian reads.
  public var title: String
  /// The meaning of the choice.
  public var answer: Answer
  /// The end of the approval; `nil`: the approval holds until a guardian withdraws it.
  public var end: ChoiceEnd?
  /// Creates a choice.
  public init(id: String, title: String, answer: Answer, end: ChoiceEnd? = nil) {
    self.id = id
    self.title = title
    self.answer = answer
    self.end = end
  }
  /// The default approval.
  public static let approve = Choice(id: "approve", title: "Approve", answer: .approval)
  /// The default denial.
  public static let decline = Choice(id: "decline", title: "Decline", answer: .denial)
}

/// A child's request for permission.
public struct Question: Hashable, Sendable {
  /// The app's UUID for the question.
  public var id: QuestionID
  /// The subject of the question.
  public var topic: Topic
  /// The answers that the guardian may choose from.
  public var choices: [Choice]
  /// The response when no guardian is asked, for example with limits off; one of `choices`.
  public var defaultChoice: Choice
  /// The last moment at which a guardian may answer; `nil`: no limit.
  public var expiration: Instant?
  /// Creates a question, by default with the choices approve and decline.
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
