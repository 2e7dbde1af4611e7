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
/// One process of an app at a time holds the app's store. Another process of the app reads the
/// known handles of the first one. Its other calls wait for the store: up to five seconds for
/// ``ask(_:in:)``, and without a limit for ``updates``. The second process receives the store when
/// the first one ends.
public final class CommunicationLimits: Sendable {
  /// The limits of this process's device.
  public static let current = CommunicationLimits()

  private init() {}

  /// The subset of `handles` that is known: approved by a guardian, or among the child's contacts.
  ///
  /// An app learns only about handles that it names: in this method, or as the people of its
  /// questions. The device is asked once about each new handle, for at most a second; the handle is
  /// unknown if the device is away. From then on the answer comes from a copy in memory and needs
  /// neither the device nor the relay. An app can name 65,536 handles; further ones stay unknown.
  ///
  /// During the first 200 ms of a process, the method waits for the device's newest entries, and
  /// answers from the app's store if the device is away. See ``ready(within:)`` for a longer wait.
  /// Methods of this class may be called from any task at the same time.
  ///
  /// - Parameter handles: The participants of a conversation, for example.
  /// - Returns: The known handles, spelled as in `handles`; none without a device, and none while a
  ///   guardian's consent to the app is withdrawn.
  public func knownHandles(in handles: Set<CommunicationHandle>) async -> Set<CommunicationHandle> {
    guard let session = try? AppSession.current() else { return [] }
    await session.untilStarted()
    let named = handles.map { (spelled: $0, canonical: $0.model.canonical) }
    let known = Set(await session.known(of: named.map { $0.canonical }))
    return Set(named.filter { known.contains($0.canonical) }.map { $0.spelled })
  }

  /// Whether the handle is known; see ``knownHandles(in:)``.
  public func isKnownHandle(_ handle: CommunicationHandle) async -> Bool {
    await knownHandles(in: [handle]).contains(handle)
  }

  /// Waits until the known handles are those of the device, also in a process that has just
  /// started.
  ///
  /// - Parameter limit: The longest time to wait.
  /// - Returns: `false` if the device did not deliver its entries in time, or without a device. The
  ///   known handles are then those that the app's store holds.
  @discardableResult
  public func ready(within limit: Duration = .seconds(10)) async -> Bool {
    guard let session = try? AppSession.current() else { return false }
    return await session.untilCaughtUp(within: limit)
  }

  /// The handles that become known or unknown from now on, so that an open app updates its views.
  ///
  /// ```swift
  /// for await changed in CommunicationLimits.current.knownHandleChanges {
  ///   for chat in chats where !chat.participants.isDisjoint(with: changed) { await chat.update() }
  /// }
  /// ```
  ///
  /// An element has the handles whose answer in ``knownHandles(in:)`` changed, of those that this
  /// process has passed to that method or asked about, spelled in canonical
  /// form: see ``CommunicationHandle``. A withdrawal arrives here and not in ``updates``. Any
  /// number of loops may run, and cancelling the task ends its loop. Without a device the sequence
  /// is empty.
  public var knownHandleChanges: some AsyncSequence<Set<CommunicationHandle>, Never> {
    get async {
      let changes =
        await (try? AppSession.current())?.knownChanges() ?? AsyncStream { $0.finish() }
      return changes.map { Set($0.map { CommunicationHandle($0) }) }
    }
  }

  /// The guardians' responses, in order of arrival: first those that are not handled, then new
  /// ones.
  ///
  /// ```swift
  /// for await response in CommunicationLimits.current.updates {
  ///   await show(response)
  /// }
  /// ```
  ///
  /// - **Registration.** Reading this property registers the app: from then on the device launches
  ///   the app in the background when an entry waits for it. ``ask(_:in:)`` registers the app too.
  /// - **Several loops.** Any number of loops may run in a process, over this property and over
  ///   ``AskCenter/responses(for:)``. Each loop receives every response that arrives while the loop
  ///   is open, after those that are not handled at its start.
  /// - **Handling.** A response is handled when each loop that was open at its arrival has
  ///   requested the next one or has ended. A loop that ends, by `break`, `return` or an error, has
  ///   handled its last response if the process runs on for a second or exits with status 0. The
  ///   device delivers an unhandled response again, to the next process.
  /// - **Failures.** A process that crashes in the body, or exits with another status within that
  ///   second, receives the response again. An error that the process catches elsewhere does not
  ///   repeat the response: a body that can fail repeats its work itself, or ends the process.
  /// - **Threading.** The loop's body runs in the isolation of the task that iterates.
  /// - **Cancellation.** Cancelling that task ends the loop. The response whose body has finished
  ///   is handled.
  ///
  /// Delivery is at least once, so an app recognises a repeated ``PermissionQuestion/id``. Without
  /// a device the sequence is empty.
  public var updates: some AsyncSequence<PermissionResponse<CommunicationTopic>, Never> {
    Responses<CommunicationTopic>(session: try? AppSession.current())
  }

  /// Asks the guardians, after the device has prompted the child.
  ///
  /// The child asks by message, or in person with a guardian's passcode, or cancels. The method
  /// returns in each of these cases; ``askReportingResult(_:in:)`` returns which one:
  ///
  /// - The question is in the device's outbox, and its response arrives in ``updates``.
  /// - A guardian decided on this device, and the response arrives in ``updates``.
  /// - Communication limits are off, or the person has no family. The response is the
  ///   ``PermissionQuestion/defaultChoice``.
  /// - The child cancelled. No response follows.
  /// - A question of this app about the same people is open. The response names that question.
  ///
  /// The method waits as long as the child takes. The method throws
  /// ``AskError/systemError(underlyingError:)`` when the device is silent for ten seconds (problem
  /// 420), and when another process of the app holds the store for five seconds (problem 421). A
  /// cancelled task throws `CancellationError` at once. The prompt may outlive the call: a response
  /// that follows nevertheless arrives in ``updates``.
  ///
  /// Asking again with the same ``PermissionQuestion/id`` sends no second question. The call
  /// registers the app as ``updates`` does, so that the device launches the app for the response.
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

  /// Asks the guardians as ``ask(_:in:)`` does, and returns how the prompt ended.
  ///
  /// Apple's API has no such method: there, and in ``ask(_:in:)``, a cancelled prompt and a sent
  /// question look alike.
  ///
  /// - Throws: ``AskError``, or `CancellationError`.
  public func askReportingResult(
    _ question: PermissionQuestion<CommunicationTopic>, in anchor: some PresentationAnchor
  ) async throws -> AskResult {
    AskResult(try await question.ask(.choose, in: anchor))
  }
}
