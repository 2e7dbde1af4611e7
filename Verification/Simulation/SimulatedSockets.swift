import Credentials
import FamilyCore
import FamilyModel
import RelayPipeline
import RelayStore
import RelayWire
import ZeroMQ

/// The sockets of the simulated relay. Each send is an effect at whose boundary the relay may crash.
final class SimulatedSockets: PipelineSockets {
  /// The end of the process in the middle of an effect.
  struct Crashed: Error {}

  private unowned let world: World
  /// The requests that wait, with the keys of their connections.
  private var waiting: [(parts: [[UInt8]], key: [UInt8])] = []

  init(_ world: World) { self.world = world }

  func enqueue(_ envelope: Envelope, of device: Int, _ connection: Int, key: [UInt8]) {
    waiting.append(([Self.route(device, connection), [], envelope.encode()], key))
  }

  func receive(into message: inout Multipart) -> ReceiveResult {
    guard !waiting.isEmpty else { return .nothing }
    let (parts, key) = waiting.removeFirst()
    message = Multipart(parts, maximumParts: message.maximumParts, statedKey: key)
    return .message
  }

  func hasReceivedAll() {}
  var epoch: UInt64 { 0 }
  func muteRequests(_ isMuted: Bool) {}
  func prove(_ descriptor: Int32, receivedIn epoch: UInt64) {}

  func reply(_ route: [UInt8], _ bytes: [UInt8]) throws -> Bool {
    guard world.relaySurvives() else { throw Crashed() }
    let (device, connection) = Self.peer(route)
    let envelope = try bytes.withUnsafeBytes { try ReplyEnvelope.decode($0) }
    world.relayReplies(envelope, to: device, connection)
    return true
  }

  func publish(_ topic: [UInt8], _ frame: [UInt8]) throws {
    guard world.relaySurvives() else { throw Crashed() }
    // Broadcasts are not sealed.
    guard let inbox = Inbox(bytes: topic), let message = SealedBroadcast(frame: frame) else {
      return
    }
    let broadcast = world.withOriginalID(try Broadcast.decode(message.sealed))
    world.publish(broadcast, message.topic, on: inbox)
  }

  private static func route(_ device: Int, _ connection: Int) -> [UInt8] {
    ID128(high: UInt64(bitPattern: Int64(connection)), low: UInt64(bitPattern: Int64(device))).bytes
  }

  private static func peer(_ route: [UInt8]) -> (device: Int, connection: Int) {
    let number = ID128(bytes: route)!
    return (Int(Int64(bitPattern: number.low)), Int(Int64(bitPattern: number.high)))
  }
}

/// The disk of the simulated relay as its pipeline uses it, with crashes before and after each write.
///
/// Unchecked, because a simulation has one thread.
final class SimulatedStore: EventStore, @unchecked Sendable {
  private unowned let world: World
  private var disk: RelayDisk { world.relay.disk }

  init(_ world: World) { self.world = world }

  func commit(_ batch: Batch) throws(StoreError) {
    guard world.relaySurvives() else { throw .io("crash") }
    let batch = world.mutated(batch)
    try disk.write(batch, &world.random)
    // A reset may be durable from here on, a guess counts when it is.
    world.recordResets(batch)
    // The batch is written but not synced: a power loss may take it.
    guard world.relaySurvives() else {
      world.reach(.relayCrashesInCommit)
      throw .io("crash")
    }
    if disk.syncs { try disk.sync(ignoringErrors: world.mutant == .syncError) }
    guard world.relaySurvives() else { throw .io("crash") }
  }

  func snapshot(of family: FamilyID) throws(StoreError) -> StoredSnapshot? {
    try world.relayReads()
    return try disk.snapshot(of: family)
  }

  func load(_ family: FamilyID, after seq: UInt64) throws(StoreError) -> StoredFamily {
    try world.relayReads()
    return world.mutated(try disk.load(family, after: seq), after: seq, of: family)
  }

  func events(
    of family: FamilyID, _ audience: Audience, after seq: UInt64, through last: UInt64, limit: Int,
    bytes: Int
  ) throws(StoreError) -> (events: [StoredEvent], more: Bool) {
    try world.relayReads()
    return try disk.events(
      of: family, audience, after: seq, through: last, limit: limit, bytes: bytes)
  }

  func event(of command: CommandID, by device: DeviceID, in family: FamilyID)
    throws(StoreError) -> StoredEvent?
  {
    try world.relayReads()
    return try disk.event(of: command, by: device, in: family)
  }

  func close() {}
}
