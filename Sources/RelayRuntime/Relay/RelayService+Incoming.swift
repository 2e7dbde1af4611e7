import FamilyCore
import FamilyModel
import RelayWire
import ZeroMQ

extension RelayService {
  /// Takes what waits, up to the limits of a batch, and commits what it leads to.
  func drainRequests() {
    guarded {
      var (count, bytes) = (0, 0)
      var isQueueEmpty = false
      admission.batchBegins(Instant.now.milliseconds)
      while count < configuration.batchRequests, bytes < RelayLimits.batchBytes {
        let result = try router!.receive(into: &message)
        guard result != .nothing else {
          isQueueEmpty = true
          break
        }
        count += 1
        // [identity][empty][body]: what REQ sends, and a DEALER that does the same.
        guard result == .message, message.count == 3, message.withBytes(1, { $0.isEmpty }) else {
          refuseMalformed()
          continue
        }
        bytes += message.withBytes(2) { $0.count }
        if refuseIfFull() { continue }
        // Where it does not stand, any lane reads it, and finds that it does not have the family.
        let family = message.withBytes(2) { Envelope.family($0) } ?? FamilyID(0)
        crew[family].with { $0.mailbag.put(&message) }
      }
      counters.requests += count
      let atOnce = crew.isMany && count >= configuration.forkedRequests
      crew.work(atOnce: atOnce)
      if atOnce { counters.forks += 1 }
      for place in crew.places { place.with { $0.takeAside() }.forEach(serve) }
      admission.batchEnds(isQueueEmpty: isQueueEmpty)
    }
    flush()
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
    refusals.append((message.bytes(0), reply.encode()))
    return true
  }

  private func refuseMalformed() {
    let route = message.bytes(0)
    crew.places[0].with { $0.outgoing.refuse(.malformed, route) }
  }

  /// Handles a request that needs the store, as the lane would.
  private func serve(_ request: Lane.Request) {
    guard failure == nil else { return }
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
      let seq = try store.seq(of: id, in: request.family)
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
      let stored = try store.load(family)
      let events = try stored.events.map { try Event.decode($0.payload) }
      place.with { lane in
        lane.machine.load(
          family, events: events,
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
