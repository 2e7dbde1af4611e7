// App code as a developer writes it for Apple's PermissionKit, without views.
import Foundation
import PermissionKit

/// The place of the device's prompts.
struct ChatWindow: PresentationAnchor {}

/// A chat of the Landmarks app.
struct Conversation {
  let participants: Set<CommunicationHandle>
  let preview: String

  /// The preview, or `nil` while a participant is unknown.
  var visiblePreview: String? {
    get async {
      let known = await CommunicationLimits.current.knownHandles(in: participants)
      guard known.isSuperset(of: participants) else { return nil }
      return preview
    }
  }
}

/// The app's model.
final class LandmarksModel {
  private(set) var answers: [UUID: Bool] = [:]
  private(set) var mayUseNewChats: Bool?

  /// Asks about two people by their user names.
  func askToChat() async throws {
    let question = PermissionQuestion(handles: [
      CommunicationHandle(value: "dragonslayer42", kind: .custom),
      CommunicationHandle(value: "progamer67", kind: .custom),
    ])
    try await CommunicationLimits.current.ask(question, in: ChatWindow())
  }

  /// Asks about two people with everything that the app knows about them.
  func askToMessage(avatar: AvatarImage?) async throws {
    var name = PersonNameComponents()
    name.givenName = "Ada"
    name.familyName = "Lovelace"
    var topic = CommunicationTopic(personInformation: [
      CommunicationTopic.PersonInformation(
        handle: CommunicationHandle(value: "dragonslayer42", kind: .custom),
        nameComponents: name, avatarImage: avatar),
      PersonInformation(handle: .init(value: "+1 555 0100", kind: .phoneNumber)),
    ])
    topic.actions = [.message]
    let question = PermissionQuestion(communicationTopic: topic)
    try await CommunicationLimits.current.ask(question, in: ChatWindow())
  }

  /// Asks about one person, with a choice of the app's own and an expiration date.
  func askForSomeTime(_ handle: CommunicationHandle, until date: Date? = nil) async throws {
    let question = PermissionQuestion(handle: handle)
    let hour = PermissionChoice(id: "hour", title: "For one hour", answer: .approval)
    question.choices = [hour, .decline]
    question.defaultChoice = .decline
    question.expirationDate = date
    try await AskCenter.shared.ask(question, in: ChatWindow())
  }

  /// Records responses, in the foreground and in a background launch.
  func handleUpdates(until isDone: (LandmarksModel) -> Bool = { _ in false }) async {
    for await update in CommunicationLimits.current.updates {
      answers[update.question.id] = update.choice.answer == .approval
      if isDone(self) { return }
    }
  }

  /// Asks the guardians for consent to an update with new chats, and waits for the decision.
  func askAboutNewChats() async throws {
    let topic = SignificantAppUpdateTopic(description: "There are chats with strangers now.")
    let question = PermissionQuestion(significantAppUpdateTopic: topic)
    try await AskCenter.shared.ask(question, in: ChatWindow())
    for await response in AskCenter.shared.responses(for: SignificantAppUpdateTopic.self) {
      mayUseNewChats = response.choice.answer == .approval
      return
    }
  }

  /// Asks for consent with the first prompt that the app chooses.
  func askAboutNewChats(_ flow: PermissionFlow) async throws -> PermissionResult {
    let topic = SignificantAppUpdateTopic(description: "There are chats with strangers now.")
    return try await AskCenter.shared.askSignificantChangePermission(
      for: PermissionQuestion(significantAppUpdateTopic: topic), permissionFlow: flow,
      in: ChatWindow())
  }

  /// The text for a person after a failed request.
  static func text(for error: any Error) -> String {
    guard let error = error as? AskError else { return error.localizedDescription }
    switch error {
    case .communicationLimitsNotEnabled, .contactSyncNotSetup: return "Set up Screen Time first."
    case .invalidQuestion: return "This cannot be asked."
    case .notAvailable: return "Not on this device."
    case .systemError(let underlying): return underlying.localizedDescription
    case .unknown: return error.errorDescription ?? ""
    @unknown default: return error.localizedDescription
    }
  }
}
