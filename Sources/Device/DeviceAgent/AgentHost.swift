public import ContentCheck
public import Credentials
import DequeModule
package import DeviceTurn
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

/// Hosts devices: owns their sockets, their store and the clock, and carries out the effects of a
/// ``DeviceHost``.
///
/// Everything runs on one socket thread. Each transaction commits all waiting changes, before any
/// effect that depends on them is carried out.
public actor AgentHost: Service {
  /// The devices and apps of a host.
  public struct Configuration: Sendable {
    /// The devices' credentials.
    public var credentials: [Credential]
    /// The folder for the store, the apps' credentials and the device socket; mode 0700.
    public var directory: URL
    /// The apps on each child's device, with the command that launches each.
    public var apps: [AppID: [String]]
    /// The apps' manifests.
    public var manifests: [AppID: AppManifest]
    /// The desktop's notification service; `nil` shows nothing on the desktop.
    public var desktop: DesktopNotifications?
    /// Files and folders that no launched app may read, beside `directory`.
    public var secrets: [URL] = []
    /// The program that supervises apps; see ``Launcher``. Without it no app starts.
    public var launcher: String?
    /// Checks pictures for apps; `nil` answers each request of an app with a problem.
    public var checker: (any ContentChecker)?
    /// The law of all regions. All devices of a family should have the same table.
    public var regions: RegionTable
    /// The time for which texts and closed questions stay; `nil`: for good.
    public var retention: Milliseconds?
    /// A configuration for the devices of these credentials.
    public init(
      credentials: [Credential], directory: URL, apps: [AppID: [String]] = [:],
      manifests: [AppID: AppManifest] = [:], regions: RegionTable = .standard
    ) {
      self.credentials = credentials
      self.directory = directory
      self.apps = apps
      self.manifests = manifests
      self.regions = regions
    }
  }

  /// Whether the devices' state has changed since the status was written.
  var isStatusStale: Bool {
    get { host.hasChanged }
    set { host.hasChanged = newValue }
  }

  var counters: HostCounters {
    get { host.counters }
    set { host.counters = newValue }
  }

  /// Messages that one socket delivers before the other sockets are served.
  static let drainLimit = 512

  nonisolated let thread: SocketThread
  /// The socket thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    thread.asUnownedSerialExecutor()
  }

  package nonisolated let configuration: Configuration
  let responder: (any Responder)?
  let trace: Trace
  let logger: Logger
  let launcher: Launcher
  let context: Context
  let store: any AgentStore
  /// The devices.
  package let host = DeviceHost(clock: HostClock(wall: { .now }, monotonic: { .now }))
  var connections: [[UInt8]: RelayConnection] = [:]
  var apps: AppSocket?
  let localApps: (any LocalApps)?
  let observer: (any AgentObserver)?
  let verified = SignatureCache()
  /// The settled history of the devices.
  let history: HistoryFile
  /// The device that was restored last, until its settled history leaves the memory.
  private var restoredLast: DeviceAddress?
  /// The devices whose snapshots are made in the background, one after the other.
  var snapshotQueue: Deque<(device: DeviceAddress, number: UInt64)> = []
  var isMakingSnapshot = false
  /// The launches of each app that had one, or a response, since the start.
  var launches: [DeviceAddress: [AppID: LaunchRecord]] = [:]
  /// The request rates of the apps that have sent a request.
  var allowances: [DeviceAddress: [AppID: AppAllowance]] = [:]
  /// Called when a view of a device may have changed.
  var onChange: (@Sendable () -> Void)?
  var statusWritten = MonotonicInstant.machineStart
  private var failure: (any Error)?

  /// Creates a host. The devices start with ``run()``.
  ///
  /// - Parameter store: The devices' durable state, which this host alone uses.
  /// - Parameter responder: Answers prompts and bubbles; `nil` leaves them open.
  /// - Parameter localApps: Apps inside this process; `nil` for apps that are processes.
  /// - Parameter observer: Receives replies, broadcasts and durable changes; `nil` without one.
  /// - Throws: `ZeroMQError` if the socket thread cannot start.
  public init(
    _ configuration: Configuration, store: sending any AgentStore, responder: (any Responder)?,
    localApps: (any LocalApps)? = nil, observer: (any AgentObserver)? = nil, trace: Trace,
    logger: Logger
  ) throws {
    self.configuration = configuration
    launcher = Launcher(program: configuration.launcher)
    self.responder = responder
    self.localApps = localApps
    self.observer = observer
    self.trace = trace
    self.logger = logger
    self.store = store
    history = HistoryFile(
      in: configuration.directory, devices: configuration.credentials.count,
      warn: { logger.warning("\($0)") },
      fail: { message in
        logger.critical("the agent stops: \(message)")
        exit(70)
      })
    context = try Context()
    thread = try SocketThread(name: "agent")
  }

  /// Runs until a graceful shutdown or the cancellation of the task.
  ///
  /// - Throws: The error of a socket or of the store.
  public func run() async throws {
    Context.returnLargeMemory()
    try start()
    try? await gracefulShutdown()
    for address in host.devices.keys.sorted() {
      for app in configuration.apps.keys.sorted() {
        launcher.terminate(name: launchName(address, app))
      }
    }
    logger.notice("stopping", metadata: ["unusable": "\(counters)"])
    thread.stop()
    commit(host.takeBatch())
    store.close()
    if let failure { throw failure }
  }

  // MARK: Start

  func start() throws {
    if let observer {
      host.onReply = { observer.received($0, on: $1) }
      host.onBroadcast = { observer.received($0, on: $1) }
    }
    for credential in configuration.credentials {
      // At most one device has its whole history in memory.
      moveRestoredHistory()
      host.add(try restore(credential))
      restoredLast = credential.address
      // A start that is killed later keeps the snapshots of the devices before.
      commit(host.takeBatch())
      if localApps == nil { reportRestored(on: credential.address) }
      guard credential.isInFamily else { continue }
      if connections[credential.keys.publicKey.bytes] == nil { try connect(credential) }
    }
    if localApps == nil, !configuration.apps.isEmpty,
      host.devices.values.contains(where: { $0.child != nil })
    {
      warnIfUnconfined()
      apps = try AppSocket(configuration, in: context)
      thread.watch(apps!.zap.socket) { [weak self] in
        self?.assumeIsolated { $0.acceptApps() }
      }
      thread.watch(apps!.connections.monitor.socket) { [weak self] in
        self?.assumeIsolated { $0.drainAppConnections() }
      }
      thread.watch(apps!.router) { [weak self] in self?.assumeIsolated { $0.drainApps() } }
    }
    thread.onTurn { [weak self] _ in self?.assumeIsolated { $0.turn() } ?? nil }
    host.start()
    trace("ready")
  }

  /// Moves the settled history of the device that was restored last. The first turn does so for the last
  /// device, once its requests are sent.
  func moveRestoredHistory() {
    guard let address = restoredLast else { return }
    restoredLast = nil
    host.devices[address]?.moveHistory(to: history)
  }

  private func restore(_ credential: Credential) throws -> HostedDevice {
    let address = credential.address
    if let retention = configuration.retention {
      let count = try store.eraseContents(of: address, endedBy: .now - retention)
      if count > 0 { logger.notice("contents erased", metadata: ["count": "\(count)"]) }
    }
    // An observer compares all events with the cursors.
    if observer == nil {
      let (records, snapshot) = try store.recordsAfterSnapshot(
        of: address, credential.deviceKeys.snapshots)
      let device = try device(credential, records, snapshot)
      if snapshot == nil || !device.link.hasIgnoredSnapshot { return device }
    }
    let records = try store.records(of: address)
    observer?.restored(records, on: address)
    return try device(credential, records)
  }

  private func device(
    _ credential: Credential, _ records: [DeviceRecord], _ snapshot: HandedSnapshot? = nil
  ) throws -> HostedDevice {
    var records = records
    host.share(&records, of: credential.address.family)
    let pass = try store.load(prefix: credential.address.passKey).first?.value ?? []
    return Self.device(credential, records, snapshot, pass: pass, configuration, verified)
  }

  /// A device with these records.
  ///
  /// - Parameter storage: Where the history of the snapshot moves at once.
  static func device(
    _ credential: Credential, _ records: [DeviceRecord], _ snapshot: HandedSnapshot?,
    pass: [UInt8] = [], storage: HistoryFile? = nil,
    _ configuration: Configuration, _ verified: SignatureCache
  ) -> HostedDevice {
    let ids = IDSource.system
    var security = credential.security(sharing: verified)
    security.snapshots?.takeOpened = snapshot?.take
    security.snapshots?.storage = storage
    let key = credential.keys.publicKey.bytes
    if credential.role.isGuardian {
      let machine = GuardianMachine(
        credential.address, of: credential.personID, security: security,
        hostAnnouncesPresence: true, restoring: records, ids: ids, blind: PasscodeCipher.blind)
      return HostedDevice(machine, key: key, pass: pass)
    }
    let machine = ChildMachine(
      credential.address, of: credential.personID, isInFamily: credential.isInFamily,
      apps: configuration.apps.keys.sorted(), manifests: configuration.manifests,
      regions: configuration.regions,
      security: security, hostAnnouncesPresence: true, restoring: records, ids: ids,
      calendar: Account.Day.init(_:in:), blind: PasscodeCipher.blind)
    return HostedDevice(machine, key: key, isInFamily: credential.isInFamily, pass: pass)
  }

  /// The credential of a hosted device.
  func credential(of address: DeviceAddress) -> Credential? {
    configuration.credentials.first { $0.address == address }
  }

  /// Runs the body. An error of a socket or of the store ends the process; no durable state is
  /// lost.
  func guarded(_ body: () throws -> Void) {
    do { try body() } catch { fail(error) }
  }

  func fail(_ error: any Error) {
    guard failure == nil else { return }
    failure = error
    logger.critical("the agent stops: \(error)")
    // Fail-stop: a supervisor restarts the agent, which restores its durable state.
    exit(70)
  }
}
