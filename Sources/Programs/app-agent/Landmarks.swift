import ArgumentParser
import Foundation
import PermissionKit

/// The reference app: chats that hide the messages of unknown people.
///
/// The app imports the frameworks alone, as any developer's app does.
@main
struct Landmarks: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "app-agent", abstract: "Landmarks, the reference app on a child's device.",
    subcommands: [
      Show.self, Reply.self, Ask.self, Update.self, Photos.self, Browse.self, Manage.self,
      Bedtime.self, Picture.self, Video.self, Call.self, Background.self, Run.self,
      OpenWindow.self,
    ])
}

/// The windows that a graphical Landmarks has. The device's prompts name them.
enum Window: String, PresentationAnchor {
  case chats = "Chats"
  case photos = "Photos"
  case places = "Places"

  var windowName: String { rawValue }
}

/// The app's own record of decisions: one line per question.
struct Journal {
  private var file: URL { Self.file("landmarks.journal") }

  /// A file in the app's own folder.
  static func file(_ name: String) -> URL {
    let credential = ProcessInfo.processInfo.environment["PERMISSION_RELAY_DEVICE"] ?? "."
    // The device launches the app in its own folder, with a descriptor in place of a path.
    guard !credential.hasPrefix("fd:") else { return URL(fileURLWithPath: name) }
    return URL(fileURLWithPath: credential).deletingPathExtension().appendingPathComponent(name)
  }

  /// Whether the journal contains the response to the question with this UUID.
  func contains(_ id: String) -> Bool {
    ((try? String(contentsOf: file, encoding: .utf8)) ?? "").contains(id)
  }

  /// Records a response.
  ///
  /// - Parameter prints: Whether standard output reports the response first.
  func handle(_ response: PermissionResponse<CommunicationTopic>, prints: Bool = true) throws {
    let id = response.question.id.uuidString
    // Written before the journal, so that tests count every delivery, even one that a kill interrupts.
    // The device copies a launched app's output later.
    if prints {
      FileHandle.standardOutput.write(Data("handled: \(id) \(response.choice.id)\n".utf8))
    }
    try Self.append("\(id) \(response.choice.id)\n", to: Self.file("landmarks.deliveries"))
    let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    // After a crash the device delivers the last response again, with the same question id.
    guard !text.contains(id) else { return }
    try (text + "\(id) \(response.choice.id)\n").write(to: file, atomically: true, encoding: .utf8)
  }

  private static func append(_ line: String, to file: URL) throws {
    guard let stream = OutputStream(url: file, append: true) else {
      throw CocoaError(.fileWriteUnknown)
    }
    stream.open()
    defer { stream.close() }
    let bytes = Array(line.utf8)
    guard stream.write(bytes, maxLength: bytes.count) == bytes.count else {
      throw stream.streamError ?? CocoaError(.fileWriteUnknown)
    }
  }

  /// Handles responses until the task is cancelled.
  ///
  /// - Parameter handled: Called after each response.
  static func run(_ handled: () async -> Void = {}) async {
    for await response in CommunicationLimits.current.updates {
      do {
        try Journal().handle(response)
      } catch {
        // A process that fails receives the response again.
        print("the journal cannot be written: \(error)")
        exit(EX_IOERR)
      }
      await handled()
    }
  }
}

struct Ask: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Ask the guardians for permission to chat with a person.")
  @Option(help: "Phone number, e-mail address or user name.") var handle: String
  @Option(help: "Kind of the handle: phone, email or custom.") var kind = "custom"
  @Option(help: "Name of the person.") var name: String?
  @Option(help: "Picture of the person: a PNG, JPEG, GIF or WebP file.") var picture: String?
  @Option(help: "Choices: ID=TITLE:approve,ID=TITLE:decline (default: approve and decline).")
  var choices: String?
  @Option(help: "UUID of the question, to repeat an earlier one.") var questionID: String?

  func validate() throws {
    if let questionID, UUID(uuidString: questionID) == nil {
      throw ValidationError("--question-id takes a UUID, not '\(questionID)'.")
    }
    if let picture, !FileManager.default.isReadableFile(atPath: picture) {
      throw ValidationError("Cannot read the picture '\(picture)'.")
    }
  }

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
    let updates = Task { await Journal.run() }
    var photos = PhotoSharing()
    await photos.requestAgeRange()
    guard photos.isAskingNeeded else {
      return print("no approval needed: communication limits are off")
    }
    try await CommunicationLimits.current.ask(question, in: Window.chats)
    print("asked: \(id.uuidString)")
    try await Task.sleep(for: .milliseconds(50))
    updates.cancel()
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
      let seconds = pieces.count == 4 ? Int64(pieces[3]) : nil
      guard pieces.count == 3 || seconds != nil, ["approve", "decline"].contains(pieces[2]) else {
        throw ValidationError("A choice is ID=TITLE:approve[:SECONDS] or ID=TITLE:decline.")
      }
      return PermissionChoice(
        id: pieces[0], title: pieces[1], answer: pieces[2] == "approve" ? .approval : .denial,
        end: seconds.map { .after(.seconds($0)) })
    }
  }
}

struct Background: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Handle waiting responses and exit: the command of a background launch.")
  @Option(help: "Seconds without a response after which the app exits.") var idle = 0.5

  func run() async throws {
    let last = LastResponse()
    let updates = Task { await Journal.run { await last.touch() } }
    let monitor = BedtimeMonitor.start()
    // On a busy machine the entries of the device may take longer than the idle time.
    await CommunicationLimits.current.ready(within: .seconds(5))
    await last.touch()
    while await last.seconds < idle { try await Task.sleep(for: .milliseconds(50)) }
    updates.cancel()
    monitor.cancel()
  }
}

/// The time of the last response.
actor LastResponse {
  private var at = Date()
  func touch() { at = Date() }
  var seconds: Double { Date().timeIntervalSince(at) }
}

struct Run: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Stay open and handle responses.")

  func run() async throws {
    let monitor = BedtimeMonitor.start()
    await Journal.run()
    monitor.cancel()
  }
}
