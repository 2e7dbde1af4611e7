import Foundation
import PermissionKit

/// A place of prompts.
struct Nowhere: PresentationAnchor {}
let ada = CommunicationHandle(value: "ada", kind: .custom)
let phone = CommunicationHandle(value: "+1 555 0100", kind: .phoneNumber)

/// Asks about the handles; returns the question's id.
@discardableResult
func ask(_ handles: CommunicationHandle...) async throws -> UUID {
  let question = PermissionQuestion(handles: handles)
  try await CommunicationLimits.current.ask(question, in: Nowhere())
  return question.id
}

/// The next response.
func next() async -> PermissionResponse<CommunicationTopic>? {
  var updates = CommunicationLimits.current.updates.makeAsyncIterator()
  guard let response = try? await updates.next() else { return nil }
  return response
}
