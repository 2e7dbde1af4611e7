import AppClient
import DeviceConnection
import FamilyModel

/// The first prompt of a request about a significant update.
public enum PermissionFlow: Hashable, Sendable {
  /// The device first shows an alert with Ask to Approve, Approve in Person and Cancel, and then
  /// the chosen path.
  ///
  /// The alert itself approves nothing. An adult acknowledges an update with
  /// `AgeRangeService.showSignificantUpdateAcknowledgment` instead.
  case acknowledgmentAlert
  /// The device asks for the family's Screen Time passcode, which a guardian types.
  case approveInPerson
  /// The device opens the compose sheet with a message to the guardians.
  case askToApprove
}

/// The outcome of ``AskCenter/askSignificantChangePermission(for:permissionFlow:in:)``.
public enum PermissionResult: Hashable, Sendable {
  /// The request ended on the compose sheet, or before it.
  ///
  /// A `didSend` of `true` means that the message is in the device's outbox. A `didSend` of `false`
  /// means that no message was sent: an earlier question about the same update is open, or the
  /// person has no family and the default choice is the response.
  case askToApprove(didSend: Bool)
  /// A guardian decided on this device with the passcode.
  case approveInPerson(approved: Bool)
  /// The person cancelled. No response follows.
  case cancel
}

/// Asks guardians about any topic and delivers their responses.
///
/// ``CommunicationLimits`` and `AskCenter` share one session per process, so a question asked
/// through one is answered through both.
public final class AskCenter: Sendable {
  /// The center of this process.
  public static let shared = AskCenter()

  private init() {}

  /// Asks the guardians about communicating with people, as ``CommunicationLimits/ask(_:in:)``
  /// does.
  ///
  /// - Parameters:
  ///   - question: The question. The method reads its properties once.
  ///   - anchor: The place of the prompt. The device shows its prompts in its own terminal.
  /// - Throws: ``AskError``
  public func ask(
    _ question: PermissionQuestion<CommunicationTopic>, in anchor: some PresentationAnchor
  ) async throws {
    _ = try await question.ask(.choose)
  }

  /// Asks the guardians whether the child may use the app after a significant update.
  ///
  /// The device asks whether or not communication limits are on. Returning, cancellation and errors
  /// are those of ``CommunicationLimits/ask(_:in:)``. The response arrives in ``responses(for:)``.
  ///
  /// - Parameters:
  ///   - question: The question. The method reads its properties once.
  ///   - anchor: The place of the prompt. The device shows its prompts in its own terminal.
  /// - Throws: ``AskError``
  public func ask(
    _ question: PermissionQuestion<SignificantAppUpdateTopic>, in anchor: some PresentationAnchor
  ) async throws {
    _ = try await question.ask(.choose)
  }

  /// The guardians' responses about one type of topic, in order of arrival.
  ///
  /// The sequence has the rules of ``CommunicationLimits/updates``: registration, several loops,
  /// handling, threading and cancellation.
  ///
  /// - Parameter topic: ``CommunicationTopic`` or ``SignificantAppUpdateTopic``. The sequence of
  ///   any other type is empty.
  /// - Returns: A sequence without an end, except by cancellation or a missing device.
  public func responses<Topic: QuestionTopic>(
    for topic: Topic.Type
  ) -> some AsyncSequence<PermissionResponse<Topic>, Never> {
    Responses<Topic>(session: try? AppSession.current())
  }

  /// Asks about a significant update with the first prompt that the app chooses.
  ///
  /// The method returns when the prompts have ended. The guardians' decision arrives in
  /// ``responses(for:)``, under the identifier of `question`. Nothing that a child does on the
  /// device ends in an approval: an approval needs a guardian's answer or the passcode.
  ///
  /// The method has the time limits of ``CommunicationLimits/ask(_:in:)``, and a cancelled task
  /// returns at once.
  ///
  /// - Parameters:
  ///   - question: The question. The method reads its properties once.
  ///   - permissionFlow: The first prompt.
  ///   - anchor: The place of the prompt. The device shows its prompts in its own terminal.
  /// - Throws: ``AskError``. ``PermissionFlow/approveInPerson`` throws
  ///   ``AskError/systemError(underlyingError:)`` where the family has no passcode.
  public func askSignificantChangePermission(
    for question: PermissionQuestion<SignificantAppUpdateTopic>, permissionFlow: PermissionFlow,
    in anchor: some PresentationAnchor
  ) async throws -> PermissionResult {
    let manner: AskManner =
      switch permissionFlow {
      case .acknowledgmentAlert: .choose
      case .approveInPerson: .inPerson
      case .askToApprove: .byMessage
      }
    switch try await question.ask(manner) {
    case .sent: return .askToApprove(didSend: true)
    case .alreadyAsked, .answeredByDefault, .refused: return .askToApprove(didSend: false)
    case .answeredInPerson(let approved): return .approveInPerson(approved: approved)
    // Only an adult acknowledges, through another call.
    case .acknowledged, .cancelled: return .cancel
    }
  }

  /// Whether a guardian withdrew the consent to this app, and has neither approved an update nor
  /// given the consent back since.
  ///
  /// Meanwhile no handle is known, and age requests and questions about people throw. A question
  /// about a significant update asks for the consent. The device launches the app only to deliver
  /// the withdrawal.
  ///
  /// The value is the last one that the device delivered, and `false` without a device. Apple's API
  /// lacks this property: there, the developer's server receives a notification.
  public var isConsentWithdrawn: Bool {
    get async { (try? await AppSession.current().isConsentWithdrawn) ?? false }
  }

  /// The current value of ``isConsentWithdrawn``, then every change.
  ///
  /// Any number of loops may run. Without a device the sequence is empty.
  public var consentWithdrawals: some AsyncSequence<Bool, Never> {
    get async {
      guard let session = try? AppSession.current() else {
        return AsyncStream { $0.finish() }
      }
      return await session.consent()
    }
  }
}
