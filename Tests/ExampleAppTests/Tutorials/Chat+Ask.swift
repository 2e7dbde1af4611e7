import PermissionKit

/// The place of the device's prompts. This app has no windows.
struct Screen: PresentationAnchor {}

extension Chat {
  /// Asks the guardians about the participants whom the child does not know yet.
  func askForPermission() async throws {
    let known = await CommunicationLimits.current.knownHandles(in: participants)
    let unknown = participants.subtracting(known)
    guard !unknown.isEmpty else { return }
    let topic = CommunicationTopic(
      personInformation: unknown.map { PersonInformation(handle: $0) }, actions: [.chat])
    let question = PermissionQuestion(communicationTopic: topic)
    try await CommunicationLimits.current.ask(question, in: Screen())
  }
}
