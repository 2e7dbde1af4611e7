package import AppClient
import FamilyModel
import GatewayModel
package import Logging
import RelayStore
package import SQLiteStore
import ServiceLifecycle
import SystemClock

/// An app without a process: the session with its device, and the durable log of what the app learns.
///
/// A response is in the log before it counts as handled on the device. Known handles and the consent
/// are states, so the log gets their differences from what it reported last: also those that arose
/// while the gateway did not run.
package actor AppGateway: Service {
  /// The app's bundle identifier.
  package nonisolated let app: String
  nonisolated let session: AppSession
  nonisolated let store: SQLiteGatewayStore
  private let logger: Logger
  private let onAppend: @Sendable (String) -> Void
  /// The number of the newest event.
  private(set) var newest: UInt64
  /// The handles that the log has reported as known.
  private var reported: Set<Handle>
  private var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
  private var lastWaiter: UInt64 = 0
  var readers = 0
  var waiting: [QuestionID: [UInt64: Task<AskOutcome, any Error>]] = [:]
  var waitingCount = 0
  var lastCall: UInt64 = 0

  /// - Parameter onAppend: Called with the app after each append.
  package init(
    app: String, session: AppSession, store: SQLiteGatewayStore, logger: Logger,
    onAppend: @escaping @Sendable (String) -> Void
  ) throws {
    self.app = app
    self.session = session
    self.store = store
    self.logger = logger
    self.onAppend = onAppend
    newest = try store.newest(of: app)
    reported = Set(try store.state(of: app).compactMap(Self.handle))
  }

  /// Follows the device until the task is cancelled or the program shuts down.
  package func run() async throws {
    await cancelWhenGracefulShutdown {
      await withDiscardingTaskGroup { group in
        group.addTask { await self.session.run() }
        group.addTask { await self.follow(.communication) }
        group.addTask { await self.follow(.significantUpdate) }
        group.addTask { await self.followHandles() }
        group.addTask { await self.followConsent() }
        group.addTask { await self.removeOldEvents() }
      }
    }
    await session.close()
  }

  // MARK: What the app learns

  private func follow(_ kind: Topic.Kind) async {
    session.register()
    let loop = session.openLoop(kind)
    for await delivery in loop.deliveries {
      let event = SQLiteGatewayStore.NewEvent(
        type: "response", time: session.clock(),
        data: JSONValue.object([
          "question": .string(delivery.question.id.uuid.uuidString),
          "about": delivery.question.topic.json,
          "choice": delivery.choice.json,
        ]).text,
        // The device repeats an entry at its position until it is handled.
        source: "\(delivery.position) \(delivery.question.id.uuid.uuidString) \(delivery.choice.id)"
      )
      guard await append([event]) else { return }
      await loop.handled(delivery.position)
    }
  }

  private func followHandles() async {
    session.record(answersAbout: Array(reported))
    await untilCurrent()
    // Subscribed before the first comparison, so that no change falls between the two.
    let changes = await session.knownChanges()
    let change = WakeUp()
    await withDiscardingTaskGroup { group in
      group.addTask { for await _ in changes { change.signal() } }
      while !Task.isCancelled {
        await reportHandles()
        // A timer for the next end would be late after the clock was set or the machine slept. The
        // session signals changes only of handles that the app has asked about.
        await change.wait { try await Task.sleep(for: GatewayLimits.comparisonInterval) }
      }
    }
  }

  private func followConsent() async {
    for await isWithdrawn in await session.consent() {
      let reported = (try? store.state(of: app)["consent"]) == "withdrawn"
      guard isWithdrawn != reported else { continue }
      let event = SQLiteGatewayStore.NewEvent(
        type: isWithdrawn ? "consent.withdrawn" : "consent.given", time: session.clock(),
        data: "{}")
      await append([event], [.set("consent", isWithdrawn ? "withdrawn" : "given")])
    }
  }

  private func removeOldEvents() async {
    // The device may repeat an entry until then, which the log recognizes by its event.
    await untilCurrent()
    repeat {
      do {
        try store.removeEvents(of: app, before: session.clock() - GatewayLimits.retention)
      } catch { logger.error("cannot remove old events", metadata: ["error": "\(error)"]) }
    } while (try? await Task.sleep(for: GatewayLimits.removalInterval)) != nil
  }

  /// Waits for the device, however long it is away, or until the task is cancelled.
  private func untilCurrent() async {
    while !Task.isCancelled {
      if await session.untilCaughtUp(within: .seconds(86_400)) { return }
    }
  }

  private static let handleKey = "handle "

  /// A reported handle of the log's state; `nil` for other state.
  private static func handle(key: String, value: String) -> Handle? {
    guard key.hasPrefix(handleKey), let json = try? JSONValue.parse(.init(value.utf8)) else {
      return nil
    }
    return try? Handle(JSONReader(json))
  }

  private func reportHandles() async {
    let known = Set(session.known.withLock { $0.sorted() }.filter { session.isKnown($0) })
    guard known != reported else { return }
    let new = known.subtracting(reported).sorted()
    let old = reported.subtracting(known).sorted()
    let events = [("handles.known", new), ("handles.unknown", old)].filter { !$0.1.isEmpty }.map {
      SQLiteGatewayStore.NewEvent(
        type: $0.0, time: session.clock(),
        data: JSONValue.object(["handles": .array($0.1.map(\.json))]).text)
    }
    func key(_ handle: Handle) -> String { "\(Self.handleKey)\(handle.kind) \(handle.value)" }
    let isReported = await append(
      events, new.map { .set(key($0), $0.json.text) } + old.map { .remove(key($0)) })
    if isReported { reported = known }
  }

  /// Makes the events durable. Repeats a failed commit, and waits while the log is full.
  ///
  /// - Returns: `false` if the task was cancelled before.
  @discardableResult
  func append(
    _ events: [SQLiteGatewayStore.NewEvent], _ state: [SQLiteGatewayStore.StateChange] = []
  ) async -> Bool {
    var isLogged = false
    while !Task.isCancelled {
      do {
        if try store.unhandled(of: app) < GatewayLimits.unhandledEvents {
          let appended = try store.append(events, to: app, state: state)
          guard let last = appended.last else { return true }
          newest = last.number
          for id in waiters.keys { resume(id) }
          onAppend(app)
          return true
        }
        if !isLogged { logger.error("the log of an app is full", metadata: ["app": "\(app)"]) }
      } catch {
        if !isLogged { logger.error("cannot write the log", metadata: ["error": "\(error)"]) }
      }
      isLogged = true
      try? await Task.sleep(for: GatewayLimits.storeRetry)
    }
    return false
  }

  // MARK: Readers

  /// Waits until an event after `number` exists, at most for `limit`.
  func waitForNews(after number: UInt64, within limit: Duration) async {
    guard newest <= number, !Task.isCancelled else { return }
    lastWaiter += 1
    let id = lastWaiter
    let timeout = Task {
      try? await Task.sleep(for: limit)
      resume(id)
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiters[id] = $0 }
    } onCancel: {
      // The end of its sleep resumes the reader.
      timeout.cancel()
    }
    timeout.cancel()
  }

  private func resume(_ id: UInt64) { waiters.removeValue(forKey: id)?.resume() }
}
