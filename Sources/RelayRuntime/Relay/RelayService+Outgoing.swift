import FamilyCore
import FamilyModel
import RelayStore
import RelayWire
import ZeroMQ

/// What one batch of inputs led to: first to the store, then to the sockets.
struct Outgoing {
  var batch = Batch()
  /// The last event that was encoded: its broadcast comes right after it.
  var encoded: (family: FamilyID, seq: UInt64, bytes: [UInt8])?
  var cursors = CursorBacklog()
  /// When cursors are written even if no event comes.
  var cursorsDue: Instant?
  var replies: [(route: [UInt8], bytes: [UInt8])] = []
  var broadcasts: [(topic: [UInt8], bytes: [UInt8])] = []
  /// Read from the store after the commit, so that they hold what was decided before them, and not what
  /// was decided after them, when the device may have been removed.
  var pages:
    [(route: [UInt8], device: DeviceAddress, id: UInt64, Audience, after: UInt64, upTo: UInt64)] =
      []
  var republishes: [(FamilyID, generation: UInt32, Audience, after: UInt64, limit: Int)] = []
}

extension RelayService {
  /// Keeps what the last step wants done until the commit.
  func takeEffects(route: [UInt8]) {
    for index in effects.indices { take(effects[index], route: route) }
    effects.removeAll(keepingCapacity: true)
  }

  private func take(_ effect: RelayMachine.Effect, route: [UInt8]) {
    switch effect {
    case .approve: break
    case .append(let family, let event):
      let bytes = event.encode()
      outgoing.encoded = (family, event.seq, bytes)
      outgoing.batch.events.append(
        StoredEvent(
          family: family, seq: event.seq, audience: event.audience, command: event.command,
          at: event.at, payload: bytes))
    case .cursor(let family, let device, let cursor):
      outgoing.cursors.add(StoredCursor(family: family, device: device, cursor: cursor))
      if outgoing.cursorsDue == nil { outgoing.cursorsDue = .now + RelayLimits.cursorDelay }
    case .reply(let device, let id, let reply):
      let reply = ReplyEnvelope(device: device, requestID: id, reply: named(reply, device.family))
      outgoing.replies.append((route, reply.encode()))
    case .page(let device, let id, let audience, let after, let upTo):
      outgoing.pages.append((route, device, id, audience, after, upTo))
    case .broadcast(let family, let generation, let audience, let broadcast):
      outgoing.broadcasts.append(sealed(broadcast, family, audience, generation))
    case .republish(let family, let generation, let audience, let after, let limit):
      outgoing.republishes.append((family, generation, audience, after, limit))
    }
  }

  /// Fills in the topics and keys, which the machine does not know.
  private func named(_ reply: Reply, _ family: FamilyID) -> Reply {
    guard case .attached(var list) = reply else { return reply }
    for index in list.indices {
      let (topic, key) = channels.channel(family, list[index].audience, list[index].generation)
      list[index].topic = topic
      list[index].key = key
    }
    return .attached(list)
  }

  private func sealed(
    _ broadcast: Broadcast, _ family: FamilyID, _ audience: Audience, _ generation: UInt32
  ) -> (topic: [UInt8], bytes: [UInt8]) {
    let channel = channels.sealing(family, audience, generation)
    let bytes: [UInt8]
    if case .event(let event) = broadcast, let last = outgoing.encoded, last.family == family,
      last.seq == event.seq
    {
      bytes = Broadcast.encode(event: last.bytes)
    } else {
      bytes = broadcast.encode()
    }
    if configuration.plainKey != nil { return (channel.topic, bytes) }
    return (channel.topic, nonces.seal(bytes, topic: channel.topic, key: channel.key))
  }

  /// Makes the batch durable, then lets everything go that waited for it.
  func flush() {
    guarded {
      try commit()
      // Who has gone asks again; who does not read is not waited for.
      for (route, bytes) in outgoing.replies { try reply(route, bytes) }
      outgoing.replies.removeAll(keepingCapacity: true)
      for (topic, bytes) in outgoing.broadcasts { try publish(topic, bytes) }
      outgoing.broadcasts.removeAll(keepingCapacity: true)
      for page in outgoing.pages { try send(page) }
      outgoing.pages.removeAll(keepingCapacity: true)
      for (family, generation, audience, after, limit) in outgoing.republishes {
        counters.republished += 1
        for event in try page(family, audience, after, limit).events {
          let (topic, bytes) = sealed(.event(event), family, audience, generation)
          try publish(topic, bytes)
        }
      }
      outgoing.republishes.removeAll(keepingCapacity: true)
      evict()
    }
  }

  /// Cursors alone are not worth an fsync: they wait for their delay, and go with events if some come.
  private func commit() throws {
    let events = outgoing.batch.events.count
    let isDue = outgoing.cursorsDue.map { $0 <= .now } ?? false
    guard events > 0 || isDue else { return }
    if isDue { outgoing.cursors.begin() }
    if outgoing.cursors.isWriting {
      let limit = RelayLimits.cursorFamilies
      outgoing.batch.cursors = outgoing.cursors.take(
        families: events == 0 ? limit.alone : events * limit.perEvent)
    }
    if !outgoing.batch.isEmpty {
      try store.commit(outgoing.batch)
      counters.commits += 1
      counters.events += events
    }
    outgoing.batch.removeAll()
    if isDue, !outgoing.cursors.isWriting {
      outgoing.cursorsDue = outgoing.cursors.isEmpty ? nil : .now + RelayLimits.cursorDelay
    }
  }

  private func reply(_ route: [UInt8], _ bytes: [UInt8]) throws {
    guard try router!.sendPart(route, more: true) == .sent,
      try router!.sendPart([], more: true) == .sent,
      try router!.sendPart(bytes, more: false) == .sent
    else { return counters.unsent += 1 }
  }

  /// Who does not read is not waited for.
  private func publish(_ topic: [UInt8], _ bytes: [UInt8]) throws {
    guard try publisher!.sendPart(topic, more: true) == .sent else { return }
    _ = try publisher!.sendPart(bytes, more: false)
  }

  private func send(
    _ item: (
      route: [UInt8], device: DeviceAddress, id: UInt64, Audience, after: UInt64, upTo: UInt64
    )
  ) throws {
    let (route, device, id, audience, after, upTo) = item
    let page = try page(device.family, audience, after, Limits.pageEvents)
    let envelope = ReplyEnvelope(
      device: device, requestID: id,
      reply: .page(audience, page.events, more: page.more, upTo: upTo))
    try reply(route, envelope.encode())
  }

  private func page(_ family: FamilyID, _ audience: Audience, _ after: UInt64, _ limit: Int) throws
    -> (events: [Event], more: Bool)
  {
    let page = try store.events(
      of: family, audience, after: after, limit: limit, bytes: Limits.pageBytes)
    return (try page.events.map { try Event.decode($0.payload) }, page.more)
  }

  /// Only here, after a commit: a family with events that are not stored yet must not be read again.
  /// An eighth at a time, so that it is not done for each new family.
  private func evict() {
    guard machine.count > configuration.maxFamilies else { return }
    machine.evict(most: configuration.maxFamilies - configuration.maxFamilies / 8)
  }

  /// What the clock asks for; tells when it is to be called again, in nanoseconds of `Monotonic`.
  func turn() -> UInt64? {
    let now = Instant.now
    if clock.isSetBack(now, monotonic: Monotonic.now()) {
      _ = machine.step(.clockSetBack, now: now)
      outgoing.cursorsDue = outgoing.cursorsDue.map { min($0, now) }
    }
    if let due = machine.deadline, due <= now {
      machine.step(.timer, now: now, &effects)
      takeEffects(route: [])
      flush()
    } else if let due = outgoing.cursorsDue, due <= now {
      flush()
    }
    guard failure == nil else { return nil }
    let next = [machine.deadline, outgoing.cursorsDue].compactMap { $0 }.min().map {
      Monotonic.now()
        + UInt64(max(1, min($0.milliseconds - now.milliseconds, RelayLimits.sleep))) * 1_000_000
    }
    return [next, lookAtConnections()].compactMap { $0 }.min()
  }

  /// Cuts off who takes too much; tells when to look again.
  private func lookAtConnections() -> UInt64? {
    let now = Monotonic.now()
    if now >= looked + RelayLimits.look {
      looked = now
      requestGuard?.look()
      broadcastGuard?.look()
      counters.cut = (requestGuard?.cut ?? 0) + (broadcastGuard?.cut ?? 0)
    }
    let isAnyone = (requestGuard?.count ?? 0) + (broadcastGuard?.count ?? 0) > 0
    return isAnyone ? looked + RelayLimits.look : nil
  }
}
