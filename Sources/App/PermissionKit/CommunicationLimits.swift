import AppClient
import DeviceConnection
import FamilyModel
import Foundation

/// What the guardians of this device's child allow.
///
/// The app finds its device through `PERMISSION_RELAY_DEVICE`, which the device sets when it launches the
/// app. Without it nobody is known, and asking throws ``AskError/notAvailable``.
public final class CommunicationLimits: Sendable {
  /// The limits of the person whose device this is.
  public static let current = CommunicationLimits()

  private init() {}

  /// Those of the handles that are known: approved, or on the child's list of contacts (K1).
  ///
  /// It is answered from memory and needs neither the device nor the relay (K2).
  public func knownHandles(in handles: Set<CommunicationHandle>) async -> Set<CommunicationHandle> {
    guard let session = try? AppSession.current() else { return [] }
    return session.known.withLock { known in
      handles.filter { known.contains($0.model.canonical) }
    }
  }

  /// Whether the handle is known.
  public func isKnownHandle(_ handle: CommunicationHandle) async -> Bool {
    await knownHandles(in: [handle]).contains(handle)
  }

  /// The guardians' responses: first those that came before, in order, then new ones as they come (R7).
  ///
  /// Getting it lets the device launch this app in the background. A response counts as handled when the
  /// loop asks for the next one; until then the device keeps it and gives it again after a crash.
  public var updates: some AsyncSequence<PermissionResponse<CommunicationTopic>, Never> {
    Responses<CommunicationTopic>(session: try? AppSession.current())
  }

  /// Asks the guardians. The system shows the child what to do first.
  ///
  /// It returns when the message is on its way, when the child cancelled, or when the default choice is
  /// the response; the response comes over ``updates``.
  ///
  /// - Throws: ``AskError``
  public func ask(
    _ question: PermissionQuestion<CommunicationTopic>, in anchor: some PresentationAnchor
  ) async throws {
    _ = try await question.ask(.choose)
  }
}
