import FamilyCore
import FamilyModel
import RelayStore
import RelayWire
import SystemClock
import ZeroMQ

extension RelayService {
  /// Takes what waits. Little is handled and stored here, if nobody else is at work; else the lanes do it.
  func drainRequests() {
    guarded {
      try receive()
      var rounds = 0
      while isLittle, rounds < RelayLimits.rounds, failure == nil {
        rounds += 1
        try handleAll()
        try receive()
        try commit()
      }
      try release()
    }
    goOn()
  }

  /// Whether there is too little to wake anybody for it.
  private var isLittle: Bool {
    shards.isAtRest && (1..<configuration.forkedRequests).contains(shards.waiting)
  }

  /// Handles here all that waits for the lanes, which are at rest.
  func handleAll() throws {
    try serveAside()
    while shards.waiting > 0, failure == nil {
      for worker in shards.workers { worker.handle() }
      try serveAside()
    }
  }

  /// Handles what the lanes, which are at rest, have put aside, and hands over what they have done.
  func serveAside() throws {
    for worker in shards.workers { worker.takeAside().forEach(serve) }
    handOver()
    if shards.families > configuration.maxFamilies { flush() }
  }

  /// Serves and stores what the lanes, which are at rest, have put aside or done, and waits for no other commit.
  func settle() {
    guarded {
      try serveAside()
      try commit()
    }
  }

  /// Before the thread sleeps: the lanes go on, and what there is no room for waits in the socket.
  func goOn() {
    guard failure == nil else { return }
    if shards.wake() { counters.forks += 1 }
    guard isMuted != isShedding, let routerWatch else { return }
    isMuted = isShedding
    thread.mute(routerWatch, isMuted)
  }

  /// Whether as much is on its way as may be.
  var isShedding: Bool {
    onTheWay.requests >= configuration.mostRequests || onTheWay.bytes >= RelayLimits.requestBytes
  }

  /// Gives what waits to the lanes, up to the limits.
  private func receive() throws {
    var (count, given) = (0, 0)
    isMoreWaiting = true
    admission.batchBegins(Instant.now.milliseconds)
    // What is answered unread does not wait for the lanes, and must not keep them waiting.
    while count < configuration.mostRequests, !isShedding {
      let result = try router!.receive(into: &message)
      guard result != .nothing else {
        isMoreWaiting = false
        break
      }
      count += 1
      // [identity][empty][body]: what REQ sends, and a DEALER that does the same.
      guard result == .message, message.count == 3, message.withBytes(1, { $0.isEmpty }) else {
        refusals.refuse(.malformed, message.bytes(0))
        continue
      }
      if refuseIfFull() { continue }
      onTheWay.requests += 1
      onTheWay.bytes += message.withBytes(2) { $0.count }
      // Where it does not stand, any lane reads it, and finds that it does not have the family.
      let family = message.withBytes(2) { Envelope.family($0) } ?? FamilyID(0)
      shards[family].put(&message)
      given += 1
      if given.isMultiple(of: configuration.slice), shards.wake() { counters.forks += 1 }
    }
    counters.requests += count
    admission.batchEnds(isQueueEmpty: !isMoreWaiting)
    for worker in shards.workers { worker.note(isBehind: admission.isBehind) }
  }

  /// Answers a question that is one too many, unread; other requests are never refused for that.
  private func refuseIfFull() -> Bool {
    guard admission.isShedding, let peek = message.withBytes(2, { Envelope.peek($0) }),
      peek.isQuestion, let id = peek.commandID, let wait = admission.refusal()
    else { return false }
    counters.overloads += 1
    let problem = Problem(code: Problem.overloaded.code, retryAfter: wait)
    let reply = ReplyEnvelope(
      device: peek.device, requestID: peek.requestID, reply: .refused(id, problem))
    refusals.replies.append((message.bytes(0), reply.encode()))
    return true
  }

  /// Handles a request that needs the store, as the lane would.
  private func serve(_ request: Shard.Request) {
    guard failure == nil else { return }
    defer { shards[request.family].with { $0.outgoing.count(request.bytes) } }
    if case .present(let others) = request.envelope.request, shards.workers.count > 1 {
      for part in parts(of: request, others) { handle(part) }
    } else {
      handle(request)
    }
  }

  /// For each lane one request about its families' devices, of the first of them.
  private func parts(of request: Shard.Request, _ others: [DeviceAddress]) -> [Shard.Request] {
    let all = [request.envelope.device] + others
    let byShard = Dictionary(grouping: all) { $0.family.shard(of: shards.workers.count) }
    return byShard.keys.sorted().map { shard in
      var part = request
      part.envelope.device = byShard[shard]![0]
      part.envelope.request = .present(Array(byShard[shard]!.dropFirst()))
      return part
    }
  }

  private func handle(_ request: Shard.Request) {
    let worker = shards[request.family]
    let isRead = load(request.family, for: request.key, isTrusted: request.isAdministrator)
    recall(request, worker)
    // A family that could not be read is not one that is not there.
    guard failure == nil else { return }
    if case .fetch = request.envelope.request { flushPages(worker) }
    let isRefused = worker.with { $0.step(request) }
    if isRead { unprovenReads.read(for: request.key, isRefused: isRefused, now: .now) }
    forgetUnknown(request.family)
  }

  /// Asks the store what became of a command that is older than those in memory.
  private func recall(_ request: Shard.Request, _ worker: ShardWorker) {
    guard case .command(let id, _, _) = request.envelope.request,
      worker.with({ $0.needsResult(id, request) })
    else { return }
    // It may be in this very batch.
    flush()
    guarded {
      let seq = try committer.read { store throws(StoreError) in
        try store.seq(of: id, in: request.family)
      }
      worker.with { $0.machine.know(id, seq: seq, in: request.family) }
      counters.recalls += 1
    }
  }

  /// Sends what waits, when there are as many pages as may wait.
  private func flushPages(_ worker: ShardWorker) {
    if worker.with({ $0.outgoing.pages.count }) >= RelayLimits.batchPages / shards.workers.count {
      flush()
    }
  }

  /// Approves exact topics of members, each right after its receive.
  func drainSubscriptions() {
    shards.rest()
    guarded {
      _ = try gate.drain(publisher!) { event in
        guard failure == nil else { return false }
        switch event.kind {
        case .unsubscribe: return false
        case .foreign:
          noteForeign(event.userID)
          return false
        case .subscribe:
          counters.subscriptions += 1
          let isApproved = isApproved(event)
          if !isApproved { counters.refusedSubscriptions += 1 }
          if isApproved { broadcastGuard?.prove(event.descriptor) }
          return isApproved
        }
      }
    }
    settle()
    goOn()
  }

  private func isApproved(_ event: SubscriptionEvent) -> Bool {
    guard event.isApprovable, let channel = channelNames.meaning(of: event.topic),
      let key = event.userID.flatMap({ CurvePublicKey(z85: $0)?.bytes }) ?? configuration.plainKey
    else { return false }
    let isRead = load(channel.family, for: key, isTrusted: false)
    let isApproved = shards[channel.family].with { $0.approves(channel, for: key) }
    if isRead { unprovenReads.read(for: key, isRefused: !isApproved, now: .now) }
    forgetUnknown(channel.family)
    return isApproved
  }

  /// No honest agent sends one. Logged at the 1st, 2nd, 4th, 8th…: a flood must not fill the disk.
  private func noteForeign(_ userID: String?) {
    counters.foreign += 1
    guard counters.foreign & (counters.foreign - 1) == 0 else { return }
    logger.warning(
      "a message on the broadcast socket",
      metadata: ["key": "\(userID ?? "none")", "count": "\(counters.foreign)"])
  }

  /// Reads the family, unless it is there or the key has to wait; tells whether it did.
  private func load(_ family: FamilyID, for key: [UInt8], isTrusted: Bool) -> Bool {
    let worker = shards[family]
    guard !worker.with({ $0.machine.holds(family) }),
      isTrusted || unprovenReads.mayRead(key, now: .now)
    else { return false }
    let now = Instant.now
    guarded {
      // Its cursors may be on their way to the store.
      committer.finish()
      let (state, stored) = try committer.read { store throws(StoreError) in
        let state = try store.snapshot(of: family).flatMap {
          FamilyState(snapshot: $0.payload, resultsKept: RelayLimits.results)
        }
        return (state, try store.load(family, after: state?.seq ?? 0))
      }
      let events = try stored.events.map { try Event.decode($0.payload) }
      worker.with { shard in
        shard.machine.load(
          family, snapshot: state, events: events,
          cursors: (stored.cursors + shard.cursors.cursors(of: family)).map {
            ($0.device, $0.cursor)
          },
          now: now)
      }
      counters.loads += 1
    }
    return true
  }

  /// Who guesses families must not push out those that are in use.
  private func forgetUnknown(_ family: FamilyID) {
    shards[family].with { if !$0.machine.exists(family) { $0.machine.evict(family) } }
  }
}
