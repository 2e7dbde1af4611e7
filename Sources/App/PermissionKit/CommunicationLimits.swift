import AppClient
import DeviceConnection
import FamilyModel
import Foundation

/// The communication limits of the child whose device runs this app.
///
/// The app finds its device through the environment variable `PERMISSION_RELAY_DEVICE`, which the
/// device sets when it launches the app. Without the variable no handle is known, and asking throws
/// ``AskError/notAvailable``.
///
/// One process of an app at a time uses the app's store. A second process waits five seconds for
/// the first one to end. Afterwards no handle is known to it, and asking throws
/// ``AskError/systemError(underlyingError:)``.
public final class CommunicationLimits: Sendable {
  /// The limits of this process's device.
  public static let current = CommunicationLimits()

  private init() {}

  /// The subset of `handles` that is known: approved by a guardian, or among the child's contacts.
  ///
  /// The answer comes from a copy in memory and needs neither the device nor the relay. A process
  /// that has just started answers from the app's store until the device delivers newer entries.
  /// Methods of this class may be called from any task at the same time.
  ///
  /// - Parameter handles: The participants of a conversation, for example.
  /// - Returns: The known handles, spelled as in `handles`; none without a device, and none while a
  ///   guardian's consent to the app is withdrawn.
  public func knownHandles(in handles: Set<CommunicationHandle>) async -> Set<CommunicationHandle> {
    guard let session = try? AppSession.current() else { return [] }
    return handles.filter { session.isKnown($0.model.canonical) }
  }

  /// Whether the handle is known; see ``knownHandles(in:)``.
  public func isKnownHandle(_ handle: CommunicationHandle) async -> Bool {
    await knownHandles(in: [handle]).contains(handle)
  }

  /// The guardians' responses, in order of arrival: first those that no loop has handled, then new
  /// ones.
  ///
  /// ```swift
  /// for await response in CommunicationLimits.current.updates {
  ///   try await show(response)
  /// }
  /// ```
  ///
  /// - **Registration.** The loop's first iteration registers the app: from then on the device
  ///   launches the app in the background when an entry waits for it. Reading this property
  ///   registers nothing.
  /// - **Handling.** A response is handled when the loop requests the next element. Until then the
  ///   device keeps the response and delivers it again after a crash. A loop that breaks, returns
  ///   or throws leaves its last response unhandled, so the app must recognise a repeated
  ///   ``PermissionQuestion/id``.
  /// - **One loop.** A second loop over the same topic ends the first one and receives every
  ///   unhandled response.
  /// - **Threading.** The loop's body runs in the isolation of the task that iterates.
  /// - **Cancellation.** Cancelling that task ends the loop. The response whose body has finished
  ///   is handled.
  ///
  /// Without a device the sequence is empty.
  public var updates: some AsyncSequence<PermissionResponse<CommunicationTopic>, Never> {
    Responses<CommunicationTopic>(session: try? AppSession.current())
  }

  /// Asks the guardians, after the device has prompted the child.
  ///
  /// The child asks by message, or in person with a guardian's passcode, or cancels. The method
  /// returns in each of these cases, and the caller cannot tell them apart:
  ///
  /// - The question is in the device's outbox, and its response arrives in ``updates``.
  /// - A guardian decided on this device, and the response arrives in ``updates``.
  /// - Communication limits are off, or the person has no family. The response is the
  ///   ``PermissionQuestion/defaultChoice``.
  /// - The child cancelled. No response follows.
  /// - A question of this app about the same people is open. The response names that question.
  ///
  /// The method waits as long as the child takes, and as long as the device is away. Cancelling the
  /// calling task has no effect. Asking again with the same ``PermissionQuestion/id`` sends no
  /// second question.
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
}
