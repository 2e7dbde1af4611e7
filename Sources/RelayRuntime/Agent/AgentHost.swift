import FamilyCore
public import FamilyModel
public import Foundation
public import Logging
public import RelayStore
import RelayWire
public import ServiceLifecycle
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
    /// A configuration of these parts.
    public init(credentials: [Credential], directory: URL, apps: [AppID: [String]] = [:]) {
      self.credentials = credentials
      self.directory = directory
      self.apps = apps
    }
  }

  /// Most messages that one socket gives before another has its turn.
  static let drainLimit = 512

  nonisolated let thread: SocketThread
  /// The socket thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    thread.asUnownedSerialExecutor()
  }

  let configuration: Configuration
  let responder: (any Responder)?
  let trace: Trace
  let logger: Logger
  let launcher = Launcher()
  private let context: Context
  private let store: any AgentStore
  var devices: [DeviceAddress: HostedDevice] = [:]
  private var connections: [[UInt8]: RelayConnection] = [:]
  /// Who listens to a topic.
  private var listeners: [[UInt8]: [DeviceAddress]] = [:]
  var apps: AppSocket?

  private var changes: [Change] = []
  private var effects: [(DeviceAddress, DeviceEffect)] = []
  var statusIsStale = true
  var statusWritten = Instant(milliseconds: 0)
  private var failure: (any Error)?
  private var counters = AgentCounters()

  /// A host that does nothing until it runs.
  ///
  /// - Parameters:
  ///   - store: The devices' durable state; used by this host alone.
  ///   - responder: Answers prompts and bubbles; `nil`: nobody does.
  public init(
    _ configuration: Configuration, store: sending any AgentStore, responder: (any Responder)?,
    trace: Trace, logger: Logger
  ) throws {
    self.configuration = configuration
    self.responder = responder
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
    thread.stop()
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
    if devices.values.contains(where: { $0.child != nil }), !configuration.apps.isEmpty {
      apps = try AppSocket(configuration, in: context)
      thread.watch(apps!.zap.socket) { [weak self] in
        self?.assumeIsolated { $0.admitApps() }
      }
      thread.watch(apps!.router) { [weak self] in self?.assumeIsolated { $0.drainApps() } }
    }
    thread.onTurn { [weak self] _ in self?.assumeIsolated { $0.turn() } ?? nil }
    for device in devices.values.sorted(by: { $0.link.address < $1.link.address }) {
      if let shown = device.guardian?.step(.started, now: now) {
        perform(shown, for: device.link.address)
      }
    }
    trace("ready")
  }

  private func restore(_ credential: Credential) throws -> HostedDevice {
    let records = try store.load(prefix: credential.address.prefix).map { record in
      try DeviceRecord.decode(key: Array(record.key.dropFirst(12)), value: record.value)
    }
    let ids = IDSource(seed: .random(in: .min ... .max))
    if credential.role.isGuardian {
      let machine = GuardianMachine(
        credential.address, of: credential.personID, restoring: records, ids: ids)
      return HostedDevice(credential, guardian: machine)
    }
    let machine = ChildMachine(
      credential.address, of: credential.personID, isInFamily: credential.isInFamily,
      apps: configuration.apps.keys.sorted(), restoring: records, ids: ids,
      digest: SubjectDigest(credential).callAsFunction)
    return HostedDevice(credential, child: machine)
  }

  private func connect(_ credential: Credential) throws {
    let key = credential.keys.publicKey.bytes
    let connection = try RelayConnection(credential, in: context)
    connections[key] = connection
    thread.watch(connection.requests) { [weak self] in
      self?.assumeIsolated { $0.drainReplies(key) }
    }
    thread.watch(connection.broadcasts) { [weak self] in
      self?.assumeIsolated { $0.drainBroadcasts(key) }
    }
    thread.watch(connection.monitorSocket) { [weak self] in
      self?.assumeIsolated { $0.drainMonitor(key) }
    }
  }

  private func admitApps() { guarded { try apps?.admit() } }

  // MARK: sockets

  private func drainMonitor(_ key: [UInt8]) {
    guard let connection = connections[key] else { return }
    guarded {
      for change in try connection.changes() {
        if case .refused = change {
          logger.warning("the relay refused our key, or is not the relay that we know")
        }
        for address in self.devices.keys.sorted() {
          guard let device = self.devices[address],
            device.credential.keys.publicKey.bytes == key, device.credential.isInFamily
          else { continue }
          switch change {
          case .up: self.perform(device.connected(.now), for: address)
          case .down: self.perform(device.disconnected(.now), for: address)
          case .refused: break
          }
        }
      }
    }
  }

  private func drainReplies(_ key: [UInt8]) {
    guard let connection = connections[key] else { return }
    guarded {
      try connection.drainReplies(limit: Self.drainLimit) { bytes in
        guard let envelope = try? ReplyEnvelope.decode(bytes),
          let device = self.devices[envelope.device]
        else { return self.counters.malformed += 1 }
        let reply = envelope.reply.opened()
        self.perform(device.reply(envelope.requestID, reply, .now), for: envelope.device)
      }
    }
  }

  private func drainBroadcasts(_ key: [UInt8]) {
    guard let connection = connections[key] else { return }
    guarded {
      try connection.drainBroadcasts(limit: Self.drainLimit) { topic, sealed in
        guard let addresses = self.listeners[topic], let first = addresses.first,
          let key = self.devices[first]?.channels[topic],
          let bytes = ChannelCipher.open(sealed, topic: topic, key: key),
          let broadcast = try? Broadcast.decode(bytes)
        else { return self.counters.unopened += 1 }
        let opened = broadcast.opened()
        for address in addresses {
          guard let device = self.devices[address] else { continue }
          self.perform(device.broadcast(opened, .now), for: address)
        }
      }
    }
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
    for effect in wanted {
      if case .persist(let records) = effect {
        changes += records.map { Change($0, under: address.prefix) }
        statusIsStale = true
      } else {
        effects.append((address, effect))
      }
    }
  }

  /// Ends a turn: timers, the transaction, then everything that waited for it.
  private func turn() -> UInt64? {
    let now = Instant.now
    for address in devices.keys.sorted() {
      guard let device = devices[address], let deadline = device.deadline, deadline <= now else {
        continue
      }
      perform(device.timer(now), for: address)
    }
    repeat {
      guarded {
        if !self.changes.isEmpty { try self.store.apply(self.changes) }
        self.changes.removeAll(keepingCapacity: true)
      }
      let wanted = effects
      effects = []
      for (address, effect) in wanted { carryOut(effect, for: address) }
    } while !effects.isEmpty || !changes.isEmpty
    writeStatus(now)
    let deadline = devices.values.compactMap(\.deadline).min()
    let status = statusIsStale ? statusWritten + Self.statusInterval : nil
    guard let next = [deadline, status].compactMap({ $0 }).min() else { return nil }
    let milliseconds = max(1, next.milliseconds - now.milliseconds)
    return Monotonic.now() + UInt64(min(milliseconds, 3_600_000)) * 1_000_000
  }

  func send(_ id: UInt64, _ request: Request, of address: DeviceAddress) {
    guard let device = devices[address],
      let connection = connections[device.credential.keys.publicKey.bytes]
    else { return }
    let envelope = Envelope(device: address, requestID: id, request: request)
    // Full or not connected: the machine's timers send it again.
    guarded { _ = try connection.requests.send([[], envelope.encode()]) }
  }

  func listen(_ channels: [Channel], of address: DeviceAddress) {
    guard let device = devices[address],
      let connection = connections[device.credential.keys.publicKey.bytes]
    else { return }
    let wanted = Dictionary(channels.map { ($0.topic, $0.key) }) { first, _ in first }
    guarded {
      for topic in device.channels.keys where wanted[topic] == nil {
        self.listeners[topic]?.removeAll { $0 == address }
        try connection.stopListening(topic)
      }
      for topic in wanted.keys where device.channels[topic] == nil {
        self.listeners[topic, default: []].append(address)
        try connection.listen(topic)
      }
    }
    device.channels = wanted
  }
}

/// What an agent saw and could not use.
struct AgentCounters {
  var malformed = 0
  var unopened = 0
}
