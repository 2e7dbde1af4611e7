package import Credentials
import FamilyCore
package import FamilyModel
package import RelayStore
import SystemClock
import ZeroMQ

/// The relay between its sockets and its store: receives requests, lets shards handle them, commits
/// their output, and only then sends.
///
/// ## Stages
/// 1. The socket thread receives requests and enqueues each one at the ``ShardWorker`` of its
///    family.
/// 2. Each shard worker handles its queue in slices and enqueues each slice's ``ShardOutput`` at
///    the ``Committer``.
/// 3. The committer's thread writes all queued output in one transaction.
/// 4. The socket thread sends the replies and broadcasts of durable output.
///
/// A request that needs the store waits in its shard, and requests of other families go on. The read
/// leaves with the output of step 2, so it starts after every earlier commit. A ``StoreReader`` reads
/// beside the commits, and the shard receives the result as it receives requests.
///
/// The stages run in parallel. With few requests waiting, the socket thread performs all four steps
/// itself, because waking a thread costs more. Without ``start(_:)`` it always does.
///
/// ## Access to shards
/// A shard defers a request about families of several shards. Its worker then blocks until the
/// socket thread serves the request. The socket thread uses shards only inside
/// ``ShardPool/whileAtRest(_:)``.
///
/// ## Bounds
/// - Requests count as in flight from step 1 to the end of step 4. At
///   ``PipelineConfiguration/maxRequestsInFlight``, or the bytes of ``RelayLimits``, the socket thread
///   stops receiving. This bounds every queue between the stages.
/// - Requests that wait for a read are not in flight. Their bounds are in ``RelayLimits``, and requests
///   beyond them are refused with a retry time.
/// - Requests beyond those in flight wait in libzmq and then in their devices. ``Admission`` sheds questions
///   early.
/// - Sends never block: messages to a peer whose queue is full are dropped.
///
/// ## Failures
/// A read that fails concerns one family: ``DamagedFamilies``. Its requests are refused with problem
/// 503, and all other families are served.
///
/// A disk with less than its reserve refuses commands with problem 501: ``SpaceWatch``. Reads continue.
///
/// A process that is short of memory refuses what takes memory: ``MemoryWatch``. Commands continue.
///
/// After a failed commit the relay sends the output that was durable before. Then it sends nothing
/// more: which events of the failed commit are durable is unknown.
package final class Pipeline {
  let configuration: PipelineConfiguration
  let sockets: any PipelineSockets
  let clock: @Sendable () -> Instant
  private let onFailure: (any Error) -> Void
  let onDamage: (FamilyID, any Error) -> Void
  var damaged = DamagedFamilies()
  var space: SpaceWatch
  var memory: MemoryWatch
  let committer: Committer
  let reader: StoreReader
  var reads = ReadQueue()
  /// Whether a shard may have received a family that it has not installed.
  var hasLoads = false
  /// Called without threads when a batch of reads was submitted. Returns whether the owner calls
  /// ``performReads()`` later; otherwise, and without a function, the batch is read at once.
  package var deferReads: (() -> Bool)?
  let shards: ShardPool
  var inboxes: Inboxes
  var unprovenReads = UnprovenReadLimit()
  /// Reads of families that the limit of unproven reads permitted and that have not ended.
  var untrustedReads = 0
  var admission = Admission()
  var message = Multipart(maximumParts: 4)
  /// Replies to requests that were refused without a shard.
  var refusals = ShardOutput()
  /// Requests that were received and whose output is not sent, and their bytes.
  var inFlight = (requests: 0, bytes: 0)
  /// Whether requests may be waiting in the request socket.
  var hasMoreToReceive = false
  /// Whether threads handle and commit, too.
  private(set) var hasThreads = false
  /// Whether the request socket is muted, because the limit of requests in flight is reached.
  private var isMuted = false
  /// Durable output to send. Empty between two sends.
  var durable: [ShardOutput] = []
  private var clockWatch = ClockWatch()
  /// The error that ended the relay.
  package private(set) var failure: (any Error)?
  /// Counts since the start.
  package var counters = RelayCounters()

  /// Creates a pipeline without threads.
  ///
  /// - Parameters:
  ///   - store: The store, which this pipeline alone uses.
  ///   - clock: The wall clock. Several threads call it.
  ///   - onDamage: Called at the first failed read of each family's records.
  ///   - onFailure: Called once, with the error that ends the relay.
  package init(
    _ configuration: PipelineConfiguration, keys: RelayKeys, store: sending any EventStore,
    sockets: any PipelineSockets, clock: @escaping @Sendable () -> Instant,
    onDamage: @escaping (FamilyID, any Error) -> Void = { _, _ in },
    onFailure: @escaping (any Error) -> Void
  ) {
    self.configuration = configuration
    self.sockets = sockets
    self.clock = clock
    self.onDamage = onDamage
    space = SpaceWatch(reserve: configuration.reservedBytes)
    inboxes = Inboxes(limit: configuration.maxInboxes)
    memory = MemoryWatch(limit: configuration.memoryLimit)
    self.onFailure = onFailure
    committer = Committer(store, configuration.defects)
    reader = StoreReader(
      committer,
      ReadSizes(
        resultsKept: configuration.resultsPerFamily, pageEvents: configuration.pageEvents),
      configuration.defects)
    shards = ShardPool(configuration, keys, clock)
  }

  /// Starts the threads of the shards, of the commits and of the reads.
  ///
  /// - Parameter requestTurn: Requests a call of ``turn(uptime:)`` soon, from any thread.
  package func start(_ requestTurn: @escaping @Sendable () -> Void) {
    hasThreads = true
    lookAtSpace(uptime: .zero)
    committer.start(onCommit: requestTurn)
    guarded { try reader.start(onDone: requestTurn) }
    for worker in shards.workers { worker.start(committer, onBlocked: requestTurn) }
  }

  /// Ends the threads of the shards.
  ///
  /// Precondition: ``start(_:)`` was called.
  package func stopShards() { for worker in shards.workers { worker.stop() } }

  /// Ends the threads of the reads and of the commits after their last batches, and closes the store.
  ///
  /// Precondition: ``start(_:)`` was called.
  package func stopCommits() {
    reader.stop()
    committer.stop()
  }

  /// Handles and commits all received requests, then writes all cursors.
  package func finish() {
    shards.whileAtRest { access in
      if failure == nil { handleWaiting(access) }
      flush(access)
      finishReads(access)
      // Devices repeat the cursors that a full disk cannot take.
      while failure == nil, !isFull, access.hasUnwrittenCursors {
        access.forEachShard { $0.cursors.writeNoLater(than: clock()) }
        flush(access)
      }
    }
  }

  /// Wakes the shard workers, and mutes the request socket while the limit of requests in flight is
  /// reached.
  ///
  /// Precondition: no access to the shards is open.
  package func resumeShards() {
    guard failure == nil else { return }
    wakeWorkers()
    guard isMuted != isAtLimit else { return }
    isMuted = isAtLimit
    sockets.muteRequests(isMuted)
  }

  /// Wakes the workers whose requests wait, if there are threads.
  func wakeWorkers() {
    guard hasThreads else { return }
    hasLoads = false
    if shards.resume() { counters.workerWakeups += 1 }
  }

  /// The levels of the queues and of the memory.
  ///
  /// - Parameter families: The last known number of families, which is kept while a shard runs.
  package func levels(families: Int) -> RelayLevels {
    var count = families
    _ = shards.ifAtRest { access in
      count = access.familyCount
      return true
    }
    var levels = RelayLevels(
      requestsInFlight: inFlight.requests, bytesInFlight: inFlight.bytes, families: count,
      isShedding: admission.isShedding, isFull: isFull)
    levels.memory = memory.level
    return levels
  }

  /// Whether the limit of requests in flight is reached.
  var isAtLimit: Bool {
    inFlight.requests >= configuration.maxRequestsInFlight
      || inFlight.bytes >= RelayLimits.bytesInFlight
  }

  /// Runs the body unless the relay has failed. An error of the body fails the relay.
  package func guarded(_ body: () throws -> Void) {
    guard failure == nil else { return }
    do { try body() } catch {
      failure = error
      onFailure(error)
    }
  }

  /// Whether the wall clock was set back since the last call.
  func isClockSetBack(_ now: Instant, uptime: Milliseconds) -> Bool {
    clockWatch.isSetBack(now, uptime: uptime)
  }
}
