/// An act of a device's owner.
enum ScreenAct: Decodable {
  struct AnswerPrompt: Decodable {
    var prompt: UInt64
    var choice: String
    var names: [String]?
    var passcode: String?
  }
  struct Decide: Decodable {
    var question: String
    var choice: String
    var reviewed: Bool?
  }
  struct Seen: Decodable {
    var child: UInt32
    var seq: UInt64
  }
  struct Contact: Decodable {
    var child: UInt32?
    var handle: String
    var handleKind: String
    /// The app of a withdrawal or an explanation; `nil`: every app.
    var app: String?
    /// Whether the handle becomes a contact; for the act `contact` alone.
    var known: Bool?
  }
  struct Limits: Decodable {
    var child: UInt32
    var on: Bool
  }
  struct Sharing: Decodable {
    var child: UInt32
    var sharing: String
  }
  struct WebRule: Decodable {
    var child: UInt32
    /// A host of the site; `nil`: all sites without a rule.
    var site: String?
    /// `nil`: no rule.
    var access: String?
  }
  struct Safety: Decodable {
    var child: UInt32
    var setting: String
  }
  struct Post: Decodable {
    var child: UInt32?
    var text: String
  }
  struct Cancel: Decodable { var question: String }
  struct Dismiss: Decodable { var id: String? }
  struct ExplainAge: Decodable {
    var child: UInt32?
    var app: String?
  }

  case answerPrompt(AnswerPrompt)
  case cancel(Cancel)
  case decide(Decide)
  case seen(Seen)
  case withdraw(Contact)
  case limits(Limits)
  case passcode(String)
  case contact(Contact)
  case sharing(Sharing)
  case webRule(WebRule)
  case safety(Safety)
  case post(Post)
  case readNotices
  case dismissNotice(Dismiss)
  case explain(Contact)
  case explainAge(ExplainAge)

  private enum Key: String, CodingKey {
    case answerPrompt, cancel, decide, seen, withdraw, limits, passcode, contact, sharing, post
    case webRule, safety, readNotices, dismissNotice, explain, explainAge
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    guard let key = container.allKeys.first, container.allKeys.count == 1 else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "An act has one key."))
    }
    func value<T: Decodable>(_ type: T.Type = T.self) throws -> T {
      try container.decode(type, forKey: key)
    }
    self =
      switch key {
      case .answerPrompt: .answerPrompt(try value())
      case .cancel: .cancel(try value())
      case .decide: .decide(try value())
      case .seen: .seen(try value())
      case .withdraw: .withdraw(try value())
      case .limits: .limits(try value())
      case .passcode: .passcode(try value())
      case .contact: .contact(try value())
      case .sharing: .sharing(try value())
      case .webRule: .webRule(try value())
      case .safety: .safety(try value())
      case .post: .post(try value())
      case .readNotices: .readNotices
      case .dismissNotice: .dismissNotice(try value())
      case .explain: .explain(try value())
      case .explainAge: .explainAge(try value())
      }
  }
}
