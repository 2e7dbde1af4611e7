import Credentials
import Crypto
import DequeModule
import FamilyCore
import FamilyModel
import FamilyTrust
import RelayWire
import ZeroMQ

/// A disjoint part of the relay's families, with the machine and the caches that their requests
/// need.
///
/// Families are independent, so shards run in parallel: see ``ShardWorker``. A family's number
/// determines its shard. Shards share no memory, not even immutable buffers: contended reference
/// counts would slow all of them.
///
/// A request that needs the store waits for a read, with every later request of the same family; the
/// shard handles the requests of other families meanwhile. A shard defers a request that needs
/// another shard, and every later request of the same family. The socket thread serves deferred
/// requests in their order, so each family's requests keep their order of arrival.
struct Shard: ~Copyable, Sendable {
  /// The messages to handle.
  var batch = MessageBatch()
  private var handledCount = 0
  /// The results of reads to receive.
  var completions: Deque<ReadCompletion> = []
  var waiting: WaitingRequests
  var pacer: RetryPacer
  /// Whether acknowledgements may be waiting unread. Then the shard republishes nothing for lack of
  /// them.
  var isBacklogged = false
  /// Whether the disk is full. Then requests that need a commit are refused, and cursors wait.
  var isFull = false
  var machine: RelayMachine
  var output = ShardOutput()
  var cursors: CursorWriteBehind
  var channels: ChannelCache
  let passes: EnrolmentPass
  var sealer = BroadcastSealer()
  let passcodeLocks: PasscodeLockCipher
  /// See ``PipelineConfiguration/plainKey``.
  let plainKey: [UInt8]?
  let sealsBroadcasts: Bool
  private let administrator: [UInt8]
  private let requestsPerSlice: Int
  /// The shard's number, and the number of shards.
  private let (number, shards): (Int, Int)
  /// The shard's share of ``PipelineConfiguration/maxFamilies``.
  let maxFamilies: Int
  let defects: Defects
  private var effects: [RelayMachine.Effect] = []
  /// The readers of the roster before the command that is executed, if the command may change it.
  var formerReaders: [PeerKey] = []
  /// The only reader of the broadcasts that follow; `nil`: all readers.
  var onlyReader: PeerKey?
  private var senders = SenderCache()
  private var deferred: [PendingRequest] = []
  private var familiesWithDeferred: Set<FamilyID> = []

  /// An empty shard.
  ///
  /// - Parameters:
  ///   - number: The shard's number, from 0.
  ///   - shards: The number of shards of the relay, which divide its caches among them.
  init(_ configuration: PipelineConfiguration, _ keys: RelayKeys, number: Int, shards: Int) {
    machine = configuration.makeMachine(shards)
    machine.quota.family = configuration.familyQuota
    machine.quota.device = configuration.deviceQuota
    sealsBroadcasts = configuration.sealsBroadcasts && configuration.plainKey == nil
    plainKey = configuration.plainKey.map { $0.map(\.self) }
    administrator = keys.administrator.bytes.map(\.self)
    requestsPerSlice = configuration.requestsPerSlice
    defects = configuration.defects
    (self.number, self.shards) = (number, shards)
    maxFamilies = max(1, configuration.maxFamilies / shards)
    waiting = WaitingRequests(shards: shards)
    pacer = RetryPacer(rate: RelayLimits.assumedReads / Double(shards))
    cursors = CursorWriteBehind(shards: shards)
    passes = EnrolmentPass(secret: keys.channelSecret)
    passcodeLocks = PasscodeLockCipher(secret: keys.channelSecret)
    channels = ChannelCache(
      ChannelCipher(secret: keys.channelSecret), capacity: configuration.cachedChannels / shards)
  }

  /// Receives results of reads, and handles the next slice of the batch, then the timers that are due.
  ///
  /// - Parameter clock: The wall clock, read once for each request and once for the timers.
  mutating func handleSlice(_ clock: () -> Instant) {
    receiveCompletions(clock)
    let end = min(batch.count, handledCount + requestsPerSlice)
    while handledCount < end {
      handle(handledCount, receivedAt: clock())
      handledCount += 1
    }
    if handledCount == batch.count {
      batch.removeAll()
      handledCount = 0
    }
    evictExcess()
    runTimers(now: clock())
  }

  private mutating func receiveCompletions(_ clock: () -> Instant) {
    for _ in 0..<min(completions.count, RelayLimits.resultsPerSlice) {
      receive(completions.removeFirst(), now: clock())
    }
  }

  /// Messages of the batch and results of reads that wait.
  var unhandledCount: Int { batch.count - handledCount + completions.count }

  /// Whether the whole batch is handled.
  var hasHandledBatch: Bool { batch.count == 0 }

  /// Whether deferred requests wait for the socket thread.
  var hasDeferred: Bool { !deferred.isEmpty }

  /// Enqueues the output, with the cursors that are due, unless the output is empty.
  mutating func enqueueOutput(at committer: Committer, now: Instant, wakesThread: Bool) {
    if !isFull {
      output.cursors += cursors.removeDue(eventCount: output.events.count, now: now)
    }
    if !output.isEmpty { committer.enqueue(&output, wakesThread: wakesThread) }
  }

  /// Removes the deferred requests.
  ///
  /// - Returns: The requests, in the order of their arrival.
  mutating func drainDeferred() -> [PendingRequest] {
    familiesWithDeferred.removeAll(keepingCapacity: true)
    defer { deferred = [] }
    return deferred
  }

  private mutating func handle(_ index: Int, receivedAt: Instant) {
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
      let request = PendingRequest(
        route: route, key: key, isAdministrator: isAdministrator,
        descriptor: mayProve ? descriptor(of: index) : nil, envelope: envelope, bytes: bytes,
        receivedAt: receivedAt)
      if isFull, request.envelope.request.needsCommit {
        output.countRequest(bytes: bytes)
        return refuse(request, .storeFull)
      }
      guard mustDefer(request) else {
        output.countRequest(bytes: bytes)
        return process(request)
      }
      familiesWithDeferred.insert(request.family)
      deferred.append(request)
    } catch {
      output.countRequest(bytes: bytes)
      output.appendFailure(error, route, batch[index].withBytes(2) { Envelope.head($0) })
    }
  }

  /// The descriptor of a message's connection, and the epoch of its receipt.
  private func descriptor(of index: Int) -> (Int32, epoch: UInt64)? {
    batch[index].descriptor.map { ($0, batch[index].epoch) }
  }

  /// Whether the request needs another shard, or follows a deferred request of the same family.
  private func mustDefer(_ request: PendingRequest) -> Bool {
    // The receiver sees the family only if the envelope has the usual form.
    if request.family.shard(of: shards) != number { return true }
    if !familiesWithDeferred.isEmpty, familiesWithDeferred.contains(request.family) { return true }
    // The named devices may belong to families of other shards.
    if case .present = request.envelope.request { return shards > 1 }
    return false
  }

  /// Executes the request on the machine and collects the output.
  ///
  /// - Returns: Whether the machine did not identify the sender.
  mutating func execute(_ request: PendingRequest) -> Bool {
    if case .command(_, .setRoster, _) = request.envelope.request {
      formerReaders = readers(of: .family, in: request.family)
    }
    defer { formerReaders = [] }
    let disposition = machine.handle(
      request.envelope.request, from: request.sender, now: request.receivedAt, into: &effects)
    // A family that was not loaded identifies nobody.
    let isRefused = disposition == .notEnrolled || disposition == .notLoaded
    collectEffects(route: request.route, key: request.key, now: request.receivedAt)
    if !isRefused, let descriptor = request.descriptor {
      output.provenDescriptors.append(descriptor)
    }
    return isRefused
  }

  /// Refuses the request without the machine. The sender repeats the request later.
  mutating func refuse(_ request: PendingRequest, _ problem: Problem) {
    var answer = Reply.failed(problem)
    if case .command(let id, _, _) = request.envelope.request, problem.retryAfter > .zero {
      answer = .refused(id, problem)
    }
    let reply = ReplyEnvelope(
      device: request.envelope.device, requestID: request.envelope.requestID, reply: answer)
    output.countRefusal(reply.reply)
    output.replies.append((request.route, reply.encode()))
  }

  /// Broadcasts the heads of a device's audiences to the connection that has subscribed.
  mutating func subscribed(_ device: DeviceAddress, key: [UInt8], now: Instant) {
    machine.step(.subscribed(device, key: key), now: now, into: &effects)
    onlyReader = PeerKey(key)
    defer { onlyReader = nil }
    collectEffects(route: [], key: [], now: now)
  }

  /// Whether timers wait. Each republish ends as a result that the shard receives, and a shard that
  /// lags would get more of them than it can receive.
  private var mustWait: Bool { isBacklogged || completions.count > RelayLimits.waitingResults }

  /// When the next timer is due, or cursors are.
  var deadline: Instant? {
    [mustWait ? nil : machine.deadline, isFull ? nil : cursors.due].compactMap { $0 }.min()
  }

  /// Runs the machine's timers if one is due. Their output and the due cursors leave with the next
  /// commit.
  mutating func runTimers(now: Instant) {
    guard !mustWait, let due = machine.deadline, due <= now else { return }
    machine.step(.timer, now: now, into: &effects)
    collectEffects(route: [], key: [], now: now)
  }

  /// Adjusts the timers, and the requests that wait, after the wall clock was set back to `now`.
  mutating func clockSetBack(_ now: Instant) {
    _ = machine.step(.clockSetBack, now: now)
    waiting.clockSetBack(now)
    deferred.clockSetBack(now)
    cursors.writeNoLater(than: now)
  }

  private mutating func collectEffects(route: [UInt8], key: [UInt8], now: Instant) {
    // The effects are moved out first: mutating self while iterating a member would copy the
    // member.
    var collected: [RelayMachine.Effect] = []
    swap(&collected, &effects)
    for index in collected.indices {
      collect(collected.span[index], route: route, key: key, now: now)
    }
    collected.removeAll(keepingCapacity: true)
    swap(&collected, &effects)
  }
}

extension Request {
  fileprivate var isCommand: Bool { if case .command = self { true } else { false } }
}

extension Problem {
  /// The relay has more work, or less memory, than it can handle.
  static func overloaded(retryAfter: Milliseconds) -> Problem {
    Problem(code: Problem.overloaded.code, retryAfter: retryAfter)
  }
  /// The store takes no writes until the disk has room.
  fileprivate static let storeFull = Problem(
    code: Problem.storeFailed.code, retryAfter: RelayLimits.fullRetry)
}
