import FamilyCore
import FamilyModel
import FamilyTrust
import Foundation
import Logging
import RelayRuntime
import RelayStore
import RelayWire
import SQLiteStore
import ZeroMQ

/// How long a test waits for what must come, in milliseconds: what does not come at all is the failure, not what is late.
let patience = 60_000

/// A relay in this process, in a folder of its own, with real sockets and a real store.
final class Rig: Sendable {
  let folder: URL
  let requests: String
  let broadcasts: String
  let keys: RelayKeys
  let administrator: AdministratorCredential
  let service: RelayService
  private let task: Task<Void, any Error>

  /// Families of the rig: organizer 1 with device 10, children 3 and 4 with 30 and 40, adult 5 with 50.
  static let devices: [UInt32] = [10, 30, 40, 50]

  static func newFolder() -> URL {
    FileManager.default.temporaryDirectory.appendingPathComponent(
      "rs-\(UUID().uuidString.prefix(8))")
  }

  init(
    in folder: URL = Rig.newFolder(), maxFamilies: Int = 1_000, mostRequests: Int? = nil,
    forkedRequests: Int = 2, lanes: Int = 3, overTCP: Bool = false, maxConnections: Int? = nil,
    wrap: (SQLiteEventStore) -> any EventStore = { $0 }
  ) async throws {
    self.folder = folder
    requests = try overTCP ? Rig.freeEndpoint() : RelayKeys.requests(in: folder)
    broadcasts = try overTCP ? Rig.freeEndpoint() : RelayKeys.broadcasts(in: folder)
    keys = try RelayKeys.create(in: folder, requests: requests, broadcasts: broadcasts)
    administrator = try AdministratorCredential.read(
      from: AdministratorCredential.file(in: folder))
    var configuration = RelayService.Configuration(requests: requests, broadcasts: broadcasts)
    configuration.maxFamilies = maxFamilies
    if let mostRequests { configuration.mostRequests = mostRequests }
    configuration.maxConnections = maxConnections
    configuration.lanes = lanes
    // Batches of tests are small, and shall wake the threads nevertheless.
    configuration.forkedRequests = forkedRequests
    configuration.slice = 2
    nonisolated(unsafe) let store = wrap(
      try SQLiteEventStore(path: folder.appendingPathComponent("relay.sqlite").path))
    var logger = Logger(label: "relay") { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = .critical
    let (ready, continuation) = AsyncStream.makeStream(of: Void.self)
    let service = try RelayService(configuration, keys: keys, store: store, logger: logger) {
      continuation.finish()
    }
    self.service = service
    task = Task { try await service.run() }
    for await _ in ready {}
  }

  /// An endpoint on this machine that nobody uses.
  private static func freeEndpoint() throws -> String {
    let socket = try Socket(.dealer, in: try Context())
    try socket.bind("tcp://127.0.0.1:*")
    return try socket.lastEndpoint()
  }

  /// Asks the relay to end.
  func askToStop() { task.cancel() }

  /// Ends the relay; throws what it failed with.
  func stop() async throws {
    askToStop()
    try await task.value
  }

  func failure() async -> (any Error)? {
    do {
      try await task.value
      return nil
    } catch { return error }
  }

  /// Makes a family; gives the key of each of its devices.
  func found(_ family: UInt64) throws -> [UInt32: CurveKeyPair] {
    var pairs: [UInt32: CurveKeyPair] = [:]
    for device in Rig.devices { pairs[device] = try .generate() }
    try setRoster(family, pairs)
    return pairs
  }

  func setRoster(_ family: UInt64, _ pairs: [UInt32: CurveKeyPair]) throws {
    let roles: [(UInt32, Role)] = [(1, .organizer), (3, .child), (4, .child), (5, .adult)]
    let roster = Roster(
      persons: roles.map { Person(id: PersonID($0), role: $1, displayName: "P\($0)") },
      devices: pairs.map {
        Device(
          id: DeviceID($0), person: PersonID($0 / 10), publicKey: $1.publicKey.bytes,
          keys: Rig.deviceKeys($0))
      })
    var administrator = try Administrator(administrator)
    let address = DeviceAddress(family: FamilyID(family), device: DeviceID(10))
    let events = try administrator.history(of: .family, in: address.family)
    var organizer = GuardianMachine(
      address, of: PersonID(1), security: Rig.security(10), restoring: events.map { .event($0) },
      ids: IDSource(seed: .random(in: .min ... .max)))
    try administrator.send(
      organizer.prepare(.setRoster(roster), now: .now), to: address.family)
  }

  /// The same for a device of each family: a test may ask for them at any time.
  static func deviceKeys(_ device: UInt32) -> DeviceKeys {
    let secret = [UInt8](repeating: UInt8(device), count: 32)
    return DeviceKeys(signingSecret: secret, agreementSecret: secret)!
  }

  static func security(_ device: UInt32) -> Security {
    Security(KeyVault(deviceKeys(device)), organizerKey: deviceKeys(10).signingKey)
  }

  /// A visit under the credential of a device of the family.
  func visit(_ family: UInt64, _ device: UInt32, _ role: Role, _ keys: [UInt32: CurveKeyPair])
    throws -> DeviceClient
  {
    try DeviceClient(
      Credential(
        address: DeviceAddress(family: FamilyID(family), device: DeviceID(device)),
        personID: PersonID(device / 10), role: role, name: "P\(device / 10)", keys: keys[device]!,
        deviceKeys: Rig.deviceKeys(device), organizerKey: Rig.deviceKeys(10).signingKey,
        relayKey: self.keys.keys.publicKey, requests: RelayKeys.requests(in: folder),
        broadcasts: RelayKeys.broadcasts(in: folder)))
  }

  func peer(_ family: UInt64, _ device: UInt32, _ keys: CurveKeyPair?, _ kind: SocketKind = .dealer)
    throws -> Peer
  {
    try Peer(self, family, device, keys ?? .generate(), kind)
  }
}

/// A device with blocking sockets.
final class Peer {
  let address: DeviceAddress
  private let requests: Socket
  private let broadcasts: Socket
  private let isPlain: Bool
  private(set) var channels: [Audience: Channel] = [:]
  /// Broadcasts that came and could not be opened.
  private(set) var unopened = 0
  private var lastID: UInt64 = 0
  /// Whether commands go out as they are given.
  var sendsUnsigned = false

  init(
    _ rig: Rig, _ family: UInt64, _ device: UInt32, _ keys: CurveKeyPair, _ kind: SocketKind
  ) throws {
    address = DeviceAddress(family: FamilyID(family), device: DeviceID(device))
    isPlain = kind == .req
    let context = try Context()
    var options = SocketOptions()
    options.maximumMessageSize = 8 << 20
    options.sendHighWaterMark = 100_000
    options.receiveHighWaterMark = 100_000
    options.security = .client(keys, server: rig.keys.keys.publicKey)
    let requests = try Socket(kind, in: context, options: options)
    let broadcasts = try Socket(.sub, in: context, options: options)
    try requests.connect(rig.requests)
    try broadcasts.connect(rig.broadcasts)
    self.requests = requests
    self.broadcasts = broadcasts
  }

  func sendRaw(_ frames: [[UInt8]]) throws { _ = try requests.send(frames) }

  func receive(within milliseconds: Int = patience) throws -> ReplyEnvelope? {
    guard try requests.waitUntilReadable(milliseconds: milliseconds),
      let message = try requests.receive()
    else { return nil }
    return try message.withBytes(message.count - 1) { bytes throws(Problem) in
      try ReplyEnvelope.decode(bytes)
    }
  }

  /// Sends; a command without a signature is given one of the right shape, which is all that the relay looks at.
  func send(_ request: Request) throws {
    lastID += 1
    var request = request
    if case .command(let id, let command, nil) = request, !sendsUnsigned {
      request = .command(id, command, .shape(of: address.device))
    }
    let body = Envelope(device: address, requestID: lastID, request: request).encode()
    try sendRaw(isPlain ? [body] : [[], body])
  }

  /// A request in the name of a family that may not be there.
  func guess(_ family: UInt64) -> [UInt8] {
    let device = DeviceAddress(family: FamilyID(family), device: DeviceID(1))
    return Envelope(device: device, requestID: family, request: .ping).encode()
  }

  func ask(_ request: Request, within milliseconds: Int = patience) throws -> Reply? {
    try send(request)
    while let reply = try receive(within: milliseconds) {
      if reply.requestID == lastID { return reply.reply.opened() }
    }
    return nil
  }

  func post(_ text: String, child: UInt32 = 3, id: CommandID = .next) throws -> Reply? {
    try ask(.command(id, .post(child: PersonID(child), .text(text))))
  }

  /// Attaches, and subscribes to what it is told.
  func attach(_ cursors: [Cursor] = []) throws {
    guard case .attached(let list) = try ask(.attach(cursors)) else { throw Problem.notEnrolled }
    for channel in list {
      channels[channel.audience] = channel
      try broadcasts.subscribe(channel.topic)
    }
  }

  func subscribe(_ topic: [UInt8]) throws { try broadcasts.subscribe(topic) }

  func subscribeAnew() throws {
    for channel in channels.values {
      try broadcasts.unsubscribe(channel.topic)
      try broadcasts.subscribe(channel.topic)
    }
  }

  /// Whether the event comes, after whatever else.
  func hears(seq: UInt64) throws -> Bool {
    while let event = try event() { if event.seq == seq { return true } }
    return false
  }

  func broadcast(within milliseconds: Int = patience) throws -> Broadcast? {
    guard try broadcasts.waitUntilReadable(milliseconds: milliseconds),
      let message = try broadcasts.receive()
    else { return nil }
    let topic = message.bytes(0)
    guard let channel = channels.values.first(where: { $0.topic == topic }),
      let bytes = ChannelCipher.open(message.bytes(1), topic: topic, key: channel.key)
    else {
      unopened += 1
      return try broadcast(within: milliseconds)
    }
    return try Broadcast.decode(bytes).opened()
  }

  /// The next event on any channel.
  func event(within milliseconds: Int = patience) throws -> Event? {
    while let next = try broadcast(within: milliseconds) {
      if case .event(let event) = next { return event }
    }
    return nil
  }

  /// The texts of the child's conversation, by fetch.
  func texts(after: UInt64 = 0, child: UInt32 = 3) throws -> [String] {
    let fetch = Request.fetch(.conversation(PersonID(child)), after: after)
    guard case .page(_, let events, _) = try ask(fetch) else { return [] }
    return events.compactMap {
      if case .posted(_, .text(let text)) = $0.body { text } else { nil }
    }
  }
}

extension CommandID {
  /// Later than those before it, as a device makes them.
  static var next: CommandID { CommandID(high: Monotonic.now(), low: .random(in: 0 ... .max)) }
}

/// A store that tells of its commits, takes its time, or fails.
final class WatchedStore: EventStore {
  enum Mode: Sendable { case slow(milliseconds: UInt32), failing }
  private let store: SQLiteEventStore
  private let mode: @Sendable (Batch) -> Mode?

  init(_ store: SQLiteEventStore, _ mode: @escaping @Sendable (Batch) -> Mode?) {
    self.store = store
    self.mode = mode
  }

  func commit(_ batch: Batch) throws(StoreError) {
    switch mode(batch) {
    case .slow(let milliseconds): usleep(milliseconds * 1_000)
    case .failing: throw .full
    case nil: break
    }
    try store.commit(batch)
  }
  func snapshot(of family: FamilyID) throws(StoreError) -> StoredSnapshot? {
    try store.snapshot(of: family)
  }
  func load(_ family: FamilyID, after seq: UInt64) throws(StoreError) -> StoredFamily {
    try store.load(family, after: seq)
  }
  func events(of family: FamilyID, _ audience: Audience, after seq: UInt64, limit: Int, bytes: Int)
    throws(StoreError) -> (events: [StoredEvent], more: Bool)
  {
    try store.events(of: family, audience, after: seq, limit: limit, bytes: bytes)
  }
  func seq(of command: CommandID, in family: FamilyID) throws(StoreError) -> UInt64? {
    try store.seq(of: command, in: family)
  }
  func close() { store.close() }
}

extension Signature {
  /// One of the right shape, which is all that the relay looks at.
  static func shape(of signer: DeviceID) -> Signature {
    Signature(signer: signer, seen: 1, bytes: Array(repeating: 7, count: 64))
  }
}
