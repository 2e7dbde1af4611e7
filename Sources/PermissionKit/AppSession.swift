import DeviceConnection
import FamilyCore
import FamilyModel
import RelayStore
import RelayWire
import Synchronization

/// Drives the app's machine: one connection, one store, the app's waiting calls.
///
/// It runs on its connection's executor.
actor AppSession {
  nonisolated var unownedExecutor: UnownedSerialExecutor { connection.unownedExecutor }
  private let connection: any DeviceConnection
  private let store: any AgentStore
  private var machine: AppMachine
  private var asks: [QuestionID: [CheckedContinuation<AskOutcome, Never>]] = [:]
  private var subscriber: AsyncStream<Delivery>.Continuation?
  private var waiting: [Delivery] = []
  /// A copy that any thread may read without waiting for the actor (K2).
  nonisolated let known: Mutex<Set<Handle>>

  /// A response for the app's code.
  struct Delivery: Sendable {
    let position: UInt64
    let question: Question
    let choice: Choice
  }

  init(_ app: AppID, _ connection: any DeviceConnection, _ store: sending any AgentStore) throws {
    self.connection = connection
    let records = try store.load(prefix: []).map {
      try AppRecord.decode(key: $0.key, value: $0.value)
    }
    machine = AppMachine(app, restoring: records)
    known = Mutex(machine.known)
    self.store = store
  }

  func run() async {
    for await event in connection.events {
      switch event {
      case .connected: step(.connected)
      case .disconnected: step(.disconnected)
      case .reply(let reply): step(.reply(reply))
      }
    }
  }

  func ask(_ question: Question) async -> AskOutcome {
    await withCheckedContinuation { continuation in
      // Registered before it is sent: the answer may be quick.
      asks[question.id, default: []].append(continuation)
      step(.ask(question))
    }
  }

  /// The responses, to one loop at a time; those that came before are first (R7).
  func subscribe() -> AsyncStream<Delivery> {
    let (stream, continuation) = AsyncStream<Delivery>.makeStream()
    subscriber?.finish()
    subscriber = continuation
    for delivery in waiting { continuation.yield(delivery) }
    step(.subscribe)
    return stream
  }

  func consumed(_ position: UInt64) {
    waiting.removeAll { $0.position <= position }
    step(.consumed(position))
  }

  private func step(_ input: AppMachine.Input) {
    for effect in machine.step(input) {
      switch effect {
      case .persist(let changes):
        // A store that fails ends the app: what it would say next would not be true.
        try! store.apply(changes.flatMap { try! self.changes($0) })
        known.withLock { $0 = machine.known }
      case .send(let request): connection.assumeIsolated { $0.send(request) }
      case .deliver(let position, let question, let choice):
        let delivery = Delivery(position: position, question: question, choice: choice)
        waiting.append(delivery)
        subscriber?.yield(delivery)
      case .asked(let id, let outcome):
        for continuation in asks.removeValue(forKey: id) ?? [] {
          continuation.resume(returning: outcome)
        }
      case .caughtUp: break
      }
    }
  }

  private func changes(_ change: AppRecordChange) throws(StoreError) -> [Change] {
    switch change {
    case .put(let record): return [Change(key: record.key, value: record.value)]
    case .forget(let handle): return [Change(key: AppRecord.key(of: handle), value: nil)]
    case .forgetAll:
      return try store.load(prefix: AppRecord.knownPrefix).map { Change(key: $0.key, value: nil) }
    }
  }
}
