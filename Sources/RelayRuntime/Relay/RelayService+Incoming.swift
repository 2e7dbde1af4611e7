import FamilyCore
import FamilyModel
import RelayWire
import ZeroMQ

extension RelayService {
  /// Takes what waits, up to the limits of a batch, and commits what it leads to.
  func drainRequests() {
    guarded {
      var bytes = 0
      for _ in 0..<RelayLimits.batchRequests {
        guard failure == nil, bytes < RelayLimits.batchBytes,
          outgoing.pages.count < RelayLimits.batchPages
        else { break }
        let result = try router!.receive(into: &message)
        guard result != .nothing else { break }
        counters.requests += 1
        // [identity][empty][body]: what REQ sends, and a DEALER that does the same.
        guard result == .message, message.count == 3, message.withBytes(1, { $0.isEmpty }) else {
          refuse(.malformed)
          continue
        }
        bytes += message.withBytes(2) { $0.count }
        handle()
      }
    }
    flush()
  }

  private func handle() {
    let route = message.bytes(0)
    do throws(Problem) {
      let envelope = try message.withBytes(2) { bytes throws(Problem) in
        try Envelope.decode(bytes)
      }
      guard let key = message.userID.flatMap({ CurvePublicKey(z85: $0) }) else {
        throw .notEnrolled
      }
      let family = envelope.device.family
      let isRead = load(family, for: key.bytes)
      let input = RelayMachine.Input.request(
        envelope.device, key: key.bytes, administrator: key == keys.administrator,
        id: envelope.requestID, envelope.request)
      let effects = machine.step(input, now: .now)
      for effect in effects { take(effect, route: route) }
      let isRefused = effects.first?.isRefusal ?? false
      if isRead { noteRead(for: key.bytes, isRefused: isRefused) }
      // Devices attach before they do anything else: commands need no look at the connection.
      if !isRefused, !envelope.request.isCommand || key == keys.administrator {
        requestGuard?.prove(message.descriptor)
      }
      forgetUnknown(family)
    } catch {
      refuse(error)
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
      let key = event.userID.flatMap({ CurvePublicKey(z85: $0) })
    else { return false }
    let isRead = load(meaning.family, for: key.bytes)
    let input = RelayMachine.Input.subscribed(
      meaning.family, meaning.audience, generation: meaning.generation, key: key.bytes)
    let effects = machine.step(input, now: .now)
    for effect in effects { take(effect, route: []) }
    if isRead { noteRead(for: key.bytes, isRefused: effects.isEmpty) }
    forgetUnknown(meaning.family)
    return effects.contains(.approve)
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
  private func load(_ family: FamilyID, for key: [UInt8]) -> Bool {
    guard !machine.holds(family),
      key == keys.administrator.bytes || strangers.mayRead(key, now: .now)
    else { return false }
    guarded {
      let stored = try store.load(family)
      machine.load(
        family, events: try stored.events.map { try Event.decode($0.payload) },
        cursors: stored.cursors.map { ($0.device, $0.cursor) }, now: .now)
      counters.loads += 1
    }
    return true
  }

  private func noteRead(for key: [UInt8], isRefused: Bool) {
    strangers.read(for: key, isRefused: isRefused, now: .now)
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
