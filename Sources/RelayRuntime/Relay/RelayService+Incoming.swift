import FamilyCore
import FamilyModel
import RelayStore
import RelayWire
import ZeroMQ

extension RelayService {
  /// Takes what waits, and commits what it leads to. With much to do, what came first is stored, and goes out,
  /// while the lanes work on what came after it, and what comes then is received.
  func drainRequests() {
    guarded {
      var rounds = 0
      try receive()
      while waiting > 0, failure == nil {
        rounds += 1
        let mayReceive = rounds < RelayLimits.rounds
        let isForked = crew.isMany && waiting >= configuration.forkedRequests
        if isForked { counters.forks += 1 }
        noteBehind()
        try crew.work(isForked: isForked) {
          try release()
          if mayReceive { try receive() }
        }
        for place in crew.places { place.with { $0.takeAside() }.forEach(serve) }
        guard failure == nil else { break }
        let left = crew.waiting
        decided += waiting - left
        waiting = left
        if waiting == 0, mayReceive { try receive() }
        if waiting == 0, mayReceive, isCommitting {
          try finish()
          try receive()
        }
        let isMuch =
          decided >= configuration.batchRequests || waitingBytes >= RelayLimits.batchBytes
        if waiting > 0, isMuch || committer.isIdle { try begin() }
      }
      noteBehind()
    }
    flush()
  }

  private func noteBehind() {
    for place in crew.places { place.with { $0.isBehind = admission.isBehind } }
  }

  /// Gives what waits to the lanes, up to the limits.
  private func receive() throws {
    var count = 0
    var isQueueEmpty = false
    if waiting == 0 { waitingBytes = 0 }
    admission.batchBegins(Instant.now.milliseconds)
    // What is answered unread does not wait for the lanes, and must not keep them waiting.
    while count < configuration.batchRequests, waiting < configuration.batchRequests,
      waitingBytes < RelayLimits.batchBytes
    {
      let result = try router!.receive(into: &message)
      guard result != .nothing else {
        isQueueEmpty = true
        break
      }
      count += 1
      // [identity][empty][body]: what REQ sends, and a DEALER that does the same.
      guard result == .message, message.count == 3, message.withBytes(1, { $0.isEmpty }) else {
        refusals.refuse(.malformed, message.bytes(0))
        continue
      }
      waitingBytes += message.withBytes(2) { $0.count }
      if refuseIfFull() { continue }
      // Where it does not stand, any lane reads it, and finds that it does not have the family.
      let family = message.withBytes(2) { Envelope.family($0) } ?? FamilyID(0)
      crew[family].put(&message)
      waiting += 1
    }
    counters.requests += count
    admission.batchEnds(isQueueEmpty: isQueueEmpty)
  }

  /// Answers a question that is one too many, unread; other requests are never refused for that.
  private func refuseIfFull() -> Bool {
    guard admission.isFull, let peek = message.withBytes(2, { Envelope.peek($0) }),
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
  private func serve(_ request: Lane.Request) {
    guard failure == nil else { return }
    if case .present(let others) = request.envelope.request, crew.isMany {
      for part in parts(of: request, others) { handle(part) }
    } else {
      handle(request)
    }
  }

  /// For each lane one request about its families' devices, of the first of them.
  private func parts(of request: Lane.Request, _ others: [DeviceAddress]) -> [Lane.Request] {
    let all = [request.envelope.device] + others
    let byLane = Dictionary(grouping: all) { $0.family.lane(of: crew.places.count) }
    return byLane.keys.sorted().map { lane in
      var part = request
      part.envelope.device = byLane[lane]![0]
      part.envelope.request = .present(Array(byLane[lane]!.dropFirst()))
      return part
    }
  }

  private func handle(_ request: Lane.Request) {
    let place = crew[request.family]
    let isRead = load(request.family, for: request.key, isTrusted: request.isAdministrator)
    recall(request, place)
    if case .fetch = request.envelope.request { flushPages(place) }
    let isRefused = place.with { $0.step(request) }
    if isRead { strangers.read(for: request.key, isRefused: isRefused, now: .now) }
    forgetUnknown(request.family)
  }

  /// Asks the store what became of a command that is older than those in memory.
  private func recall(_ request: Lane.Request, _ place: Crew.Place) {
    guard case .command(let id, _, _) = request.envelope.request,
      place.with({ $0.needsResult(id, request) })
    else { return }
    // It may be in this very batch.
    flush()
    guarded {
      let seq = try committer.read { store throws(StoreError) in
        try store.seq(of: id, in: request.family)
      }
      place.with { $0.machine.know(id, seq: seq, in: request.family) }
      counters.recalls += 1
    }
  }

  /// Sends what waits, when there are as many pages as may wait.
  private func flushPages(_ place: Crew.Place) {
    if place.with({ $0.outgoing.pages.count }) >= RelayLimits.batchPages / crew.places.count {
      flush()
    }
  }

  /// Approves exact topics of members, each right after its receive.
  func drainSubscriptions() {
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
    flush()
  }

  private func isApproved(_ event: SubscriptionEvent) -> Bool {
    guard event.isApprovable, let channel = channelNames.meaning(of: event.topic),
      let key = event.userID.flatMap({ CurvePublicKey(z85: $0)?.bytes }) ?? configuration.plainKey
    else { return false }
    let isRead = load(channel.family, for: key, isTrusted: false)
    let isApproved = crew[channel.family].with { $0.approves(channel, for: key) }
    if isRead { strangers.read(for: key, isRefused: !isApproved, now: .now) }
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
    let place = crew[family]
    guard !place.with({ $0.machine.holds(family) }),
      isTrusted || strangers.mayRead(key, now: .now)
    else { return false }
    let now = Instant.now
    guarded {
      // Its cursors may be on their way to the store.
      try finish()
      let (state, stored) = try committer.read { store throws(StoreError) in
        let state = try store.snapshot(of: family).flatMap {
          FamilyState(snapshot: $0.payload, resultsKept: RelayLimits.results)
        }
        return (state, try store.load(family, after: state?.seq ?? 0))
      }
      let events = try stored.events.map { try Event.decode($0.payload) }
      place.with { lane in
        lane.machine.load(
          family, snapshot: state, events: events,
          cursors: (stored.cursors + lane.cursors.cursors(of: family)).map {
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
    crew[family].with { if !$0.machine.exists(family) { $0.machine.evict(family) } }
  }
}
