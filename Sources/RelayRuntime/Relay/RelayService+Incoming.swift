import FamilyCore
import FamilyModel
import RelayWire
import ZeroMQ

extension RelayService {
  /// Takes what waits, up to the limits of a batch, and commits what it leads to.
  func drainRequests() {
    guarded {
      var bytes = 0
      var isQueueEmpty = false
      admission.batchBegins(Instant.now.milliseconds)
      for _ in 0..<configuration.batchRequests {
        guard failure == nil, bytes < RelayLimits.batchBytes,
          outgoing.pages.count < RelayLimits.batchPages
        else { break }
        let result = try router!.receive(into: &message)
        guard result != .nothing else {
          isQueueEmpty = true
          break
        }
        counters.requests += 1
        // [identity][empty][body]: what REQ sends, and a DEALER that does the same.
        guard result == .message, message.count == 3, message.withBytes(1, { $0.isEmpty }) else {
          refuse(.malformed)
          continue
        }
        bytes += message.withBytes(2) { $0.count }
        handle()
      }
      admission.batchEnds(isQueueEmpty: isQueueEmpty)
    }
    flush()
  }

  private func handle() {
    let (route, key) = senders.sender(of: message)
    if refuseIfFull(route) { return }
    do throws(Problem) {
      let envelope = try message.withBytes(2) { bytes throws(Problem) in
        try Envelope.decode(bytes)
      }
      guard let key = key ?? configuration.plainKey else { throw .notEnrolled }
      let family = envelope.device.family
      let isAdministrator =
        envelope.device.device.rawValue == 0
        && (key == keys.administrator.bytes || configuration.plainKey != nil)
      let isRead = load(family, for: key, isTrusted: isAdministrator)
      // A stranger must not make the relay commit and read at will.
      if isAdministrator || machine.isMember(envelope.device, key: key) { recall(envelope) }
      let input = RelayMachine.Input.request(
        envelope.device, key: key, administrator: isAdministrator,
        id: envelope.requestID, envelope.request)
      machine.step(input, now: .now, &effects)
      let isRefused = effects.first?.isRefusal ?? false
      takeEffects(route: route)
      if isRead { strangers.read(for: key, isRefused: isRefused, now: .now) }
      // Devices attach before they do anything else: commands need no look at the connection.
      if !isRefused, !envelope.request.isCommand || isAdministrator {
        requestGuard?.prove(message.descriptor)
      }
      forgetUnknown(family)
    } catch {
      refuse(error)
    }
  }

  /// Answers a question that is one too many, unread; other requests are never refused for that.
  private func refuseIfFull(_ route: [UInt8]) -> Bool {
    guard admission.isFull, let peek = message.withBytes(2, { Envelope.peek($0) }),
      peek.isQuestion, let id = peek.commandID, let wait = admission.refusal()
    else { return false }
    counters.overloads += 1
    let problem = Problem(code: Problem.overloaded.code, retryAfter: wait)
    let reply = ReplyEnvelope(
      device: peek.device, requestID: peek.requestID, reply: .refused(id, problem))
    outgoing.replies.append((route, reply.encode()))
    return true
  }

  /// Asks the store what became of a command that is older than those in memory.
  private func recall(_ envelope: Envelope) {
    guard case .command(let id, _, _) = envelope.request,
      machine.needsResult(of: id, in: envelope.device.family)
    else { return }
    // It may be in this very batch.
    flush()
    guarded {
      let seq = try store.seq(of: id, in: envelope.device.family)
      machine.know(id, seq: seq, in: envelope.device.family)
      counters.recalls += 1
    }
  }

  /// Answers what could not be read with the number of the reason, and counts it.
  private func refuse(_ problem: Problem) {
    counters.malformed += 1
    let nobody = DeviceAddress(family: FamilyID(0), device: DeviceID(0))
    let reply = ReplyEnvelope(device: nobody, requestID: 0, reply: .failed(problem))
    outgoing.replies.append((message.bytes(0), reply.encode()))
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
    guard event.isApprovable, let meaning = channels.meaning(of: event.topic),
      let key = event.userID.flatMap({ CurvePublicKey(z85: $0)?.bytes }) ?? configuration.plainKey
    else { return false }
    let isRead = load(meaning.family, for: key, isTrusted: false)
    let input = RelayMachine.Input.subscribed(
      meaning.family, meaning.audience, generation: meaning.generation, key: key)
    machine.step(input, now: .now, &effects)
    let isApproved = effects.contains(.approve)
    takeEffects(route: [])
    if isRead { strangers.read(for: key, isRefused: !isApproved, now: .now) }
    forgetUnknown(meaning.family)
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
    guard !machine.holds(family), isTrusted || strangers.mayRead(key, now: .now) else {
      return false
    }
    guarded {
      let stored = try store.load(family)
      machine.load(
        family, events: try stored.events.map { try Event.decode($0.payload) },
        cursors: (stored.cursors + outgoing.cursors.cursors(of: family)).map {
          ($0.device, $0.cursor)
        }, now: .now)
      counters.loads += 1
    }
    return true
  }

  /// Who guesses families must not push out those that are in use.
  private func forgetUnknown(_ family: FamilyID) {
    if !machine.exists(family) { machine.evict(family) }
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
