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
/// connection's executor. While another process of the app holds the store, the session serves the
/// other process's known handles, and its calls wait for the store.
package actor AppSession {
  package nonisolated var unownedExecutor: UnownedSerialExecutor { connection.unownedExecutor }
  let connection: any DeviceConnection
  /// The machine and its store; `nil` while another process holds the store.
  private(set) var opened: (machine: AppMachine, store: any AgentStore)?
  private let app: AppID
  private let security: AppSecurity
  private let openStore: StoreOpener
  let copy: KnownCopy?
  /// Inputs that wait for the store, in order.
  private var deferred: [AppMachine.Input] = []

  let timing: SessionTiming
  var liveness: DeviceLiveness
  var calls: [UInt64: Call] = [:]
  var lastCall: UInt64 = 0
  var timer: (task: Task<Void, Never>, due: Duration)?
  let loops = ResponseLoops()
  var consentWatchers: [UUID: AsyncStream<Bool>.Continuation] = [:]
  var knownWatchers: [UUID: AsyncStream<[Handle]>.Continuation] = [:]
  var readers: [UUID: CheckedContinuation<Void, Never>] = [:]
  /// The reason why this process cannot open the store at all.
  var storeFailure: (any Error)?

  /// A copy of the machine's visible handles, for readers on any thread.
  package nonisolated let known: Mutex<HandleSet>
  nonisolated let ends = Mutex(ApprovalEnds())
  /// A copy of the machine's named handles, for readers on any thread.
  nonisolated let named = Mutex(HandleSet())
  /// The handles about which this process has received an answer. Changes of other handles are not
  /// reported.
  nonisolated let answered = Mutex(HandleSet())
  /// Readers that wait until the device answers about the handles or sites that they name.
  var answerReaders: [UUID: AnswerReader] = [:]
  /// A copy of the machine's access to sites, for readers on any thread.
  nonisolated let web = Mutex(KnownWeb())
  /// A copy of the machine's setting for sensitive pictures, for readers on any thread.
  nonisolated let knownSafety = Mutex<CommunicationSafety?>(nil)
  /// The difference between the numbers of pictures and of calls. The device may still check pictures of a
  /// former process, whose numbers must not return.
  let firstPicture = UInt64.random(in: 0...UInt64.max)
  /// The time for which the app has shown pages.
  nonisolated let meter: Mutex<PageMeter>
  /// Deletions that the app's code has chosen and the machine has not taken.
  nonisolated let chosenDeletions = Mutex<[WebHistoryPart]>([])
  /// Reports that time at intervals; `nil` while no page is shown.
  var pageTimer: Task<Void, Never>?
  private nonisolated let givenPageTime: (@Sendable () -> Duration)?
  /// The clock of pages, which is never set.
  nonisolated func pageTime() -> Duration { givenPageTime?() ?? elapsed }
  var webWatchers: [UUID: AsyncStream<Void>.Continuation] = [:]
  /// A copy of the machine's authorization and stores, for readers on any thread.
  nonisolated let managing = Mutex(ManagingState())
  /// Settings that the app's code has chosen and the machine has not taken, by the store's name.
  nonisolated let chosen = Mutex<[String: ManagedSettings]>([:])
  /// The stores about which the device has not answered, and those that the device refused.
  var unansweredStores: Set<String> = []
  var refusedStores: [String: Problem] = [:]
  /// The choices about activities that the machine has not taken, by name.
  nonisolated let chosenActivities = Mutex<[String: ChosenActivity]>([:])
  var refusedActivities: [String: Problem] = [:]
  nonisolated let moments = Mutex(UnfinishedMoments())
  var authorizationWatchers: [UUID: AsyncStream<AuthorizationChange>.Continuation] = [:]
  nonisolated let isCaughtUp = Mutex(false)
  private nonisolated let processed = Mutex(0)
  private nonisolated let startedAt = SuspendingClock.now
  /// The path of the device's decoder of pictures and videos; `nil` for none.
  package nonisolated let decoder: String?
  /// The app's clock.
  package nonisolated let clock: @Sendable () -> Instant

  private let logger = Logger(label: "PermissionKit")

  /// Opens the app's store, exclusively for this process.
  package typealias StoreOpener = @Sendable () throws(StoreError) -> sending any AgentStore

  /// Restores a session from the app's store, or waits for the process that holds it.
  ///
  /// - Parameters:
  ///   - security: The family and the organizer key that the credential names. The session stores
  ///     those of the first credential, and ignores later ones.
  ///   - copy: The known handles for other processes of the app; `nil` where none can run.
  ///   - pageTime: The clock of pages; `nil`: a clock that stops while the machine sleeps.
  ///   - decoder: The path of the device's decoder of pictures and videos; `nil` for none.
  ///   - openStore: Opens the store. `run()` repeats the call while the store is locked.
  /// - Throws: `StoreError`, or the error of a record that does not decode.
  package init(
    _ app: AppID, _ security: AppSecurity, _ connection: any DeviceConnection,
    timing: SessionTiming = SessionTiming(), copy: KnownCopy? = nil,
    clock: @escaping @Sendable () -> Instant = {
      Instant(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
    },
    pageTime: (@Sendable () -> Duration)? = nil, decoder: String? = nil,
    openStore: @escaping StoreOpener
  ) throws {
    self.app = app
    self.security = security
    self.connection = connection
    self.timing = timing
    self.copy = copy
    self.clock = clock
    self.openStore = openStore
    self.decoder = decoder
    givenPageTime = pageTime
    meter = Mutex(PageMeter(longestGap: timing.webUseGap))
    liveness = DeviceLiveness(limit: timing.deviceSilence, interval: timing.devicePing)
    known = Mutex(HandleSet())
    do {
      let store = try openStore()
      let machine = try Self.restore(app, security, store)
      known.withLock { $0 = machine.visible }
      ends.withLock { $0.update(machine) }
      named.withLock { $0 = machine.named }
      web.withLock { $0 = KnownWeb(machine) }
      managing.withLock { $0 = ManagingState(machine) }
      knownSafety.withLock { $0 = machine.safety }
      copy?.write(machine)
      opened = (machine, store)
    } catch let error as StoreError where error == .locked && copy != nil {
      let held = copy?.read()
      known.withLock { $0 = held?.known ?? HandleSet() }
      ends.withLock { $0 = held?.ends ?? ApprovalEnds() }
      // The holder of the store is in contact with the device.
      isCaughtUp.withLock { $0 = true }
    }
  }

  private static func restore(_ app: AppID, _ security: AppSecurity, _ store: any AgentStore) throws
    -> AppMachine
  {
    let records = try store.load(prefix: []).map {
      try AppRecord.decode(key: $0.key, value: $0.value)
    }
    return AppMachine(app, trusting: (security, KeyVault.Public()), restoring: records)
  }

  /// The time since the session's start, by a clock that is never set and stops while the machine
  /// sleeps.
  nonisolated var elapsed: Duration { startedAt.duration(to: .now) }

  /// Whether this process holds the app's store.
  var isOpen: Bool { opened != nil }

  /// Handles the connection's events until the connection ends. Opens the store first.
  package func run() async {
    while !isOpen, storeFailure == nil, !Task.isCancelled {
      try? await Task.sleep(for: timing.storeRetry)
      retryStore()
    }
    for await event in connection.events {
      switch event {
      case .connected: step(.connected)
      case .disconnected: step(.disconnected)
      case .reply(let reply):
        liveness.received(now: elapsed)
        step(.reply(reply))
      }
      processed.withLock { $0 += 1 }
    }
  }

  /// Ends the connection and releases the store, as the end of the process does.
  package func close() async {
    opened?.store.close()
    await (connection as? DeviceSocket)?.close()
  }

  func retryStore() {
    do {
      let store = try openStore()
      opened = (try Self.restore(app, security, store), store)
    } catch let error as StoreError where error == .locked {
      if let held = copy?.read() {
        ends.withLock { $0.update(held.ends) }
        publishKnown(held.known)
      }
      return
    } catch {
      storeFailure = error
      for call in calls.keys.sorted() { finish(call, .failure(error)) }
      return
    }
    publish(opened!.machine)
    publishNames()
    publishSites()
    publishManaging()
    publishSafety()
    for watcher in consentWatchers.values { watcher.yield(isConsentWithdrawn) }
    let now = elapsed
    for call in calls.keys { liveness.start(call, now: now) }
    let inputs = deferred
    deferred = []
    for input in inputs { step(input) }
    schedule()
  }

  /// The number of connection events handled so far.
  package nonisolated var eventsProcessed: Int { processed.withLock { $0 } }

  /// Whether a guardian withdrew the consent to this app.
  package var isConsentWithdrawn: Bool {
    opened?.machine.isConsentWithdrawn ?? copy?.read().isConsentWithdrawn ?? false
  }

  func step(_ input: AppMachine.Input) {
    guard opened != nil else { return deferred.append(input) }
    subscribeNewLoops()
    for effect in opened!.machine.step(input) {
      switch effect {
      case .persist(let changes): persist(changes)
      case .send(let request):
        if case .manage(let name, _) = request { unansweredStores.insert(name) }
        connection.assumeIsolated { $0.send(request) }
      case .deliver(let position, let question, let choice):
        loops.deliver(Delivery(position: position, question: question, choice: choice))
      case .asked(let id, let outcome): finishAsks(of: id, outcome)
      case .age(let id, let reply): finish(id, .success(.age(reply)))
      case .consentChanged:
        publishSites()
        for watcher in consentWatchers.values { watcher.yield(isConsentWithdrawn) }
      case .rejected(let problem):
        logger.error("rejected a message of the device: \(problem)")
      case .caughtUp: caughtUp()
      case .namesChanged: publishNames()
      case .sitesChanged: publishSites()
      case .authorized(let question, let isApproved): report(question, isApproved: isApproved)
      case .managed(let name, let problem): received(problem, ofStore: name)
      case .watched(let name, let problem): received(problem, ofActivity: name)
      case .moment(let position, let name, let number, let moment, let time):
        deliver(moment, of: name, number, position, at: time)
      case .safetyChanged: publishSafety()
      case .analyzed(let id, let analysis):
        finish(id &- firstPicture, .success(.analyzed(analysis)))
      }
    }
    publishManaging()
  }

  private func persist(_ changes: [AppRecordChange]) {
    // A failing store ends the process: without durable changes, later answers would be wrong.
    try! opened!.store.apply(changes.flatMap { try! self.changes($0) })
    let machine = opened!.machine
    let concernsReaders = changes.contains {
      switch $0 {
      case .put(.known), .remove(.known), .put(.consentWithdrawn), .remove(.consentWithdrawn),
        .forgetAll:
        true
      default: false
      }
    }
    if concernsReaders || ends.withLock({ $0.differs(from: machine) }) { publish(machine) }
  }

  /// Makes the visible handles readable on any thread, and in other processes of the app.
  private func publish(_ machine: AppMachine) {
    ends.withLock { $0.update(machine) }
    publishKnown(machine.visible)
    copy?.write(machine)
  }

  private func changes(_ change: AppRecordChange) throws(StoreError) -> [Change] {
    switch change {
    case .put(let record): return [Change(key: record.key, value: record.value)]
    case .remove(let record): return [Change(key: record.key, value: nil)]
    case .forgetAll:
      return try opened!.store.load(prefix: AppRecord.knownPrefix)
        .map { Change(key: $0.key, value: nil) }
    }
  }
}

/// The time limits of a session. Tests shorten them.
package struct SessionTiming: Sendable {
  /// The silence of the device after which a call fails.
  package var deviceSilence = Limits.deviceSilence
  /// The silence of the device after which a waiting call pings it.
  package var devicePing = Limits.devicePing
  /// How long a call waits for the app's store.
  package var storeWait = Limits.storeWait
  /// The interval between two attempts to open the store.
  package var storeRetry = Limits.storeRetry
  /// How long the first reads of known handles wait for the device.
  package var startWait = Limits.startWait
  /// How long a reader of known handles waits for the device's answer about new names.
  package var nameWait = Limits.nameWait
  /// How long the process must outlive a loop; `nil`: until ``AppSession/finishEndedLoops()``.
  package var loopGrace: Duration? = Limits.loopGrace
  /// The interval at which an app that shows pages reports their time.
  package var webUseInterval = Limits.webUseInterval
  /// The longest time of pages between two readings of their clock that counts.
  package var webUseGap = Limits.webUseGap
  /// The limits of production.
  package init() {}
}
