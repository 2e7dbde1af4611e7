import FamilyCore
public import FamilyModel
public import Foundation
public import Logging
public import RelayStore
import RelayWire
public import ServiceLifecycle
public import ZeroMQ

/// The relay's shell: takes requests in batches, lets the machine decide, makes what it decided durable in
/// one commit, and only then answers and broadcasts.
///
/// One thread does all of it. A commit that fails ends the process: a relay that does not know what is on
/// its disk must not guess.
public actor RelayService: Service {
  /// Where and how a relay runs.
  public struct Configuration: Sendable {
    /// The endpoint for requests.
    public var requests: String
    /// The endpoint for broadcasts.
    public var broadcasts: String
    /// Families held in memory; the least recently used go first.
    public var maxFamilies = 100_000
    /// A relay at these endpoints.
    public init(requests: String, broadcasts: String) {
      self.requests = requests
      self.broadcasts = broadcasts
    }
  }

  /// Most requests of one commit.
  static let batch = 4_096
  /// Milliseconds that a cursor may wait for a commit of events to come with.
  static let cursorDelay: Int64 = 200

  nonisolated let thread: SocketThread
  /// The socket thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    thread.asUnownedSerialExecutor()
  }

  let configuration: Configuration
  private let keys: RelayKeys
  let cipher: ChannelCipher
  let store: any EventStore
  let logger: Logger
  private let context: Context
  private let onReady: @Sendable () -> Void

  var machine = RelayMachine()
  private var zap: ZAPHandler?
  private var router: Socket?
  private var publisher: Socket?
  private var gate = SubscriptionGate()
  private var message = Multipart(maximumParts: 4)

  private var batch = Batch()
  private var cursorsSince: Instant?
  /// What leaves after the commit.
  private var replies: [(route: [UInt8], bytes: [UInt8])] = []
  private var broadcasts: [(topic: [UInt8], bytes: [UInt8])] = []
  private var channelKeys: [[UInt8]: [UInt8]] = [:]
  /// What the relay has seen.
  public private(set) var counters = RelayCounters()

  /// A relay that does nothing until it runs.
  ///
  /// - Parameter onReady: Called once when both sockets are bound.
  public init(
    _ configuration: Configuration, keys: RelayKeys, store: sending any EventStore,
    logger: Logger, onReady: @escaping @Sendable () -> Void = {}
  ) throws {
    self.configuration = configuration
    self.keys = keys
    self.store = store
    self.logger = logger
    self.onReady = onReady
    cipher = ChannelCipher(secret: keys.channelSecret)
    context = try Context()
    thread = try SocketThread(name: "relay")
  }

  /// Runs until the service group, or the task, ends.
  public func run() async throws {
    try start()
    try? await gracefulShutdown()
    commit()
    logger.notice("stopping", metadata: ["counters": "\(counters)"])
    thread.stop()
    store.close()
  }

  private func start() throws {
    let zap = try ZAPHandler(in: context)
    thread.watch(zap.socket) { [weak self] in self?.assumeIsolated { $0.admit() } }
    self.zap = consume zap
    var options = SocketOptions()
    options.security = .server(keys.keys)
    options.zapDomain = "relay"
    options.maximumMessageSize = Int64(Limits.frameBytes)
    options.sendHighWaterMark = 100_000
    options.receiveHighWaterMark = 100_000
    let router = try Socket(.router, in: context, options: options)
    options.xpubManual = true
    options.xpubVerboser = true
    let publisher = try Socket(.xpub, in: context, options: options)
    try publisher.bind(configuration.broadcasts)
    try router.bind(configuration.requests)
    thread.watch(publisher) { [weak self] in self?.assumeIsolated { $0.drainSubscriptions() } }
    thread.watch(router) { [weak self] in self?.assumeIsolated { $0.drainRequests() } }
    self.router = consume router
    self.publisher = consume publisher
    thread.onTurn { [weak self] _ in self?.assumeIsolated { $0.turn() } ?? nil }
    onReady()
  }

  /// Every key may connect: what it may do is decided at each request, from the family's roster.
  private func admit() {
    guarded { _ = try zap?.drain { _ in .acceptKey } }
  }

  func guarded(_ body: () throws -> Void) {
    do { try body() } catch {
      logger.critical("the relay stops: \(error)")
      exit(70)
    }
  }

  // MARK: what comes in

  private func drainRequests() {
    guarded {
      for _ in 0..<Self.batch {
        let result = try self.router!.receive(into: &self.message)
        guard result != .nothing else { break }
        self.counters.requests += 1
        guard result == .message, self.message.count == 3, self.message.bytes(1).isEmpty else {
          self.refuse(.malformed)
          continue
        }
        self.handle()
      }
      // Everything that waited is decided: one commit for all of it.
      self.commit()
    }
  }

  private func handle() {
    let route = message.bytes(0)
    do {
      let envelope = try message.withBytes(2) { bytes throws(Problem) in
        try Envelope.decode(bytes)
      }
      guard let key = message.userID.flatMap({ CurvePublicKey(z85: $0)?.bytes }) else {
        return refuse(.notEnrolled)
      }
      load(envelope.device.family)
      let input = RelayMachine.Input.request(
        envelope.device, key: key, administrator: key == keys.administrator.publicKey.bytes,
        id: envelope.requestID, envelope.request)
      for effect in machine.step(input, now: .now) { carryOut(effect, route: route) }
    } catch {
      refuse(error)
    }
  }

  /// Answers what could not be read with the number of the reason, and counts it.
  private func refuse(_ problem: Problem) {
    counters.malformed += 1
    let nobody = DeviceAddress(family: FamilyID(0), device: DeviceID(0))
    let reply = ReplyEnvelope(device: nobody, requestID: 0, reply: .failed(problem))
    replies.append((message.bytes(0), reply.encode()))
  }

  private func drainSubscriptions() {
    guarded {
      _ = try self.gate.drain(self.publisher!) { event in
        guard event.kind != .foreign else {
          self.counters.foreign += 1
          self.logger.warning(
            "a message on the broadcast socket", metadata: ["key": "\(event.userID ?? "?")"])
          return false
        }
        guard event.kind == .subscribe else { return false }
        self.counters.subscriptions += 1
        guard event.isApprovable, let meaning = self.cipher.meaning(of: event.topic),
          let key = event.userID.flatMap({ CurvePublicKey(z85: $0)?.bytes })
        else {
          self.counters.refusedSubscriptions += 1
          return false
        }
        self.load(meaning.family)
        let effects = self.machine.step(
          .subscribed(
            meaning.family, meaning.audience, generation: meaning.generation, key: key),
          now: .now)
        if effects.isEmpty { self.counters.refusedSubscriptions += 1 }
        for effect in effects { self.carryOut(effect, route: []) }
        return effects.contains(.approve)
      }
      self.commit()
    }
  }

  private func load(_ family: FamilyID) {
    guard !machine.holds(family) else { return }
    guarded {
      let stored = try self.store.load(family)
      self.machine.load(
        family, events: try stored.events.map { try Event.decode($0.payload) },
        cursors: stored.cursors.map { ($0.device, $0.cursor) }, now: .now)
      self.machine.evict(most: self.configuration.maxFamilies)
    }
  }

  // MARK: what goes out

  private func carryOut(_ effect: RelayMachine.Effect, route: [UInt8]) {
    switch effect {
    case .approve: break
    case .append(let family, let event):
      batch.events.append(
        StoredEvent(
          family: family, seq: event.seq, audience: event.audience, command: event.command,
          at: event.at, payload: event.encode()))
    case .cursor(let family, let device, let cursor):
      batch.cursors.append(StoredCursor(family: family, device: device, cursor: cursor))
      if cursorsSince == nil { cursorsSince = .now }
    case .reply(let device, let id, let reply):
      let reply = named(reply, device.family)
      let envelope = ReplyEnvelope(device: device, requestID: id, reply: reply)
      replies.append((route, envelope.encode()))
    case .page(let device, let id, let audience, let after):
      // Of the same batch: what was decided before this request is part of the page.
      commit()
      guarded {
        let page = try self.page(device.family, audience, after, Limits.pageEvents)
        let envelope = ReplyEnvelope(
          device: device, requestID: id, reply: .page(audience, page.events, more: page.more))
        self.replies.append((route, envelope.encode()))
      }
    case .broadcast(let family, let generation, let audience, let broadcast):
      publish(broadcast, family, audience, generation)
    case .republish(let family, let generation, let audience, let after, let limit):
      counters.republished += 1
      guarded {
        for event in try self.page(family, audience, after, limit).events {
          self.publish(.event(event), family, audience, generation)
        }
      }
    }
  }

  private func page(_ family: FamilyID, _ audience: Audience, _ after: UInt64, _ limit: Int) throws
    -> (events: [Event], more: Bool)
  {
    let page = try store.events(
      of: family, audience, after: after, limit: limit, bytes: Limits.pageBytes)
    return (try page.events.map { try Event.decode($0.payload) }, page.more)
  }

  /// Fills in the topics and keys, which the machine does not know.
  private func named(_ reply: Reply, _ family: FamilyID) -> Reply {
    guard case .attached(var channels) = reply else { return reply }
    for index in channels.indices {
      let channel = channels[index]
      channels[index].topic = cipher.topic(
        family, channel.audience, generation: channel.generation)
      channels[index].key = cipher.key(of: channels[index].topic)
    }
    return .attached(channels)
  }

  private func publish(
    _ broadcast: Broadcast, _ family: FamilyID, _ audience: Audience, _ generation: UInt32
  ) {
    let topic = cipher.topic(family, audience, generation: generation)
    let sealed = ChannelCipher.seal(broadcast.encode(), topic: topic, key: cipher.key(of: topic))
    broadcasts.append((topic, sealed))
  }

  /// Makes the batch durable, then lets everything go that waited for it.
  private func commit() {
    guarded {
      if !self.batch.events.isEmpty {
        try self.store.commit(self.batch)
        self.counters.commits += 1
        self.counters.events += self.batch.events.count
        self.batch = Batch()
        self.cursorsSince = nil
      }
      for (route, bytes) in self.replies {
        // Who has gone asks again; who does not read is not waited for.
        if try self.router!.send([route, [], bytes]) != .sent { self.counters.unsent += 1 }
      }
      self.replies.removeAll(keepingCapacity: true)
      for (topic, bytes) in self.broadcasts { _ = try self.publisher!.send([topic, bytes]) }
      self.broadcasts.removeAll(keepingCapacity: true)
    }
  }

  private func turn() -> UInt64? {
    let now = Instant.now
    if let due = machine.deadline, due <= now {
      for effect in machine.step(.timer, now: now) { carryOut(effect, route: []) }
      commit()
    }
    if let since = cursorsSince, since + Self.cursorDelay <= now {
      guarded {
        try self.store.commit(self.batch)
        self.batch = Batch()
        self.cursorsSince = nil
      }
    }
    let deadlines = [machine.deadline, cursorsSince.map { $0 + Self.cursorDelay }]
    guard let next = deadlines.compactMap({ $0 }).min() else { return nil }
    let milliseconds = max(1, next.milliseconds - now.milliseconds)
    return Monotonic.now() + UInt64(min(milliseconds, 3_600_000)) * 1_000_000
  }
}

/// What a relay has seen since its start.
public struct RelayCounters: Sendable {
  /// Messages on the request socket.
  public var requests = 0
  /// Of these, those that could not be read.
  public var malformed = 0
  /// Subscriptions asked for.
  public var subscriptions = 0
  /// Of these, those that were not approved.
  public var refusedSubscriptions = 0
  /// Messages on the broadcast socket that were not subscriptions.
  public var foreign = 0
  /// Commits of events.
  public var commits = 0
  /// Events made durable.
  public var events = 0
  /// Replies that could not be sent.
  public var unsent = 0
  /// Audiences of which events were published again.
  public var republished = 0
}
