import FamilyCore
import FamilyModel
import RelayStore
import RelayWire
import ZeroMQ

extension RelayService {
  /// Makes what the lanes have done durable, then lets everything go that waited for it.
  func flush() {
    guarded {
      try finish()
      try collect()
      if !batch.isEmpty { try committer.commit(&batch) }
      swap(&committing, &durable)
      try release()
      evict()
    }
  }

  /// Begins to make durable what the lanes have done; what was begun before may go.
  func begin() throws {
    try settle()
    try collect()
    guard !batch.isEmpty else {
      try release()
      return swap(&committing, &durable)
    }
    isCommitting = true
    committer.begin(&batch)
  }

  /// Waits until what was begun is durable, and lets it go.
  func finish() throws {
    try settle()
    try release()
  }

  /// Waits until what was begun is durable; what was so before goes out first.
  private func settle() throws {
    try release()
    guard isCommitting else { return }
    isCommitting = false
    try committer.wait()
    swap(&committing, &durable)
  }

  /// Takes what the lanes have done; they must not be at work, and nothing on its way to the store.
  private func collect() throws {
    decided = 0
    for (index, place) in crew.places.enumerated() {
      place.with { lane in
        swap(&lane.outgoing, &committing[index])
        batch.events += committing[index].events
        batch.snapshots += committing[index].snapshots
        batch.cursors += lane.cursors.take(events: committing[index].events.count, .now)
      }
      try republish(committing[index].republishes, in: place)
    }
    guard !batch.isEmpty else { return }
    counters.commits += 1
    counters.events += batch.events.count
  }

  /// Sends all that waited for its commit. It looks into no lane: they may be at work.
  func release() throws {
    // Who has gone asks again; who does not read is not waited for.
    for (route, bytes) in refusals.replies { try reply(route, bytes) }
    for lane in durable { for (route, bytes) in lane.replies { try reply(route, bytes) } }
    for lane in durable { for (topic, bytes) in lane.broadcasts { try publish(topic, bytes) } }
    for lane in durable { for page in lane.pages { try send(page) } }
    clear(&refusals)
    for index in durable.indices { clear(&durable[index]) }
  }

  private func clear(_ lane: inout Outgoing) {
    counters.malformed += lane.malformed
    for descriptor in lane.proved { requestGuard?.prove(descriptor) }
    lane.removeAll()
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

  private func send(_ item: Outgoing.Page) throws {
    let page = try page(item.device.family, item.audience, item.after, Limits.pageEvents)
    let envelope = ReplyEnvelope(
      device: item.device, requestID: item.id,
      reply: .page(item.audience, page.events, more: page.more, upTo: item.upTo))
    try reply(item.route, envelope.encode())
  }

  /// Sends again what is in the store, and so need not wait for a commit.
  private func republish(_ all: [Outgoing.Republish], in place: Crew.Place) throws {
    for item in all {
      counters.republished += 1
      for event in try page(item.family, item.audience, item.after, item.limit).events {
        let (topic, bytes) = place.with {
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
    let count = crew.places.reduce(0) { $0 + $1.with { $0.machine.count } }
    guard count > configuration.maxFamilies else { return }
    let most = configuration.maxFamilies - configuration.maxFamilies / 8
    // Each lane keeps as much of what it has as the others.
    for place in crew.places {
      place.with { $0.machine.evict(most: $0.machine.count * most / count) }
    }
  }

  /// What the clock asks for; tells when it is to be called again, in nanoseconds of `Monotonic`.
  func turn() -> UInt64? {
    let now = Instant.now
    if clock.isSetBack(now, monotonic: Monotonic.now()) {
      for place in crew.places { place.with { $0.setBack(now) } }
    }
    if let due = deadline, due <= now {
      for place in crew.places { place.with { $0.tick(now) } }
      flush()
    }
    guard failure == nil else { return nil }
    let next = deadline.map {
      Monotonic.now()
        + UInt64(max(1, min($0.milliseconds - now.milliseconds, RelayLimits.sleep))) * 1_000_000
    }
    return [next, lookAtConnections()].compactMap { $0 }.min()
  }

  /// The first moment at which a lane wants something.
  private var deadline: Instant? {
    crew.places.compactMap { $0.with { $0.deadline } }.min()
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
