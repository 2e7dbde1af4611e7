// App code as an author writes it for Apple's PermissionKit: only the views are missing.
import Foundation
import PermissionKit

/// Where the system shows its prompts.
struct ChatWindow: PresentationAnchor {}

/// A chat of the Landmarks app.
struct Conversation {
  let participants: Set<CommunicationHandle>
  let preview: String

  /// Content of unknown people is hidden.
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

  /// Two people, by their names in this app.
  func askToChat() async throws {
    let question = PermissionQuestion(handles: [
      CommunicationHandle(value: "dragonslayer42", kind: .custom),
      CommunicationHandle(value: "progamer67", kind: .custom),
    ])
    try await CommunicationLimits.current.ask(question, in: ChatWindow())
  }

  /// Two people, with all that the app knows about them.
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

  /// One person, for a while.
  func askForSomeTime(_ handle: CommunicationHandle, until date: Date? = nil) async throws {
    let question = PermissionQuestion(handle: handle)
    let hour = PermissionChoice(id: "hour", title: "For one hour", answer: .approval)
    question.choices = [hour, .decline]
    question.defaultChoice = .decline
    question.expirationDate = date
    try await AskCenter.shared.ask(question, in: ChatWindow())
  }

  /// The loop that keeps the app up to date, also when it is woken in the background.
  func handleUpdates(until isDone: (LandmarksModel) -> Bool = { _ in false }) async {
    for await update in CommunicationLimits.current.updates {
      answers[update.question.id] = update.choice.answer == .approval
      if isDone(self) { return }
    }
  }

  /// After an update with new chats, the guardians are asked whether the child may go on.
  func askAboutNewChats() async throws {
    let topic = SignificantAppUpdateTopic(description: "There are chats with strangers now.")
    let question = PermissionQuestion(significantAppUpdateTopic: topic)
    try await AskCenter.shared.ask(question, in: ChatWindow())
    for await response in AskCenter.shared.responses(for: SignificantAppUpdateTopic.self) {
      mayUseNewChats = response.choice.answer == .approval
      return
    }
  }

  /// The same, in the way that the app chooses.
  func askAboutNewChats(_ flow: PermissionFlow) async throws -> PermissionResult {
    try await AskCenter.shared.askSignificantChangePermission(
      for: SignificantAppUpdateTopic(description: "There are chats with strangers now."),
      permissionFlow: flow, in: ChatWindow())
  }

  /// What a person reads when asking failed.
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
