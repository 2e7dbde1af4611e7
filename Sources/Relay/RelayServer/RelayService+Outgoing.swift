import FamilyCore
import FamilyModel
import RelayStore
import RelayWire
import SystemClock
import ZeroMQ

extension RelayService {
  /// Makes what the lanes, which are at rest, have done durable, then lets everything go that waited for it.
  func flush() {
    guarded {
      handOver()
      committer.finish()
      try release()
      evict()
    }
  }

  /// Has the store take what was handed over: here, if nothing else is to be done.
  func commit() throws {
    try release()
    guard failure == nil else { return }
    guard shards.isAtRest, shards.waiting == 0 else { return committer.begin() }
    committer.commit()
    try release()
  }

  /// Hands over what the lanes, which are at rest, have done.
  func handOver() {
    for worker in shards.workers { worker.with { $0.handOver(to: committer, isUrgent: false) } }
  }

  /// Sends all that is durable; then the relay fails, if the store has. One that has failed says nothing more.
  func release() throws {
    guard failure == nil else { return }
    try send(&refusals)
    let (commits, failure) = committer.takeDurable(&durable)
    counters.commits = commits
    for index in durable.indices { try send(&durable[index]) }
    if let failure { throw failure }
  }

  private func send(_ outgoing: inout ShardOutput) throws {
    // Who has gone asks again; who does not read is not waited for.
    for (route, bytes) in outgoing.replies { try reply(route, bytes) }
    for (topic, bytes) in outgoing.broadcasts { try publish(topic, bytes) }
    for page in outgoing.pages { try send(page) }
    try republish(outgoing.republishes)
    for descriptor in outgoing.proved { requestGuard?.prove(descriptor) }
    counters.malformed += outgoing.malformed
    counters.events += outgoing.events.count
    onTheWay.requests -= outgoing.requests
    onTheWay.bytes -= outgoing.bytes
    outgoing.removeAll()
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

  private func send(_ item: ShardOutput.Page) throws {
    let page = try page(item.device.family, item.audience, item.after, Limits.pageEvents)
    let envelope = ReplyEnvelope(
      device: item.device, requestID: item.id,
      reply: .page(item.audience, page.events, more: page.more, upTo: item.upTo))
    try reply(item.route, envelope.encode())
  }

  /// The lanes have to rest for it: each seals for its families.
  private func republish(_ all: [ShardOutput.Republish]) throws {
    if !all.isEmpty { shards.rest() }
    for item in all {
      counters.republished += 1
      let events = try page(item.family, item.audience, item.after, item.limit).events
      for event in events where event.seq <= item.upTo {
        let (topic, bytes) = shards[item.family].with {
          $0.sealed(.event(event), item.family, item.audience, item.generation)
        }
        try publish(topic, bytes)
      }
    }
  }

  private func page(_ family: FamilyID, _ audience: Audience, _ after: UInt64, _ limit: Int) throws
    -> (events: [Event], more: Bool)
  {
    let page = try committer.read { store throws(StoreError) in
      try store.events(
        of: family, audience, after: after, limit: limit, bytes: Limits.pageBytes)
    }
    return (try page.events.map { try Event.decode($0.payload) }, page.more)
  }

  /// Only when all is stored: a family with events that are not in the store must not be read.
  /// An eighth at a time, so that it is not done for each new family.
  private func evict() {
    let count = shards.families
    guard count > configuration.maxFamilies else { return }
    let most = configuration.maxFamilies - configuration.maxFamilies / 8
    // Each lane keeps as much of what it has as the others.
    for worker in shards.workers {
      worker.with { $0.machine.evict(most: $0.machine.count * most / count) }
    }
  }

  /// Sends what has become durable, serves lanes that are stuck, does what the clock asks for, and takes what there
  /// was no room for; tells when it is to be called again, in nanoseconds of `Monotonic`.
  func turn() -> UInt64? {
    guarded { try release() }
    if shards.isStuck {
      shards.rest()
      settle()
    }
    let now = Instant.now
    if clock.isSetBack(now, monotonic: Monotonic.now()) {
      shards.rest()
      for worker in shards.workers { worker.with { $0.setBack(now) } }
    }
    if let due = deadline, due <= now {
      shards.rest()
      for worker in shards.workers { worker.tick(now) }
      settle()
    }
    if isMoreWaiting { drainRequests() } else { goOn() }
    guard failure == nil else { return nil }
    let next = deadline.map {
      Monotonic.now()
        + UInt64(max(1, min($0.milliseconds - now.milliseconds, RelayLimits.sleep))) * 1_000_000
    }
    let isAgain = isMoreWaiting && !isShedding
    return [next, lookAtConnections(), isAgain ? Monotonic.now() : nil].compactMap { $0 }.min()
  }

  /// The first moment at which a lane wants something. A lane at work looks itself, and has to be looked at
  /// again when it rests.
  private var deadline: Instant? {
    let look = Instant.now + RelayLimits.shardCheckInterval
    return shards.workers.compactMap { $0.isAtRest ? $0.deadline : look }.min()
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
