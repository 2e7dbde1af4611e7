import FamilyModel

/// Reading an audience again after the relay has shown two histories of it.
///
/// An audience is *read* → (an event or a head does not continue the chain) *reread* → (an event
/// continues the chain) *read*. A reread begins a few positions before the head. Each page that
/// still does not continue the chain begins further back.
///
/// Verified events stay verified: a dishonest relay could otherwise undo a removal by showing
/// another history. Each command counts once, so a repeated event changes nothing.
extension DeviceLink {
  /// The positions of the first step back.
  static let firstRereadStep = 16

  /// Whether the relay's head contradicts this device's history, or the relay has lost events.
  ///
  /// - Parameter attached: The cursors of the attachment that the relay answers. A head behind them
  ///   is not late, but lost. Empty for an unrequested reply.
  func differs(_ channel: Channel, attached: [Cursor]) -> Bool {
    guard let verifier else { return false }
    let sent = attached.first { $0.audience == channel.audience }?.delivered ?? 0
    let head = ChainPosition(seq: channel.head, hash: channel.hash)
    return channel.head < sent || verifier.relation(of: head, channel.audience) == .differs
  }

  /// Moves the cursor back and reads from there.
  mutating func reread(_ audience: Audience, now: Instant, into out: inout Output) {
    guard verifier != nil else { return fetch(audience, now: now, into: &out) }
    correctionDue = correctionDue ?? nextCorrection(now: now)
    if rereads[audience] == nil {
      out.rejected.append(.forked)
    } else if fetching[audience] != nil {
      // The page that was requested decides first.
      return
    }
    let step = rereads[audience] ?? Self.firstRereadStep
    rereads[audience] = min(step * Self.firstRereadStep, Limits.chainPositions)
    rereadEnds[audience] = max(rereadEnds[audience] ?? 0, delivered(audience))
    var chain = verifier!.chains[audience] ?? AudienceChain()
    let removed = chain.rewind(by: step)
    former[audience, default: []] += removed
    // A restart could otherwise take events of both histories for one.
    out.changes += removed.flatMap { position in
      [
        RecordChange.delete(.passed(audience, seq: position.seq)),
        .delete(.event(audience, seq: position.seq)),
        .delete(.newer(audience, seq: position.seq)),
      ]
    }
    verifier!.chains[audience] = chain
    if chain.head.seq < coverage?.head(of: audience) ?? 0 { dropSnapshot(into: &out) }
    dropRequestedSnapshot()
    var cursor = cursors[audience] ?? Cursor(audience, delivered: 0)
    cursor.delivered = chain.head.seq
    cursor.read = min(cursor.read, cursor.delivered)
    moveCursor(to: cursor)
    keepLost(audience, into: &out)
    fetching[audience] = nil
    fetch(audience, now: now, into: &out)
  }

  /// The end of the relay's history is reached: reports what it no longer has.
  mutating func reportLost(_ audience: Audience, into out: inout Output) {
    guard let positions = former.removeValue(forKey: audience), let verifier else { return }
    let lost = positions.filter { verifier.relation(of: $0, audience) != .known }.map(\.seq)
    guard let first = lost.min(), let last = lost.max() else { return }
    out.lost.append((audience, first...last))
  }

  /// The time of the next correction.
  ///
  /// The relay counts acknowledgements by number. One of a lost history could confirm an event of the
  /// present history that never arrived, and the relay would not send that event again.
  private func nextCorrection(now: Instant) -> Instant {
    let soon = now + Timing.correctionDelay
    return corrected.map { max(soon, $0 + Timing.correctionInterval) } ?? soon
  }

  /// Attaches, once no page is outstanding: the cursors of an attachment replace what was
  /// acknowledged.
  mutating func correctAcknowledgements(now: Instant, into out: inout Output) {
    guard let due = correctionDue, due <= now, state == .attached else { return }
    guard fetching.isEmpty, !awaitsAttachment else {
      return correctionDue = now + Timing.correctionDelay
    }
    attach(now: now, into: &out, restarts: false)
  }

  /// Restores the chains of all audiences. A chain with a gap is read again from there.
  mutating func restoreChains(_ events: [Event], _ passed: [Audience: [ChainPosition]]) {
    guard verifier != nil else { return }
    let events = Dictionary(grouping: events, by: \.audience)
    for audience in Set(events.keys).union(cursors.keys).sorted() {
      // Tools restore a machine from a complete history, without cursors.
      verifier!.restoreChain(
        audience, events[audience] ?? [], passed: passed[audience] ?? [],
        upTo: cursors[audience]?.delivered ?? .max)
      let head = verifier!.head(audience).seq
      if head < delivered(audience) { cursors[audience]?.delivered = head }
    }
  }
}
