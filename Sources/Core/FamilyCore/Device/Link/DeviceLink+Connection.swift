import FamilyModel

/// Being attached to the relay: what happens to the connection, and what time brings.
extension DeviceLink {
  mutating func connected(_ now: Instant, into out: inout Output) {
    state = .attaching
    attempts = 0
    attach(now, into: &out)
  }

  mutating func disconnected() {
    state = .detached
    due = nil
    awaitsPong = false
    fetching = [:]
    outbox.suspend()
  }

  /// The clock was set back: what waits for a time of the clock before it is done now.
  mutating func clockSetBack(_ now: Instant) {
    guard state != .detached else { return }
    due = state == .attached && isSpokenFor ? nextPing(now) : now
    newcomersSince = newcomersSince.map { min($0, now) }
    newcomersDue = newcomersDue.map { min($0, now) }
    for audience in fetching.keys.sorted() { fetching[audience]!.due = now }
    if state == .attached { outbox.restart(now) }
  }

  mutating func timer(_ now: Instant, into out: inout Output) {
    for audience in fetching.keys.sorted() where fetching[audience]!.due <= now {
      let attempts = fetching[audience]!.attempts
      fetching[audience] = nil
      fetch(audience, now: now, into: &out, attempts: attempts + 1)
    }
    guard let due, due <= now else { return }
    if state == .attached, !awaitsPong {
      awaitsPong = true
      self.due = now + Timing.requestFirst * 5
      request(.ping, into: &out)
    } else if state != .detached {
      state = .attaching
      attach(now, into: &out)
    }
  }

  mutating func attach(_ now: Instant, into out: inout Output) {
    awaitsPong = false
    fetching = [:]
    request(.attach(position), into: &out)
    due = now + Timing.backoff(attempts, Timing.requestFirst, Timing.requestMost)
    attempts += 1
  }

  mutating func attached(_ channels: [Channel], now: Instant, into out: inout Output) {
    guard state != .detached else { return }
    // Not asked for: the answer to a ping of a device that is late.
    let anew = state == .attached
    state = .attached
    attempts = 0
    awaitsPong = false
    due = nextPing(now)
    out.sends.append(.listen(channels, anew: anew))
    familyHead = channels.first { $0.audience == .family }?.head ?? familyHead
    newcomersDue = trust == nil ? nil : now
    for channel in channels {
      advance(channel.audience, channel.receipt, into: &out)
      if channel.head > delivered(channel.audience) { fetch(channel.audience, now: now, into: &out) }
    }
    outbox.restart(now)
  }

  /// New audiences may have come with a roster: attach again to learn their channels.
  mutating func reattach(_ now: Instant, into out: inout Output) {
    if state == .attached { attach(now, into: &out) }
  }

  mutating func request(_ request: Request, into out: inout Output) {
    lastRequestID += 1
    out.sends.append(.send(lastRequestID, request))
  }
}
