public import Credentials
import FamilyCore
public import FamilyModel
import FamilyTrust
public import Foundation
public import Logging
public import RelayStore
import RelayWire
public import ServiceLifecycle
import SystemClock
import ZeroMQ

/// Hosts devices: owns their sockets, their store and the clock, feeds their machines, and carries out
/// what the machines want done.
///
/// Everything runs on one socket thread. Of a turn, all changes of durable state are one transaction, and
/// they are durable before anything of that turn is sent.
public actor AgentHost: Service {
  /// What a host is made of.
  public struct Configuration: Sendable {
    /// The devices.
    public var credentials: [Credential]
    /// The folder for the store, the apps' credentials and the device socket; mode 0700.
    public var directory: URL
    /// The apps that are installed on each child's device, and how they are launched.
    public var apps: [AppID: [String]]
    /// What the apps say of themselves.
    public var manifests: [AppID: AppManifest]
    /// A configuration of these parts.
    public init(
      credentials: [Credential], directory: URL, apps: [AppID: [String]] = [:],
      manifests: [AppID: AppManifest] = [:]
    ) {
      self.credentials = credentials
      self.directory = directory
      self.apps = apps
      self.manifests = manifests
    }
  }

  /// Most messages that one socket gives before another has its turn.
  static let drainLimit = 512
  /// Questions that have their turn in one turn of the thread, which first takes all that has come: what ends
  /// questions comes before what begins them, and a host that is late is not later with each one.
  private static let questionsATurn = 32
  /// Nanoseconds that a durable change waits for company when nothing is sent because of it.
  private static let unhurried: UInt64 = 5_000_000

  nonisolated let thread: SocketThread
  /// The socket thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    thread.asUnownedSerialExecutor()
  }

  package nonisolated let configuration: Configuration
  let responder: (any Responder)?
  let trace: Trace
  let logger: Logger
  let launcher = Launcher()
  let context: Context
  private let store: any AgentStore
  var devices: [DeviceAddress: HostedDevice] = [:]
  var connections: [[UInt8]: RelayConnection] = [:]
  var apps: AppSocket?
  let localApps: (any LocalApps)?
  let observer: (any AgentObserver)?
  /// When each device wants to be looked at: a host may have many thousands.
  private var timers = TimerQueue<DeviceAddress>()
  var attachQueue = AttachQueue()
  var rosters = SharedRosters()
  private let verified = Verified()
  /// When memory is given back that the attachment of many took.
  var trimAt: Instant?

  private var changes: [Change] = []
  /// When they are committed at the latest.
  private var changesDue: UInt64?
  /// The same changes before they are encoded, for the observer.
  private var observed: [(DeviceAddress, [RecordChange])] = []
  private var clock = ClockWatch()
  private var effects: [(DeviceAddress, DeviceEffect)] = []
  var statusIsStale = true
  /// Who wants to know that something may look different.
  var onChange: (@Sendable () -> Void)?
  var statusWritten = Instant(milliseconds: 0)
  private var failure: (any Error)?
  var counters = AgentCounters()

  /// A host that does nothing until it runs.
  ///
  /// - Parameters:
  ///   - store: The devices' durable state; used by this host alone.
  ///   - responder: Answers prompts and bubbles; `nil`: nobody does.
  ///   - localApps: The apps, where they are no processes of their own.
  ///   - observer: Is told what passes, where somebody wants to know.
  public init(
    _ configuration: Configuration, store: sending any AgentStore, responder: (any Responder)?,
    localApps: (any LocalApps)? = nil, observer: (any AgentObserver)? = nil, trace: Trace,
    logger: Logger
  ) throws {
    self.configuration = configuration
    self.responder = responder
    self.localApps = localApps
    self.observer = observer
    self.trace = trace
    self.logger = logger
    self.store = store
    context = try Context()
    thread = try SocketThread(name: "agent")
  }

  /// Runs until the service group, or the task, ends.
  public func run() async throws {
    try start()
    try? await gracefulShutdown()
    for device in devices.values.sorted(by: { $0.link.address < $1.link.address }) {
      for app in configuration.apps.keys.sorted() {
        launcher.terminate(name: launchName(device.link.address, app))
      }
    }
    logger.notice("stopping", metadata: ["unusable": "\(counters)"])
    thread.stop()
    commit()
    store.close()
    if let failure { throw failure }
  }

  // MARK: start

  func start() throws {
    let now = Instant.now
    for credential in configuration.credentials {
      let device = try restore(credential)
      devices[credential.address] = device
      guard credential.isInFamily else { continue }
      if connections[credential.keys.publicKey.bytes] == nil { try connect(credential) }
    }
    if localApps == nil, !configuration.apps.isEmpty,
      devices.values.contains(where: { $0.child != nil })
    {
      apps = try AppSocket(configuration, in: context)
      thread.watch(apps!.zap.socket) { [weak self] in
        self?.assumeIsolated { $0.admitApps() }
      }
      thread.watch(apps!.router) { [weak self] in self?.assumeIsolated { $0.drainApps() } }
    }
    thread.onTurn { [weak self] _ in self?.assumeIsolated { $0.turn() } ?? nil }
    for device in devices.values.sorted(by: { $0.link.address < $1.link.address }) {
      perform(device.guardian?.step(.started, now: now) ?? [], for: device.link.address)
    }
    trace("ready")
  }

  private func restore(_ credential: Credential) throws -> HostedDevice {
    var records = try store.load(prefix: credential.address.prefix).map { record in
      try DeviceRecord.decode(key: Array(record.key.dropFirst(12)), value: record.value)
    }
    rosters.share(&records, of: credential.address.family)
    observer?.restored(records, on: credential.address)
    let ids = IDSource(seed: .random(in: .min ... .max))
    let security = credential.security(sharing: verified)
    if credential.role.isGuardian {
      let machine = GuardianMachine(
        credential.address, of: credential.personID, security: security,
        hostAnnouncesPresence: true, restoring: records, ids: ids)
      return HostedDevice(credential, guardian: machine)
    }
    let machine = ChildMachine(
      credential.address, of: credential.personID, isInFamily: credential.isInFamily,
      apps: configuration.apps.keys.sorted(), manifests: configuration.manifests,
      security: security, hostAnnouncesPresence: true, restoring: records, ids: ids,
      calendar: Account.Day.init(_:in:))
    return HostedDevice(credential, child: machine)
  }

  /// Runs the body; a failure of a socket or of the store ends the host, which loses nothing.
  func guarded(_ body: () throws -> Void) {
    do { try body() } catch { fail(error) }
  }

  func fail(_ error: any Error) {
    guard failure == nil else { return }
    failure = error
    logger.critical("the agent stops: \(error)")
    // Fail-stop: a supervisor starts it again, and everything durable is there.
    exit(70)
  }

  // MARK: turns

  /// Queues what a step wants done: durable changes first, the rest after they are durable.
  func perform(_ wanted: [DeviceEffect], for address: DeviceAddress) {
    if let deadline = devices[address]?.deadline { timers.set(address, deadline) }
    for effect in wanted {
      if case .persist(let records) = effect {
        changes += records.map { Change($0, under: address.prefix) }
        changesDue = changesDue ?? Monotonic.now() + Self.unhurried
        if observer != nil { observed.append((address, records)) }
        statusIsStale = true
      } else if case .requestAdmission(let question) = effect {
        enqueue(question, of: address)
      } else {
        effects.append((address, effect))
      }
    }
  }

  /// Ends a turn: timers, and where something waits for it, or has waited long enough, the transaction and then
  /// everything that waited for it.
  private func turn() -> UInt64? {
    let now = Instant.now
    if clock.isSetBack(now, monotonic: Monotonic.now()) {
      statusWritten = min(statusWritten, now)
      timers.hasten(now)
      for address in devices.keys.sorted() {
        perform(devices[address]!.clockSetBack(now), for: address)
      }
    }
    var due: [DeviceAddress] = []
    while let address = timers.next(now) { due.append(address) }
    for address in due {
      guard let device = devices[address], let deadline = device.deadline else { continue }
      // The queue holds the earliest moment that the device ever wanted: it may want a later one now.
      if deadline <= now {
        perform(device.timer(now), for: address)
      } else {
        timers.set(address, deadline)
      }
    }
    speakForAll()
    attachNext()
    trim(now)
    var room = Self.questionsATurn
    admit(&room)
    while !effects.isEmpty || changesDue.map({ $0 <= Monotonic.now() }) ?? false {
      commit()
      let wanted = effects
      effects = []
      for (address, effect) in wanted { carryOut(effect, for: address) }
      admit(&room)
    }
    if statusIsStale { onChange?() }
    writeStatus(now)
    guarded { for connection in connections.values { try connection.revive() } }
    return nextTurn(after: now)
  }

  private func commit() {
    guarded {
      if !self.changes.isEmpty { try self.store.apply(self.changes) }
      self.changes.removeAll(keepingCapacity: true)
    }
    changesDue = nil
    for (address, records) in observed { observer?.madeDurable(records, on: address) }
    observed.removeAll(keepingCapacity: true)
  }

  /// When there is something to do even if nothing happens, in nanoseconds of `Monotonic`.
  private func nextTurn(after now: Instant) -> UInt64? {
    if hasQuestions { return Monotonic.now() }
    let status = statusIsStale ? statusWritten + Self.statusInterval : nil
    let wall = [timers.deadline, status, trimAt].compactMap { $0 }.min()
    let due = wall.map { wall in
      let milliseconds = max(1, min(wall.milliseconds - now.milliseconds, 3_600_000))
      return Monotonic.now() + UInt64(milliseconds) * 1_000_000
    }
    return (connections.values.map(\.deadline) + [due, changesDue]).compactMap { $0 }.min()
  }
}

/// What an agent received and could not use.
struct AgentCounters: Hashable {
  /// Replies of the relay that cannot be read, or that are for no hosted device.
  var replies = 0
  /// Broadcasts that cannot be opened with the key of their channel, or not be read.
  var broadcasts = 0
  /// Events that were not believed.
  var disbelieved = 0
  /// Messages of apps that cannot be read.
  var apps = 0
}
