import Credentials
import FamilyCore
import FamilyModel
import FamilyTrust
import RelayStore
import RelayWire
import ZeroMQ

@testable import RelayPipeline

/// A pipeline without threads whose reads a test performs, with families in a store in memory.
final class ReadFixture: PipelineSockets {
  static let key = [UInt8](repeating: 7, count: 32)
  static let device = DeviceID(30)
  static let conversation = Audience.conversation(PersonID(3))
  private static let keys = RelayKeys(
    keys: try! .generate(), administrator: try! CurveKeyPair.generate().publicKey,
    channelSecret: [UInt8](repeating: 5, count: ChannelCipher.keyBytes))

  let store = FaultyStore()
  let clock = TestClock(Instant(milliseconds: 1_795_000_000_000))
  private var pipelineInUse: Pipeline?
  var pipeline: Pipeline { pipelineInUse! }
  private var requests: [[[UInt8]]] = []
  private var lastRequest: UInt64 = 0
  /// The replies since the last call of ``takeReplies()``.
  private var replies: [ReplyEnvelope] = []
  private(set) var broadcasts = 0
  private let passes = EnrolmentPass(secret: ReadFixture.keys.channelSecret)
  /// Whether requests carry the relay's proof of enrolment.
  var hasPasses = true

  /// - Parameter families: The families in the store, from 1.
  init(families: UInt64, shards: Int = 2, maxFamilies: Int = 100_000) throws {
    var batch = Batch()
    for family in 1...families { batch.events.append(Self.roster(family)) }
    try store.base.commit(batch)
    var configuration = PipelineConfiguration()
    configuration.shards = shards
    configuration.maxFamilies = maxFamilies
    configuration.wakeThreshold = .max
    configuration.plainKey = Self.key
    configuration.cachedChannels = 64
    configuration.resultsPerFamily = 1
    configuration.makeMachine = { _ in
      RelayMachine(verify: KeyVault.verify, digest: KeyVault.digest, resultsKept: 1)
    }
    let clock = clock
    let pipeline = Pipeline(
      configuration, keys: Self.keys, store: store, sockets: self,
      clock: { clock.now }, onFailure: { _ in })
    pipeline.deferReads = { true }
    pipelineInUse = pipeline
  }

  /// Sends a request of the family's child's device.
  ///
  /// - Returns: The number of the request.
  @discardableResult
  func send(_ request: Request, in family: UInt64) -> UInt64 {
    lastRequest += 1
    let address = DeviceAddress(family: FamilyID(family), device: Self.device)
    var envelope = Envelope(device: address, requestID: lastRequest, request: request)
    if hasPasses { envelope.pass = passes.pass(address.family, Self.key) }
    requests.append([[UInt8(family & 0xFF)], [], envelope.encode()])
    return lastRequest
  }

  @discardableResult
  func post(_ id: UInt64, in family: UInt64) -> UInt64 {
    let signature = Signature(
      signer: Self.device, basedOnSeq: 1, bytes: Array(repeating: 7, count: 64))
    return send(
      .command(
        CommandID(high: 0, low: id), .post(child: PersonID(3), .text("\(id)")), signature),
      in: family)
  }

  /// Receives and handles all requests, and what was read.
  func turn() {
    pipeline.drainRequests()
    _ = pipeline.turn(uptime: .zero)
  }

  /// Performs reads until none is left.
  func read() {
    for _ in 0..<1_000 where pipeline.reads.isBusy {
      pipeline.performReads()
      turn()
    }
  }

  func takeReplies() -> [ReplyEnvelope] {
    defer { replies = [] }
    return replies
  }

  /// Whether the family is in memory.
  func holds(_ family: UInt64) -> Bool {
    var result = false
    pipeline.forEachMachine { result = result || $0.holds(FamilyID(family)) }
    return result
  }

  func evictAll() { pipeline.forEachMachine { $0.evict(downTo: 0) } }

  // MARK: PipelineSockets

  func receive(into message: inout Multipart) -> ReceiveResult {
    guard !requests.isEmpty else { return .nothing }
    message = Multipart(requests.removeFirst(), maximumParts: message.maximumParts)
    return .message
  }

  func hasReceivedAll() {}
  var epoch: UInt64 { 0 }
  func muteRequests(_ isMuted: Bool) {}
  func prove(_ descriptor: Int32, receivedIn epoch: UInt64) {}

  func reply(_ route: [UInt8], _ bytes: [UInt8]) throws -> Bool {
    let envelope = try bytes.withUnsafeBytes { try ReplyEnvelope.decode($0) }
    // The relay sends channels to a device that is late, too.
    if envelope.requestID != 0 { replies.append(envelope) }
    return true
  }

  func publish(_ topic: [UInt8], _ bytes: [UInt8]) { broadcasts += 1 }

  private static func roster(_ family: UInt64) -> StoredEvent {
    let roles: [(UInt32, Role)] = [(1, .organizer), (3, .child)]
    let roster = Roster(
      persons: roles.map { Person(id: PersonID($0), role: $1, displayName: "P\($0)") },
      devices: [10, 30].map { (id: UInt32) in
        let key = id == 30 ? Self.key : [UInt8](repeating: UInt8(id), count: 32)
        return Device(
          id: DeviceID(id), person: PersonID(id / 10), publicKey: key, signingKey: key,
          agreementKey: key)
      })
    let at = Instant(milliseconds: 1_795_000_000_000)
    let event = Event(
      seq: 1, previous: 0, audience: .family, command: CommandID(high: 0, low: 0),
      device: DeviceID(0), at: at, body: .rosterChanged(roster))
    return StoredEvent(
      family: FamilyID(family), seq: 1, audience: .family, device: DeviceID(0),
      command: event.command, at: at, payload: event.encode())
  }
}

/// A store in memory whose reads fail for some families.
///
/// Unchecked, because a test uses one thread.
final class FaultyStore: EventStore, @unchecked Sendable {
  let base = MemoryEventStore()
  /// The families whose reads fail.
  var damaged: Set<FamilyID> = []
  /// The families that were loaded, in order.
  private(set) var loads: [FamilyID] = []

  func commit(_ batch: Batch) throws(StoreError) { try base.commit(batch) }

  func snapshot(of family: FamilyID) throws(StoreError) -> StoredSnapshot? {
    try base.snapshot(of: family)
  }

  func load(_ family: FamilyID, after seq: UInt64) throws(StoreError) -> StoredFamily {
    loads.append(family)
    if damaged.contains(family) { throw .damaged("a record of the test") }
    return try base.load(family, after: seq)
  }

  func events(
    of family: FamilyID, _ audience: Audience, after seq: UInt64, through last: UInt64, limit: Int,
    bytes: Int
  ) throws(StoreError) -> (events: [StoredEvent], more: Bool) {
    if damaged.contains(family) { throw .damaged("a record of the test") }
    return try base.events(
      of: family, audience, after: seq, through: last, limit: limit, bytes: bytes)
  }

  func event(of command: CommandID, by device: DeviceID, in family: FamilyID)
    throws(StoreError) -> StoredEvent?
  {
    if damaged.contains(family) { throw .damaged("a record of the test") }
    return try base.event(of: command, by: device, in: family)
  }

  func close() {}
}
