/// A line that the window writes: its new content, an event, or an error for people.
enum WindowLine: Encodable {
  case window(WindowContent)
  case asked(chat: Int, question: String, mono: UInt64)
  case handled(question: String, choice: String, mono: UInt64)
  case note(String)

  private struct Asked: Encodable {
    var chat: Int
    var question: String
    /// Microseconds of the clock since the machine's start.
    var mono: UInt64
  }
  private struct Handled: Encodable {
    var question: String
    var choice: String
    var mono: UInt64
  }
  private enum Key: String, CodingKey { case window, asked, handled, note }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    switch self {
    case .window(let content): try container.encode(content, forKey: .window)
    case .asked(let chat, let question, let mono):
      try container.encode(
        Asked(chat: chat, question: question, mono: mono), forKey: .asked)
    case .handled(let question, let choice, let mono):
      try container.encode(
        Handled(question: question, choice: choice, mono: mono), forKey: .handled)
    case .note(let text): try container.encode(text, forKey: .note)
    }
  }
}

/// The content of the window.
struct WindowContent: Encodable, Equatable {
  struct Handle: Encodable, Equatable {
    var handle: String
    var handleKind: String
  }

  /// A chat. A chat that is not open has neither title nor preview nor picture.
  struct Chat: Encodable, Equatable {
    var chat: Int
    var isOpen: Bool
    /// Whether a question about the chat has no response yet.
    var isAsked: Bool
    var title: String?
    var preview: String?
    var picture: String?
    var handles: [Handle]
    var replies: [String]

    private enum Key: String, CodingKey {
      case chat, isOpen, isAsked, title, preview, picture, handles, replies
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(chat, forKey: .chat)
      try container.encode(isOpen, forKey: .isOpen)
      try container.encode(isAsked, forKey: .isAsked)
      // Absent texts are null, so that each chat has all keys.
      try container.encode(title, forKey: .title)
      try container.encode(preview, forKey: .preview)
      try container.encode(picture, forKey: .picture)
      try container.encode(handles, forKey: .handles)
      try container.encode(replies, forKey: .replies)
    }
  }

  struct Photos: Encodable, Equatable {
    var isRequested = false
    var isEnabled = false
    var line = ""
  }

  var chats: [Chat]
  var photos: Photos
}

/// A line that the window reads.
struct WindowRequest: Decodable {
  struct Ask: Decodable { var chat: Int }
  struct Reply: Decodable {
    var chat: Int
    var text: String
  }
  struct Empty: Decodable {}

  var ask: Ask?
  var reply: Reply?
  var photos: Empty?
  var close: Empty?
}
