import ArgumentParser
import Foundation
import PermissionKit

/// A chat of the app. Its names, text and pictures are hidden until all participants are known.
struct Chat {
  let title: String
  let participants: Set<CommunicationHandle>
  let preview: String
  /// The name of the latest picture in the chat.
  var picture: String?

  static let all = [
    Chat(
      title: "Ada", participants: [.init(value: "dragonslayer42", kind: .custom)],
      preview: "Have you seen the lighthouse?", picture: "lighthouse.png"),
    Chat(
      title: "Maria", participants: [.init(value: "maria", kind: .custom)],
      preview: "The bridge was closed today."),
    Chat(
      title: "Explorers",
      participants: [
        .init(value: "dragonslayer42", kind: .custom), .init(value: "stranger", kind: .custom),
      ], preview: "Are you coming on Saturday?", picture: "map.png"),
  ]

  /// Whether the child may see and answer the chat.
  var isOpen: Bool {
    get async {
      let known = await CommunicationLimits.current.knownHandles(in: participants)
      return known.isSuperset(of: participants)
    }
  }

  func lines() async -> [String] {
    guard await isOpen else { return ["(hidden) someone you don't know yet"] }
    let names = participants.map(\.value).sorted().joined(separator: ", ")
    return ["\(title) (\(names)): \(preview)\(picture.map { " [picture \($0)]" } ?? "")"]
      + Replies().texts(in: self).map { "  you: \($0)" }
  }
}

/// The child's replies, one line each, in the app's own folder.
struct Replies {
  private var file: URL { Journal.file("landmarks.replies") }

  func texts(in chat: Chat) -> [String] {
    ((try? String(contentsOf: file, encoding: .utf8)) ?? "").split(separator: "\n").compactMap {
      let parts = $0.split(separator: "\t", maxSplits: 1)
      return parts.first.map(String.init) == chat.title ? parts.last.map(String.init) : nil
    }
  }

  func add(_ text: String, to chat: Chat) throws {
    let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
    let before = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    try "\(before)\(chat.title)\t\(line)\n".write(to: file, atomically: true, encoding: .utf8)
  }
}

struct Show: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Show the chats.")

  func run() async throws {
    for chat in Chat.all { print(await chat.lines().joined(separator: "\n")) }
  }
}

struct Reply: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Reply in an open chat.")
  @Argument(help: "Title of the chat, for example Ada.") var title: String
  @Argument(help: "Text of the reply.") var text: String

  func run() async throws {
    // A hidden chat and an unknown one have one answer, so that a reply reveals no participant.
    guard let chat = Chat.all.first(where: { $0.title == title }), await chat.isOpen else {
      throw ValidationError(
        "No open chat is called '\(title)'. Ask a guardian first: app-agent ask.")
    }
    try Replies().add(text, to: chat)
    print("replied to \(chat.title)")
  }
}
