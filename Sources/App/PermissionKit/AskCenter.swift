import AppClient
import DeviceConnection
import FamilyModel

/// How a guardian is asked about a significant update of the app.
public enum PermissionFlow: Hashable, Sendable {
  /// Nobody is asked: the person, an adult, takes note.
  case acknowledgmentAlert
  /// A guardian who is there types the family's passcode.
  case approveInPerson
  /// A message to the guardians.
  case askToApprove
}

/// How asking about a significant update ended.
public enum PermissionResult: Hashable, Sendable {
  /// With a message; `didSend` is false where nobody is asked, since the default choice stands (Q8), or
  /// since the guardians are asked already.
  case askToApprove(didSend: Bool)
  /// With a guardian's decision here. Taking note of an alert counts as approved.
  case approveInPerson(approved: Bool)
  /// The person cancelled, and no response will come.
  case cancel
}

/// Asks about every kind of topic, and gives the responses.
public final class AskCenter: Sendable {
  /// The center of this app.
  public static let shared = AskCenter()

  private init() {}

  /// Asks the guardians about communicating with people, as ``CommunicationLimits/ask(_:in:)`` does.
  ///
  /// - Throws: ``AskError``
  public func ask(
    _ question: PermissionQuestion<CommunicationTopic>, in anchor: some PresentationAnchor
  ) async throws {
    _ = try await question.ask(.choose)
  }

  /// Asks the guardians whether the child may go on using the app after a significant update.
  ///
  /// - Throws: ``AskError``
  public func ask(
    _ question: PermissionQuestion<SignificantAppUpdateTopic>, in anchor: some PresentationAnchor
  ) async throws {
    _ = try await question.ask(.choose)
  }

  /// The responses about topics of this type: first those that came before, in order, then new ones (R7).
  ///
  /// One loop at a time gets them. A response counts as handled when the loop asks for the next one.
  public func responses<Topic: QuestionTopic>(
    for topic: Topic.Type
  ) -> some AsyncSequence<PermissionResponse<Topic>, Never> {
    Responses<Topic>(session: try? AppSession.current())
  }

  /// Asks about a significant update in the way that the app chooses.
  ///
  /// - Throws: ``AskError``
  public func askSignificantChangePermission(
    for topic: SignificantAppUpdateTopic, permissionFlow: PermissionFlow,
    in anchor: some PresentationAnchor
  ) async throws -> PermissionResult {
    let question = PermissionQuestion(significantAppUpdateTopic: topic)
    let manner: AskManner =
      switch permissionFlow {
      case .acknowledgmentAlert: .acknowledge
      case .approveInPerson: .inPerson
      case .askToApprove: .byMessage
      }
    switch try await question.ask(manner) {
    case .sent: return .askToApprove(didSend: true)
    case .alreadyAsked, .answeredByDefault, .refused: return .askToApprove(didSend: false)
    case .answeredInPerson(let approved): return .approveInPerson(approved: approved)
    case .acknowledged: return .approveInPerson(approved: true)
    case .cancelled: return .cancel
    }
  }

  /// Whether a guardian withdrew the consent that the child goes on using this app (R9), and has not
  /// approved an update since. An addition to Apple's API, where the app's server is told.
  public var isConsentWithdrawn: Bool {
    get async { (try? await AppSession.current().isConsentWithdrawn) ?? false }
  }

  /// ``isConsentWithdrawn``: its value now, and each new one.
  public var consentWithdrawals: some AsyncSequence<Bool, Never> {
    get async {
      guard let session = try? AppSession.current() else {
        return AsyncStream { $0.finish() }
      }
      return await session.consent()
    }
  }
}
