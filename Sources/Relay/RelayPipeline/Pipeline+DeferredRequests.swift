import FamilyCore
import FamilyModel
import RelayStore
import RelayWire

extension Pipeline {
  /// Runs `body` with access to the shards, then serves the deferred requests and starts a commit.
  ///
  /// The workers stay at rest until ``resumeShards()``.
  package func withShards(_ body: (borrowing ShardAccess) -> Void) {
    shards.whileAtRest { access in
      body(access)
      guarded {
        try serveDeferredRequests(access)
        try commit()
      }
    }
  }

  /// Serves the deferred requests of all shards, and enqueues all output at the committer.
  func serveDeferredRequests(_ access: borrowing ShardAccess) throws {
    access.drainDeferred { request in serve(request, access) }
    enqueueOutput(access)
    guard access.familyCount > configuration.maxFamilies else { return }
    if configuration.defects.has(.earlyEviction) { evict(access) } else { flush(access) }
  }

  private func serve(_ request: PendingRequest, _ access: borrowing ShardAccess) {
    guard failure == nil else { return }
    if case .present(let others) = request.envelope.request, shards.workers.count > 1 {
      for part in parts(of: request, others) { execute(part, access) }
    } else {
      execute(request, access)
    }
    access.withShard(of: request.family) { $0.output.countRequest(bytes: request.bytes) }
  }

  /// Splits a request about many devices into one request per shard, each from the shard's first
  /// device.
  private func parts(of request: PendingRequest, _ others: [DeviceAddress]) -> [PendingRequest] {
    let all = [request.envelope.device] + others
    let byShard = Dictionary(grouping: all) { $0.family.shard(of: shards.workers.count) }
    return byShard.keys.sorted().map { shard in
      var part = request
      part.envelope.device = byShard[shard]![0]
      part.envelope.request = .present(Array(byShard[shard]!.dropFirst()))
      return part
    }
  }

  /// Loads what the request needs from the store and executes the request on its shard.
  private func execute(_ request: PendingRequest, _ access: borrowing ShardAccess) {
    let isTrusted = request.isAdministrator || hasPass(request)
    guard
      let isLoaded = loadFamily(request.family, for: request.key, isTrusted: isTrusted, access),
      loadResult(for: request, access)
    else {
      // After a failed load the shard would treat the family as unknown.
      return access.withShard(of: request.family) { $0.refuse(request, .storeDamaged) }
    }
    if case .fetch = request.envelope.request { flushPages(of: request.family, access) }
    let isRefused = access.withShard(of: request.family) { $0.execute(request) }
    if isLoaded { unprovenReads.recordRead(for: request.key, isRefused: isRefused, now: clock()) }
    evictIfUnknown(request.family, access)
  }

  /// Whether the request proves without a read that its key was enrolled in the family.
  private func hasPass(_ request: PendingRequest) -> Bool {
    let pass = request.envelope.pass
    return !pass.isEmpty && passes.isValid(pass, request.family, request.key)
  }

  /// Looks up the result of a command that is older than the results in memory.
  ///
  /// - Returns: Whether the request can be executed.
  private func loadResult(for request: PendingRequest, _ access: borrowing ShardAccess) -> Bool {
    guard case .command(let id, _, _) = request.envelope.request,
      access.withShard(of: request.family, { $0.needsResult(id, request) })
    else { return true }
    return confined(to: request.family, refuses: false) {
      let (family, device) = (request.family, request.envelope.device.device)
      // A commit under way moves output from the queue to the store, so the queue is searched first.
      let uncommitted =
        access.withShard(of: family) { $0.output.event(of: id, by: device, in: family) }
        ?? committer.queuedEvent(of: id, by: device, in: family)
      let stored =
        try uncommitted
        ?? committer.read { store throws(StoreError) in
          try store.event(of: id, by: device, in: family)
        }
      let event = try stored.map { try Event.decode($0.payload) }
      access.withShard(of: request.family) {
        $0.machine.setStoredResult(of: id, by: device, event: event, in: family)
      }
      counters.resultLookups += 1
    }
  }

  /// Commits and sends if the shard's share of ``RelayLimits/pagesPerCommit`` is reached.
  private func flushPages(of family: FamilyID, _ access: borrowing ShardAccess) {
    let count = access.withShard(of: family) { $0.output.pages.count }
    if count >= RelayLimits.pagesPerCommit / shards.workers.count { flush(access) }
  }

  /// Loads the family from the store, unless it is in memory or the key's rate limit forbids a
  /// load.
  ///
  /// - Parameter isTrusted: Whether the rate limit does not apply.
  /// - Returns: Whether the store was read; `nil` if the family's records cannot be read.
  func loadFamily(
    _ family: FamilyID, for key: [UInt8], isTrusted: Bool, _ access: borrowing ShardAccess
  ) -> Bool? {
    let now = clock()
    guard !access.withShard(of: family, { $0.machine.holds(family) }),
      isTrusted || memory.level == .normal && unprovenReads.mayRead(key, now: now)
    else { return false }
    guard !damaged.refuses(family, now: now) else { return nil }
    let isLoaded = confined(to: family, refuses: true) {
      // The family's cursors may be in a commit that is under way.
      if !configuration.defects.has(.earlyEviction) { committer.finish() }
      let resultsKept = configuration.resultsPerFamily
      let (state, stored) = try committer.read { store throws(StoreError) in
        let state = try store.snapshot(of: family).flatMap {
          FamilyState(snapshot: $0.payload, resultsKept: resultsKept)
        }
        return (state, try store.load(family, after: state?.seq ?? 0))
      }
      let events = try stored.events.map { try Event.decode($0.payload) }
      access.withShard(of: family) { shard in
        shard.machine.load(
          family, snapshot: state, events: events,
          cursors: (stored.cursors + shard.cursors.cursors(of: family)).map {
            ($0.device, $0.cursor)
          },
          passcodeLock: stored.passcodeLock.flatMap {
            shard.passcodeLocks.open($0.payload, of: family).flatMap(PasscodeLock.init(stored:))
          },
          now: now)
      }
      counters.familyLoads += 1
      damaged.recordLoad(of: family)
    }
    return isLoaded ? true : nil
  }

  /// Evicts a family that does not exist, so that guessed numbers cannot push real families out of
  /// memory.
  func evictIfUnknown(_ family: FamilyID, _ access: borrowing ShardAccess) {
    access.withShard(of: family) { if !$0.machine.exists(family) { $0.machine.evict(family) } }
  }
}
