import AppClient
import FamilyModel
import Foundation

/// The center that requests the authorization to manage a child.
///
/// ```swift
/// try await AuthorizationCenter.shared.requestAuthorization(for: .child)
/// ```
///
/// A guardian approves in person with the passcode, or by message. An authorization holds on all devices
/// of the child, until a guardian withdraws it. All stores of the app are then empty at once, also on a
/// device without a connection to the app.
public final class AuthorizationCenter: Sendable {
  /// The center of this process.
  public static let shared = AuthorizationCenter()

  private init() {}

  /// The last state that the device delivered; ``AuthorizationStatus/notDetermined`` without a device.
  ///
  /// The answer comes from memory, survives restarts, and never waits.
  public var authorizationStatus: AuthorizationStatus {
    (try? AppSession.current()).map { AuthorizationStatus($0.authorization) } ?? .notDetermined
  }

  /// The value of ``authorizationStatus`` now, and after each change.
  ///
  /// An addition to Apple's API, whose property is published. Any number of loops may run. Without a
  /// device the sequence has one element.
  public var authorizationStatusUpdates: some AsyncSequence<AuthorizationStatus, Never> {
    get async {
      let (stream, continuation) = AsyncStream<AuthorizationStatus>.makeStream()
      let changes =
        await (try? AppSession.current())?.authorizationChanges() ?? AsyncStream { $0.finish() }
      let first = authorizationStatus
      let task = Task {
        var last = first
        continuation.yield(last)
        for await case .state(let state) in changes {
          let status = AuthorizationStatus(state)
          if status != last { continuation.yield(status) }
          last = status
        }
        continuation.finish()
      }
      continuation.onTermination = { _ in task.cancel() }
      return stream
    }
  }

  /// Asks the guardians to authorize the app. The device first prompts the child.
  ///
  /// The method returns when a guardian has approved, which may take days after a question by message.
  /// An authorized app returns at once. A question of a process that ended is answered all the same:
  /// ``authorizationStatus`` has the result, and the device may launch the app for it.
  ///
  /// - Parameter member: ``FamilyControlsMember/child``.
  /// - Throws: ``FamilyControlsError``, or `CancellationError` when the task is cancelled.
  public func requestAuthorization(for member: FamilyControlsMember) async throws {
    guard member == .child else { throw FamilyControlsError.invalidAccountType }
    guard let session = try? AppSession.current() else { throw FamilyControlsError.unavailable }
    await session.untilStarted()
    guard session.authorization != .approved else { return }
    let changes = await session.authorizationChanges()
    let question = Question(id: QuestionID(UUID()), topic: .authorization)
    let open = try await ask(question, session)
    for await change in changes {
      switch change {
      case .state(.approved): return
      case .answered(open, let isApproved):
        guard isApproved else { throw FamilyControlsError.authorizationCanceled }
        return
      case .state, .answered: continue
      }
    }
    throw CancellationError()
  }

  /// Asks, and returns the question whose answer follows.
  private func ask(_ question: Question, _ session: AppSession) async throws -> QuestionID {
    let outcome: AskOutcome
    do {
      outcome = try await session.ask(question, .choose)
    } catch let error as CancellationError {
      throw error
    } catch {
      throw FamilyControlsError.unavailable
    }
    switch outcome {
    case .sent, .answeredInPerson(approved: true): return question.id
    case .alreadyAsked(let open): return open
    case .refused(let problem): throw FamilyControlsError(problem)
    case .cancelled, .answeredInPerson(approved: false), .answeredByDefault, .acknowledged:
      throw FamilyControlsError.authorizationCanceled
    }
  }
}

extension AuthorizationStatus {
  init(_ state: AuthorizationState) {
    self =
      switch state {
      case .undetermined: .notDetermined
      case .denied: .denied
      case .approved: .approved
      }
  }
}
