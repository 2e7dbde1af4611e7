import Credentials
import Crypto
import FamilyCore
import FamilyModel
import FamilyTrust
import RelayWire
import SystemClock
import ZeroMQ

/// A part of the relay's families, with all that their requests need but the store and the sockets.
///
/// Families have nothing to do with each other, so lanes can work at the same time: see ``ShardWorker``. Which lane a
/// family belongs to follows from its number. A lane shares no memory with another, not even a buffer that
/// both only read: counting its references would make their processors wait for each other.
///
/// What needs more, such as the store, is put aside for the relay's thread, and so is all that comes after it
/// for the same family: the requests of a family are handled in the order in which they came.
struct Shard: ~Copyable, Sendable {
  /// A request that was read, and who sent it.
  struct Request: Sendable {
    var route: [UInt8]
    var key: [UInt8]
    var isAdministrator: Bool
    /// Of the connection, where the request may prove who the peer is: devices attach before they do
    /// anything else, so commands need no look at it.
    var descriptor: Int32?
    var envelope: Envelope
    /// Of the message.
    var bytes: Int
    /// The moment at which all of it is decided: what a device may have fills with time.
    let at = Instant.now

    var family: FamilyID { envelope.device.family }
    var sender: RelayMachine.Sender {
      .init(
        address: envelope.device, key: key, isAdministrator: isAdministrator,
        id: envelope.requestID)
    }
  }

  /// What it works on.
  var batch = MessageBatch()
  /// Messages in it that were handled.
  private var handled = 0
  /// Whether acknowledgements may wait unread: nothing is published again for want of them.
  var isBehind = false
  var machine: RelayMachine
  var outgoing = ShardOutput()
  var cursors: CursorWriteBehind
  var channels: ChannelCache
  var sealer = BroadcastSealer()
  /// See ``RelayService/Configuration/plainKey``.
  let plainKey: [UInt8]?
  private let administrator: [UInt8]
  private let slice: Int
  private var effects: [RelayMachine.Effect] = []
  private var senders = SenderCache()
  private var aside: [Request] = []
  /// The families of requests that were put aside.
  private var waiting: Set<FamilyID> = []

  /// One of `shards` lanes, with no families.
  init(_ configuration: RelayService.Configuration, _ keys: RelayKeys, shards: Int) {
    machine = RelayMachine(
      verify: PasscodeCipher.verify, digest: KeyVault.digest, resultsKept: RelayLimits.results,
      open: RelayLimits.openFamilies / shards, snapshotEvery: RelayLimits.snapshotEvents)
    plainKey = configuration.plainKey.map { $0.map(\.self) }
    administrator = keys.administrator.bytes.map(\.self)
    slice = configuration.slice
    cursors = CursorWriteBehind(share: shards)
    channels = ChannelCache(
      ChannelCipher(secret: keys.channelSecret), most: RelayLimits.channels / shards)
  }

  /// Handles the next ones in the mailbag, and what the clock asks for.
  mutating func work() {
    let end = min(batch.count, handled + slice)
    while handled < end {
      handle(handled)
      handled += 1
    }
    if handled == batch.count {
      batch.removeAll()
      handled = 0
    }
    tick(.now)
  }

  /// Messages in the mailbag that were not handled.
  var left: Int { batch.count - handled }

  /// Whether something was put aside.
  var hasAside: Bool { !aside.isEmpty }

  /// Hands over what it has done, and the cursors that go with it, if there is something.
  mutating func handOver(to committer: Committer, isUrgent: Bool) {
    outgoing.cursors += cursors.take(events: outgoing.events.count, now: .now)
    if !outgoing.isEmpty { committer.put(&outgoing, isUrgent: isUrgent) }
  }

  /// What was put aside, and is now for the caller to handle in this order.
  mutating func takeAside() -> [Request] {
    waiting.removeAll(keepingCapacity: true)
    defer { aside = [] }
    return aside
  }

  private mutating func handle(_ index: Int) {
    let bytes = batch[index].withBytes(2) { $0.count }
    let (route, key) = senders.sender(of: batch[index])
    do throws(Problem) {
      let envelope = try batch[index].withBytes(2) { bytes throws(Problem) in
        try Envelope.decode(bytes)
      }
      guard let key = key ?? plainKey else { throw .notEnrolled }
      let isAdministrator =
        envelope.device.device.rawValue == 0 && (key == administrator || plainKey != nil)
      let mayProve = !envelope.request.isCommand || isAdministrator
      let request = Request(
        route: route, key: key, isAdministrator: isAdministrator,
        descriptor: mayProve ? batch[index].descriptor : nil, envelope: envelope, bytes: bytes)
      guard goesAside(request) else {
        outgoing.count(bytes)
        return _ = step(request)
      }
      waiting.insert(request.family)
      aside.append(request)
    } catch {
      outgoing.count(bytes)
      outgoing.refuse(error, route)
    }
  }

  /// Whether it needs more than the lane has, or something that came before it for the same family does.
  private mutating func goesAside(_ request: Request) -> Bool {
    if !waiting.isEmpty, waiting.contains(request.family) { return true }
    switch request.envelope.request {
    case .fetch: return true
    // It is about families of other lanes, too.
    case .present: return true
    case .command(let id, _, _): return !machine.holds(request.family) || needsResult(id, request)
    default: return !machine.holds(request.family)
    }
  }

  /// Whether the store has to be asked what became of the command, and may be for this sender.
  mutating func needsResult(_ id: CommandID, _ request: Request) -> Bool {
    machine.needsResult(of: id, in: request.family)
      && machine.mayRecall(request.envelope.request, of: request.sender, now: request.at)
  }

  /// Lets the machine decide; tells whether the key is nobody's.
  mutating func step(_ request: Request) -> Bool {
    machine.take(request.envelope.request, of: request.sender, now: request.at, into: &effects)
    let isRefused = !effects.isEmpty && effects[0].isRefusal
    takeEffects(route: request.route)
    if !isRefused, let descriptor = request.descriptor { outgoing.proved.append(descriptor) }
    return isRefused
  }

  /// Whether the key may listen to the channel.
  mutating func approves(_ channel: ChannelCipher.Meaning, for key: [UInt8]) -> Bool {
    let input = RelayMachine.Input.subscribed(
      channel.family, channel.audience, generation: channel.generation, key: key)
    machine.step(input, now: .now, into: &effects)
    let isApproved = effects.contains(.approve)
    takeEffects(route: [])
    return isApproved
  }

  /// When the clock asks for something.
  var deadline: Instant? {
    [isBehind ? nil : machine.deadline, cursors.due].compactMap { $0 }.min()
  }

  /// What the clock asks for; what is to be sent, and cursors, go with the next commit.
  mutating func tick(_ now: Instant) {
    guard !isBehind, let due = machine.deadline, due <= now else { return }
    machine.step(.timer, now: now, into: &effects)
    takeEffects(route: [])
  }

  /// The clock was set back.
  mutating func setBack(_ now: Instant) {
    _ = machine.step(.clockSetBack, now: now)
    cursors.hasten(now)
  }

  private mutating func takeEffects(route: [UInt8]) {
    // By itself: what could change meanwhile would be copied.
    var taken: [RelayMachine.Effect] = []
    swap(&taken, &effects)
    for index in taken.indices { take(taken.span[index], route: route) }
    taken.removeAll(keepingCapacity: true)
    swap(&taken, &effects)
  }
}

extension RelayMachine.Effect {
  /// The answer to a key that is nobody's.
  fileprivate var isRefusal: Bool {
    switch self {
    case .reply(_, _, .refused(_, .notEnrolled)), .reply(_, _, .failed(.notEnrolled)): true
    default: false
    }
  }
}

extension Request {
  fileprivate var isCommand: Bool { if case .command = self { true } else { false } }
}
