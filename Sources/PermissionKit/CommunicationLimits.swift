import DeviceConnection
import DeviceSocket
import FamilyModel
import Foundation
import RelayStore
import SQLiteStore

/// What the guardians of this device's child allow.
///
/// The app finds its device through `PERMISSION_RELAY_DEVICE`, which the device sets when it launches the
/// app. Without it nobody is known, and asking throws ``AskError/notAvailable``.
public final class CommunicationLimits: Sendable {
  /// The limits of the person whose device this is.
  public static let current: CommunicationLimits = {
    do {
      return CommunicationLimits(session: try deviceSession())
    } catch {
      return CommunicationLimits(
        session: nil, failure: error as? AskError ?? .systemError(underlyingError: error))
    }
  }()

  /// Seconds to wait for another process of the same app to end, as one launched in the background.
  static let patience = 5.0

  private let session: AppSession?
  private let failure: AskError

  init(session: AppSession?, failure: AskError = .notAvailable) {
    self.session = session
    self.failure = failure
    if let session { Task { await session.run() } }
  }

  /// Limits over another connection and store, for tests.
  convenience init(
    app: AppID, connection: any DeviceConnection, store: sending any AgentStore
  ) throws {
    self.init(session: try AppSession(app, connection, store))
  }

  private static func deviceSession() throws -> AppSession {
    guard let path = ProcessInfo.processInfo.environment[AppCredential.variable] else {
      throw AskError.notAvailable
    }
    let data = try Data(contentsOf: URL(fileURLWithPath: path))
    let credential = try JSONDecoder().decode(AppCredential.self, from: data)
    let file = URL(fileURLWithPath: credential.storage).appendingPathComponent(
      "permissionkit.sqlite")
    let store = try open(file.path)
    return try AppSession(AppID(credential.app), try DeviceSocket(credential), store)
  }

  private static func open(_ path: String) throws(StoreError) -> sending SQLiteAgentStore {
    let end = Date().addingTimeInterval(patience)
    while true {
      do throws(StoreError) {
        return try SQLiteAgentStore(path: path)
      } catch {
        guard error == .locked, Date() < end else { throw error }
      }
    }
  }

  /// Those of the handles that are known: approved, or on the child's list of contacts (K1).
  ///
  /// It is answered from memory and needs neither the device nor the relay (K2).
  public func knownHandles(in handles: Set<CommunicationHandle>) async -> Set<CommunicationHandle> {
    guard let session else { return [] }
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
    Updates(session: session)
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
    guard let session else { throw failure }
    let model = question.model
    do throws(Problem) {
      try model.validate(now: Instant(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000)))
    } catch { throw AskError(error) }
    if case .refused(let problem) = await session.ask(model) { throw AskError(problem) }
  }
}

/// The responses as a sequence.
struct Updates: AsyncSequence {
  typealias Element = PermissionResponse<CommunicationTopic>
  typealias Failure = Never

  let session: AppSession?

  func makeAsyncIterator() -> Iterator { Iterator(session: session) }

  struct Iterator: AsyncIteratorProtocol {
    let session: AppSession?
    private var stream: AsyncStream<AppSession.Delivery>.Iterator?
    private var last: UInt64?

    init(session: AppSession?) { self.session = session }

    mutating func next() async -> Element? {
      guard let session else { return nil }
      if stream == nil { stream = await session.subscribe().makeAsyncIterator() }
      // The loop comes back: it has handled what it got before.
      if let last { await session.consumed(last) }
      last = nil
      while let delivery = await stream?.next() {
        last = delivery.position
        if let question = PermissionQuestion<CommunicationTopic>(delivery.question) {
          return PermissionResponse(question: question, choice: PermissionChoice(delivery.choice))
        }
        await session.consumed(delivery.position)
      }
      return nil
    }
  }
}
