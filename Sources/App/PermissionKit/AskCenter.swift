import AppClient
import DeviceConnection

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
  ///   - anchor: The window in which the app asks. The prompts show its name.
  /// - Throws: ``AskError``
  public func ask(
    _ question: PermissionQuestion<CommunicationTopic>, in anchor: some PresentationAnchor
  ) async throws {
    _ = try await question.ask(.choose, in: anchor)
  }

  /// Asks the guardians whether the child may use the app after a significant update.
  ///
  /// The device asks whether or not communication limits are on. Returning, cancellation and errors
  /// are those of ``CommunicationLimits/ask(_:in:)``. The response arrives in ``responses(for:)``.
  ///
  /// - Parameters:
  ///   - question: The question. The method reads its properties once.
  ///   - anchor: The window in which the app asks. The prompts show its name.
  /// - Throws: ``AskError``
  public func ask(
    _ question: PermissionQuestion<SignificantAppUpdateTopic>, in anchor: some PresentationAnchor
  ) async throws {
    _ = try await question.ask(.choose, in: anchor)
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
  ///   - anchor: The window in which the app asks. The prompts show its name.
  /// - Throws: ``AskError``. ``PermissionFlow/approveInPerson`` throws
  ///   ``AskError/systemError(underlyingError:)`` where the family has no passcode.
  public func askSignificantChangePermission(
    for question: PermissionQuestion<SignificantAppUpdateTopic>, permissionFlow: PermissionFlow,
    in anchor: some PresentationAnchor
  ) async throws -> PermissionResult {
    PermissionResult(try await question.ask(permissionFlow.manner, in: anchor))
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
