import FamilyModel

/// Beats: guardians' devices sign daily what they have read, so that a device notices what the relay
/// withholds from it.
///
/// Each statement of a guardian's device in the family's audience counts as a beat. The devices of a
/// family take turns, so that a silent family stores one event a day. A beat costs no more than other
/// commands, and no device repeats a lost one.
extension DeviceLink {
  /// The newest statements of guardians' devices, and the wait for them.
  struct Hearing: Sendable {
    /// The relay's time of the newest statement in the family's audience by any guardian's device.
    var newest: Instant?
    /// The time of the newest statement by another guardian's device.
    var newestOfOthers: Instant?
    /// The heads that beats named and that this device had not read then.
    var named: [Audience: UInt64] = [:]
    /// When this device signs a beat; `nil` before it is scheduled.
    var due: Instant?
    /// When this device last signed a beat, by its own clock. A relay that dates events too early
    /// causes no more beats.
    var signed: Instant?
    /// The connected time without news.
    var waited = Milliseconds.zero
    /// When the device last added to `waited`; `nil` while it is not attached.
    var last: Instant?
    var isReported = false
  }

  /// Records a verified statement.
  mutating func hear(_ event: Event) {
    guard let signature = event.signature, let verifier, event.audience == .family,
      verifier.roster?.owner(of: signature.signer)?.role.isGuardian ?? false
    else { return }
    hearing.newest = max(hearing.newest ?? event.at, event.at)
    hearing.due = nil
    guard signature.signer != address.device else { return }
    hearing.newestOfOthers = max(hearing.newestOfOthers ?? event.signedAt, event.signedAt)
    (hearing.waited, hearing.isReported) = (.zero, false)
    // After a fork, the signer's heads may be those of another history.
    guard case .beat = event.body, !verifier.hasFork else { return }
    for head in signature.known.heads where head.position.seq > delivered(head.audience) {
      hearing.named[head.audience] = max(hearing.named[head.audience] ?? 0, head.position.seq)
    }
  }

  /// The audiences that this device reads and in which a beat named an event that has not arrived.
  mutating func audiencesBehind() -> [Audience] {
    guard !hearing.named.isEmpty else { return [] }
    hearing.named = hearing.named.filter { audience, seq in
      seq > delivered(audience) && family.mayRead(audience, address.device)
    }
    return hearing.named.keys.sorted()
  }

  /// When this device signs a beat.
  var beatDue: Instant? { mayShareKeys ? hearing.due : nil }

  /// The devices of guardians, in the order of the roster.
  var guardiansDevices: [Device] {
    roster.devices.filter { roster.owner(of: $0.id)?.role.isGuardian ?? false }
  }

  /// Bits that differ between families, and are equal on all devices of one.
  private var familyBits: UInt64 {
    let mixed = address.family.rawValue &* 0x9E37_79B9_7F4A_7C15
    return mixed ^ (mixed >> 32)
  }

  /// Schedules the next beat, and signs it when it is due.
  mutating func beat(now: Instant, into out: inout Output) {
    guard mayShareKeys, let newest = hearing.newest else { return }
    guard let due = hearing.due else {
      guard let turn = guardiansDevices.firstIndex(where: { $0.id == address.device }) else {
        return hearing.due = Instant(milliseconds: .max)
      }
      let wait = max(.zero, newest + Limits.beatInterval - sender.ids.relayTime(now: now))
      let spread = wait > .zero ? Timing.beatSpread : Timing.lateBeatSpread
      let earliest = hearing.signed.map { $0 + Limits.beatInterval } ?? now
      let delay = Timing.jitter(familyBits, below: spread) + Timing.keyShareTurn * turn
      hearing.due = max(now + wait + delay, earliest)
      return
    }
    guard due <= now else { return }
    // The beat's own event schedules the next one.
    (hearing.due, hearing.signed) = (now + Limits.beatInterval, now)
    guard !pendingCommands.contains(.beat) else { return }
    sender.store(
      .beat, id: nextID(now: now), due: now, basedOnSeq: verifier?.familySeq ?? 0, into: &out)
  }

  // MARK: Silence

  /// The time from which silence counts as long.
  private var silentFrom: Instant? { hearing.newestOfOthers.map { $0 + Limits.silence } }

  /// When this device reports the silence.
  var silenceDue: Instant? {
    guard state == .attached, !hearing.isReported, let last = hearing.last, let silentFrom else {
      return nil
    }
    return max(silentFrom, last + (Limits.silenceConnected - hearing.waited))
  }

  /// Adds to the connected time, and reports a long silence once.
  mutating func checkSilence(now: Instant, into out: inout Output) {
    guard state == .attached, let silentFrom else {
      hearing.last = nil
      return
    }
    // A machine that slept was connected to nothing.
    if let last = hearing.last, last < now {
      hearing.waited += min(now - last, Timing.hostedPingInterval)
    }
    hearing.last = now
    guard !hearing.isReported, silentFrom <= now, hearing.waited >= Limits.silenceConnected else {
      return
    }
    hearing.isReported = true
    let others = guardiansDevices.filter { $0.id != address.device }
    if !others.isEmpty, !isShutOut { out.rejected.append(.noNews) }
  }
}
