import FamilyModel
public import Foundation

/// How a prompt ended; see ``CommunicationLimits/askReportingResult(_:in:)``.
public enum AskResult: Hashable, Sendable {
  /// The question is in the device's outbox. The response follows.
  case sent
  /// A guardian decided on this device with the passcode. The response follows.
  case answeredInPerson(approved: Bool)
  /// No guardian is asked, because communication limits are off or the person has no family. The
  /// response is the default choice.
  case answeredByDefault
  /// An open question of this app, with this identifier, asks about the same people. Its response
  /// follows.
  case alreadyAsked(question: UUID)
  /// The child cancelled. No response follows.
  case cancelled

  init(_ outcome: AskOutcome) {
    switch outcome {
    case .sent: self = .sent
    case .answeredInPerson(let approved): self = .answeredInPerson(approved: approved)
    case .answeredByDefault: self = .answeredByDefault
    case .alreadyAsked(let id): self = .alreadyAsked(question: UUID(id))
    // `PermissionQuestion.ask` throws a refusal, and nobody acknowledges a question about people.
    case .cancelled, .acknowledged, .refused: self = .cancelled
    }
  }
}

extension UUID {
  /// The identifier with the same 16 bytes.
  init(_ id: ID128) {
    var bytes = UUID().uuid
    withUnsafeMutableBytes(of: &bytes) { $0.copyBytes(from: id.bytes) }
    self.init(uuid: bytes)
  }
}
