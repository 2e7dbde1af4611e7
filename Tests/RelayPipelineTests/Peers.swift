import Credentials
import FamilyModel
import RelayPipeline
import RelayWire
import ZeroMQ

/// The peers of a pipeline: one child's device in each of a few families. Checks what each receives.
final class Peers: PipelineSockets {
  static let families: [UInt64] = [1, 2, 3, 4]
  static let shards = 2
  static let key = [UInt8](repeating: 7, count: 32)
  static let keys = RelayKeys(
    keys: try! .generate(), administrator: try! CurveKeyPair.generate().publicKey,
    channelSecret: [UInt8](repeating: 5, count: ChannelCipher.keyBytes))
  private static let conversation = Audience.conversation(PersonID(3))

  private enum Expected {
    case accepted(CommandID), acceptedAgain(CommandID), page(after: Int), pong
    /// One `pong` of each shard that has a named device.
    case pongs(Int)
  }

  private let store: CheckedStore
  private let report: (String) -> Void
  private let passes = EnrolmentPass(secret: Peers.keys.channelSecret)
  private var waiting: [[[UInt8]]] = []
  private var expected: [UInt64: Expected] = [:]
  private var lastRequest: UInt64 = 0
  private var lastCommand: UInt64 = 0
  /// The posts that each family's device has sent, and those that were accepted.
  private var posted: [UInt64: [CommandID]] = [:]
  private var accepted: [UInt64: [UInt64]] = [:]
  private var published: [UInt64: UInt64] = [:]
  private(set) var isMuted = false
  /// Whether a commit has failed, so that nothing may be sent.
  var hasFailed = false

  init(_ store: CheckedStore, _ report: @escaping (String) -> Void) {
    self.store = store
    self.report = report
  }

  /// Whether the pipeline can receive a request.
  var isReadable: Bool { !waiting.isEmpty && !isMuted }
  /// Whether a reply lacks.
  var awaitsReplies: Bool { !expected.isEmpty }

  // MARK: Requests

  /// The device of each family sends one request.
  func send(_ kind: Int, in family: UInt64) {
    lastRequest += 1
    let address = DeviceAddress(family: FamilyID(family), device: DeviceID(30))
    let posts = posted[family, default: []]
    let request: Request
    switch kind {
    case 0, 1:
      lastCommand += 1
      let id = CommandID(high: 0, low: lastCommand)
      posted[family, default: []].append(id)
      expected[lastRequest] = .accepted(id)
      request = Self.post(id)
    case 5 where !posts.isEmpty:
      // The result of the last command but three has just left the memory.
      let id = posts[max(0, posts.count - 4)]
      expected[lastRequest] = .acceptedAgain(id)
      request = Self.post(id)
    case 2:
      expected[lastRequest] = .page(after: posts.count)
      request = .fetch(Self.conversation, after: 0)
    case 3:
      // The newest event, which may not be durable.
      request = .acknowledge([Cursor(Self.conversation, delivered: UInt64(posts.count + 1))])
    case 4:
      let others = Self.families.filter { $0 != family }.map {
        DeviceAddress(family: FamilyID($0), device: DeviceID(30))
      }
      let shards = Set(Self.families.map { FamilyID($0).shard(of: Self.shards) })
      expected[lastRequest] = .pongs(shards.count)
      request = .present(others)
    default:
      expected[lastRequest] = .pong
      request = .ping
    }
    var envelope = Envelope(device: address, requestID: lastRequest, request: request)
    envelope.pass = passes.pass(address.family, Self.key)
    waiting.append([[UInt8(family)], [], envelope.encode()])
  }

  private static func post(_ id: CommandID) -> Request {
    let signature = Signature(
      signer: DeviceID(30), basedOnSeq: 1, bytes: Array(repeating: 7, count: 64))
    return .command(id, .post(child: PersonID(3), .text("\(id.low)")), signature)
  }

  /// Checks that nothing lacks at the end.
  func checkEnd() {
    if awaitsReplies { report("\(expected.count) requests have no reply") }
    for family in Self.families {
      let last = accepted[family]?.last ?? 1
      if published[family] ?? 1 < last { report("an event was not broadcast") }
    }
  }

  // MARK: PipelineSockets

  func receive(into message: inout Multipart) -> ReceiveResult {
    guard !waiting.isEmpty else { return .nothing }
    message = Multipart(waiting.removeFirst(), maximumParts: message.maximumParts)
    return .message
  }

  func hasReceivedAll() {}
  var epoch: UInt64 { 0 }
  func muteRequests(_ isMuted: Bool) { self.isMuted = isMuted }
  func prove(_ descriptor: Int32, receivedIn epoch: UInt64) {}

  func reply(_ route: [UInt8], _ bytes: [UInt8]) throws -> Bool {
    if hasFailed { report("a reply was sent after a failed commit") }
    let envelope = try bytes.withUnsafeBytes { try ReplyEnvelope.decode($0) }
    let family = envelope.device.family.rawValue
    if case .attached = envelope.reply, expected[envelope.requestID] == nil { return true }
    guard let wanted = expected.removeValue(forKey: envelope.requestID) else {
      report("a reply that nobody awaits: \(envelope.reply)")
      return true
    }
    switch (wanted, envelope.reply) {
    case (.accepted(let id), .accepted(let other, let seq)) where id == other:
      if !store.holds(envelope.device.family, seq) { report("a reply left before its commit") }
      let before = accepted[family, default: []]
      let isNext = posted[family]?[before.count] == id
      if !isNext || seq <= before.last ?? 1 { report("commands were handled out of order") }
      accepted[family] = before + [seq]
    case (.acceptedAgain(let id), .accepted(let other, let seq)) where id == other:
      let index = posted[family]?.firstIndex(of: id) ?? 0
      if accepted[family]?.dropFirst(index).first != seq {
        report("a repeated command was accepted twice")
      }
    case (.page(let count), .page(_, let events, more: false)):
      if events.map(\.command) != Array(posted[family, default: []].prefix(count)) {
        report("a page has \(events.count) events of \(count)")
      }
    case (.pong, .pong), (.pong, .attached): break
    case (.pongs(let count), .pong):
      if count > 1 { expected[envelope.requestID] = .pongs(count - 1) }
    default: report("\(wanted) got \(envelope.reply)")
    }
    return true
  }

  func publish(_ topic: [UInt8], _ frame: [UInt8]) throws {
    if hasFailed { report("a broadcast was sent after a failed commit") }
    guard let message = SealedBroadcast(frame: frame),
      case .event(let event) = try Broadcast.decode(message.sealed),
      let family = posted.first(where: { $0.value.contains(event.command) })?.key
    else { return }
    if !store.holds(FamilyID(family), event.seq) { report("a broadcast left before its commit") }
    published[family] = max(published[family] ?? 1, event.seq)
  }
}
