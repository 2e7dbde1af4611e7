package import DeviceConnection
package import FamilyCore
package import FamilyModel
import FamilyTrust
import Foundation
import Logging
package import RelayStore
import RelayWire
package import Synchronization
import SystemClock

/// The shell of the app's machine: one connection, one store, and the app's suspended calls.
///
/// PermissionKit and DeclaredAgeRange share one session per process. The session runs on its
/// connection's executor.
package actor AppSession {
  package nonisolated var unownedExecutor: UnownedSerialExecutor { connection.unownedExecutor }
  private let connection: any DeviceConnection
  private let store: any AgentStore
  private var machine: AppMachine
  private var asks: [QuestionID: [CheckedContinuation<AskOutcome, Never>]] = [:]
  private var ages: [UInt64: CheckedContinuation<AgeReply, Never>] = [:]
  private var lastAge: UInt64 = 0
  private var subscribers: [Topic.Kind: AsyncStream<Delivery>.Continuation] = [:]
  private var consentWatchers: [UUID: AsyncStream<Bool>.Continuation] = [:]
  private var waiting: [Delivery] = []
  /// A copy of the machine's visible handles, for readers on any thread.
  package nonisolated let known: Mutex<HandleSet>
  nonisolated let ends: Mutex<ApprovalEnds>

  /// A response on its way to the app's loop.
  package struct Delivery: Sendable {
    /// The position of the app entry.
    package let position: UInt64
    /// The question.
    package let question: Question
    /// The decision.
    package let choice: Choice
  }

  private nonisolated let processed = Mutex(0)
  private nonisolated let idle = Mutex(false)
  /// The app's clock.
  package nonisolated let clock: @Sendable () -> Instant

  private let logger = Logger(label: "PermissionKit")

  /// Restores a session from the app's store.
  ///
  /// - Parameters:
  ///   - security: The family and the organizer key that the credential names. The values of the
  ///     first credential are stored and win.
  /// - Throws: `StoreError`, or the error of a record that does not decode.
  package init(
    _ app: AppID, _ security: AppSecurity, _ connection: any DeviceConnection,
    _ store: sending any AgentStore,
    clock: @escaping @Sendable () -> Instant = {
      Instant(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
    }
  ) throws {
    self.connection = connection
    self.clock = clock
    let records = try store.load(prefix: []).map {
      try AppRecord.decode(key: $0.key, value: $0.value)
    }
    machine = AppMachine(
      app, trusting: (security, KeyVault.Public()), restoring: records)
    known = Mutex(machine.visible)
    ends = Mutex(ApprovalEnds(machine))
    self.store = store
  }

  /// Handles the connection's events until the connection ends.
  package func run() async {
    for await event in connection.events {
      switch event {
      case .connected: step(.connected)
      case .disconnected: step(.disconnected)
      case .reply(let reply): step(.reply(reply))
      }
      processed.withLock { $0 += 1 }
    }
  }

  /// The number of connection events handled so far.
  package nonisolated var eventsProcessed: Int { processed.withLock { $0 } }

  /// Whether a loop is subscribed and no delivered response is unhandled.
  package nonisolated var isIdle: Bool { idle.withLock { $0 } }

  /// Asks the device; returns the outcome, however long the device takes. Ignores cancellation.
  package func ask(_ question: Question, _ manner: AskManner) async -> AskOutcome {
    await withCheckedContinuation { continuation in
      // Registered before the send, because the reply may arrive at once.
      asks[question.id, default: []].append(continuation)
      step(.ask(question, manner))
    }
  }

  /// Sends an age request; returns the answer, however long the person takes. Ignores cancellation.
  package func ask(_ request: AgeRequest) async -> AgeReply {
    switch request {
    case .range(let gates): return await askAge(gates)
    case .status: return await askAge(nil)
    case .acknowledge(let description):
      let question = Question(
        id: ID128(bytes: withUnsafeBytes(of: UUID().uuid) { Array($0) })!,
        topic: .significantUpdate(description: description))
      switch await ask(question, .acknowledge) {
      case .acknowledged: return .acknowledged
      case .refused(let problem): return .failed(problem)
      default: return .declined
      }
    }
  }

  private func askAge(_ gates: [Int32]?) async -> AgeReply {
    await withCheckedContinuation { continuation in
      lastAge += 1
      ages[lastAge] = continuation
      step(.askAge(lastAge, gates: gates))
    }
  }

  /// The responses of one kind: the unhandled ones first. Ends the earlier stream of the same kind.
  package func subscribe(_ kind: Topic.Kind) -> AsyncStream<Delivery> {
    let (stream, continuation) = AsyncStream<Delivery>.makeStream()
    subscribers[kind]?.finish()
    subscribers[kind] = continuation
    for delivery in waiting where delivery.question.topic.kind == kind {
      continuation.yield(delivery)
    }
    step(.subscribe(kind))
    return stream
  }

  /// Marks the response at `position` as handled by the app's code.
  package func consumed(_ position: UInt64) {
    waiting.removeAll { $0.position == position }
    step(.consumed(position))
  }

  /// Whether a guardian withdrew the consent to this app.
  package var isConsentWithdrawn: Bool { machine.isConsentWithdrawn }

  /// The current value of `isConsentWithdrawn`, then every change.
  package func consent() -> AsyncStream<Bool> {
    let (stream, continuation) = AsyncStream<Bool>.makeStream()
    let id = UUID()
    consentWatchers[id] = continuation
    continuation.onTermination = { [weak self] _ in
      Task { await self?.removeWatcher(id) }
    }
    continuation.yield(machine.isConsentWithdrawn)
    return stream
  }

  private func removeWatcher(_ id: UUID) { consentWatchers[id] = nil }

  private func step(_ input: AppMachine.Input) {
    defer { idle.withLock { $0 = !subscribers.isEmpty && waiting.isEmpty } }
    for effect in machine.step(input) {
      switch effect {
      case .persist(let changes):
        // A failing store ends the process: without durable changes, later answers would be wrong.
        try! store.apply(changes.flatMap { try! self.changes($0) })
        known.withLock { $0 = machine.visible }
        ends.withLock { $0.update(machine) }
      case .send(let request): connection.assumeIsolated { $0.send(request) }
      case .deliver(let position, let question, let choice):
        let delivery = Delivery(position: position, question: question, choice: choice)
        waiting.append(delivery)
        subscribers[question.topic.kind]?.yield(delivery)
      case .asked(let id, let outcome):
        for continuation in asks.removeValue(forKey: id) ?? [] {
          continuation.resume(returning: outcome)
        }
      case .age(let id, let reply): ages.removeValue(forKey: id)?.resume(returning: reply)
      case .consentChanged:
        for watcher in consentWatchers.values { watcher.yield(machine.isConsentWithdrawn) }
      case .rejected(let problem):
        logger.error("rejected a message of the device: \(problem)")
      case .caughtUp: break
      }
    }
  }

  private func changes(_ change: AppRecordChange) throws(StoreError) -> [Change] {
    switch change {
    case .put(let record): return [Change(key: record.key, value: record.value)]
    case .remove(let record): return [Change(key: record.key, value: nil)]
    case .forgetAll:
      return try store.load(prefix: AppRecord.knownPrefix).map { Change(key: $0.key, value: nil) }
    }
  }
}
