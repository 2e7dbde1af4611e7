import ArgumentParser
import Foundation
import PermissionKit

/// The reference app, written against PermissionKit and DeclaredAgeRange alone: chats that show nothing of unknown people.
@main
struct Landmarks: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "app-agent", abstract: "Landmarks, the reference app on a child's device.",
    subcommands: [Show.self, Ask.self, Photos.self, Background.self, Run.self])
}

/// Where prompts appear: this app has no window.
struct Terminal: PresentationAnchor {}

/// A chat of the app. It is shown only when all of its participants are known (K4).
struct Chat {
  let title: String
  let participants: Set<CommunicationHandle>
  let preview: String

  static let all = [
    Chat(
      title: "Ada", participants: [.init(value: "dragonslayer42", kind: .custom)],
      preview: "Have you seen the lighthouse?"),
    Chat(
      title: "Maria", participants: [.init(value: "maria", kind: .custom)],
      preview: "The bridge was closed today."),
    Chat(
      title: "Explorers",
      participants: [
        .init(value: "dragonslayer42", kind: .custom), .init(value: "stranger", kind: .custom),
      ], preview: "Who is coming on Saturday?"),
  ]

  func line() async -> String {
    let known = await CommunicationLimits.current.knownHandles(in: participants)
    guard known.isSuperset(of: participants) else { return "(hidden) someone you don't know yet" }
    let names = participants.map(\.value).sorted().joined(separator: ", ")
    return "\(title) (\(names)): \(preview)"
  }
}

/// The app's own record of what it was told: a line for each time that it handled a response.
struct Journal {
  private var file: URL {
    let credential = ProcessInfo.processInfo.environment["PERMISSION_RELAY_DEVICE"] ?? "."
    return URL(fileURLWithPath: credential).deletingPathExtension()
      .appendingPathComponent("landmarks.journal")
  }

  func handle(_ response: PermissionResponse<CommunicationTopic>) throws {
    let id = response.question.id.uuidString
    // At once, and before the journal: who reads it knows of every time, whenever the app is killed.
    FileHandle.standardOutput.write(Data("handled: \(id) \(response.choice.id)\n".utf8))
    let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    // A response may come again after a crash; its question's id tells.
    guard !text.contains(id) else { return }
    try (text + "\(id) \(response.choice.id)\n").write(to: file, atomically: true, encoding: .utf8)
  }
}

struct Show: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Show the chats.")

  func run() async throws {
    for chat in Chat.all { print(await chat.line()) }
  }
}

struct Ask: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Ask to talk to somebody.")
  @Option(help: "The person's number, address or user name.") var handle: String
  @Option(help: "phone, email or custom.") var kind = "custom"
  @Option(help: "The person's name.") var name: String?
  @Option(help: "A picture of the person: a PNG, JPEG, GIF or WebP file.") var picture: String?
  @Option(help: "Choices, as ID=TITLE:approve,ID=TITLE:decline") var choices: String?
  @Option(help: "The question's UUID, to ask the same one again.") var questionID: String?

  func run() async throws {
    let kinds: [String: CommunicationHandle.Kind] = [
      "phone": .phoneNumber, "email": .emailAddress, "custom": .custom,
    ]
    guard let kind = kinds[kind] else { throw ValidationError("--kind is phone, email or custom.") }
    var components: PersonNameComponents?
    if let name {
      components = PersonNameComponents()
      components?.givenName = name
    }
    let topic = CommunicationTopic(
      personInformation: [
        PersonInformation(
          handle: CommunicationHandle(value: handle, kind: kind), nameComponents: components,
          avatarImage: try picture.map(Self.image))
      ], actions: [.message])
    let id = questionID.flatMap { UUID(uuidString: $0) } ?? UUID()
    let question = PermissionQuestion(communicationTopic: topic, id: id)
    if let choices {
      question.choices = try Self.parse(choices)
      question.defaultChoice = question.choices.last { $0.answer == .denial } ?? question.choices[0]
    }
    // Listening is what lets the device launch the app for the answer.
    let listening = Task {
      for await response in CommunicationLimits.current.updates { try Journal().handle(response) }
    }
    var photos = PhotoSharing()
    await photos.requestAgeRange()
    guard photos.isAskingNeeded else { return print("nobody has to approve: limits are off") }
    try await CommunicationLimits.current.ask(question, in: Terminal())
    print("asked: \(id.uuidString)")
    try await Task.sleep(for: .milliseconds(50))
    listening.cancel()
  }

  static func image(_ path: String) throws -> AvatarImage {
    let file = URL(fileURLWithPath: path)
    let ending = file.pathExtension.lowercased()
    return AvatarImage(
      mediaType: "image/\(ending == "jpg" ? "jpeg" : ending)",
      bytes: Array(try Data(contentsOf: file)))
  }

  static func parse(_ text: String) throws -> [PermissionChoice] {
    try text.split(separator: ",").map { part in
      let pieces = part.split(whereSeparator: { "=:".contains($0) }).map(String.init)
      guard pieces.count == 3, ["approve", "decline"].contains(pieces[2]) else {
        throw ValidationError("A choice is ID=TITLE:approve or ID=TITLE:decline.")
      }
      return PermissionChoice(
        id: pieces[0], title: pieces[1], answer: pieces[2] == "approve" ? .approval : .denial)
    }
  }
}

struct Background: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Handle the responses that wait, then sleep: how the device launches the app.")
  @Option(help: "Seconds without a response after which the app sleeps.") var idle = 0.5

  func run() async throws {
    let last = LastSeen()
    let handling = Task {
      for await response in CommunicationLimits.current.updates {
        try Journal().handle(response)
        await last.touch()
      }
    }
    while await last.seconds < idle { try await Task.sleep(for: .milliseconds(50)) }
    handling.cancel()
  }
}

/// When something was handled last.
actor LastSeen {
  private var at = Date()
  func touch() { at = Date() }
  var seconds: Double { Date().timeIntervalSince(at) }
}

struct Run: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Stay open and handle responses.")

  func run() async throws {
    for await response in CommunicationLimits.current.updates { try Journal().handle(response) }
  }
}
