import FamilyModel

/// The chains of the family's audiences, and the comparison with what a signer knew.
extension EventVerifier {
  /// Starts the chain of an audience that this device may read.
  mutating func open(_ audience: Audience) {
    if !chains.holds(audience) { chains.set(audience, AudienceChain()) }
  }

  /// The newest position of the audience that this device has read.
  func head(_ audience: Audience) -> ChainPosition { chains[audience]?.head ?? ChainPosition() }

  /// Appends an event to its audience's chain.
  ///
  /// - Returns: `false` if the event does not continue the chain; the event then changes nothing.
  mutating func append(_ event: Event) -> Bool {
    let head = head(event.audience)
    guard event.previous == head.seq, event.seq > head.seq, continues(event, after: head) else {
      return false
    }
    chains[event.audience, default: AudienceChain()].append(event.position)
    if event.audience == .family { deferred.release(familyUpTo: event.seq) }
    releaseFitting()
    return true
  }

  /// Makes the deferred events ready whose signers knew this device's present history after all.
  private mutating func releaseFitting() {
    guard deferred.hasForks else { return }
    for entry in deferred.forks where fits(entry.event) { deferred.release(order: entry.order) }
  }

  /// The hash of an event after a position.
  func hash(_ event: Event, after position: ChainPosition) -> ChainHash {
    event.hash(after: position.hash, in: family) { vault.digest($0) }
  }

  /// Whether the event's hash follows the position. The hash of an erased content cannot be computed:
  /// the device believes the relay, and the next signed event that names a later position proves it.
  private func continues(_ event: Event, after position: ChainPosition) -> Bool {
    event.body.isErased || event.hash == hash(event, after: position)
  }

  /// The relation of a position to the audience's chain.
  func relation(of position: ChainPosition, _ audience: Audience) -> AudienceChain.Relation {
    (chains[audience] ?? AudienceChain()).relation(to: position)
  }

  /// Whether the event is in the history that this device has read.
  func hasRead(_ event: Event) -> Bool { relation(of: event.position, event.audience) == .known }

  /// Restores a chain from its stored events and passed positions, up to the stored cursor.
  ///
  /// Events of an abandoned history do not continue the chain and are left out.
  mutating func restoreChain(
    _ audience: Audience, _ events: [Event], passed: [ChainPosition], upTo last: UInt64
  ) {
    let isPassed = passed.map { ($0, nil as Event?) }
    let all = (events.map { ($0.position, $0) } + isPassed).filter { $0.0.seq <= last }
    // A snapshot has the chain of the events that it covers.
    var chain = chains[audience] ?? AudienceChain()
    for (position, event) in all.sorted(by: { $0.0.seq < $1.0.seq })
    where position.seq > chain.head.seq {
      if let event, !continues(event, after: chain.head) { continue }
      chain.append(position)
    }
    chains[audience] = chain
  }

  /// The history that this device knows, for the signature of an event. The signatures of a removal and of
  /// a beat name the heads of all audiences that this device reads.
  func knowledge(for body: Event.Body, in audience: Audience, of device: DeviceID) -> Knowledge {
    var known = Knowledge(
      family: head(.family), audience: audience == .family ? ChainPosition() : head(audience))
    switch body {
    case .rosterChanged(let next):
      known.roster = shownRosters.last?.digest ?? ChainHash()
      if let roster, !roster.removedDevices(in: next).isEmpty { known.heads = heads(of: device) }
    case .beat: known.heads = heads(of: device)
    default: break
    }
    return known
  }

  /// The heads of the audiences that the device reads, except for the family's. A tool may have read
  /// some of them only.
  private func heads(of device: DeviceID) -> [AudienceHead] {
    guard let roster, let person = roster.owner(of: device) else { return [] }
    return roster.audiences(of: person).filter { $0 != .family }
      .compactMap { audience in chains[audience].map { AudienceHead(audience, $0.head) } }
  }

  /// Whether the heads of a removal or of a beat contradict this device's history.
  func contradictsHeads(of event: Event) -> Bool {
    event.signature?.known.heads.contains { relation(of: $0.position, $0.audience) == .differs }
      ?? false
  }

  /// Whether the event's signer knew this device's present history.
  func fits(_ event: Event) -> Bool {
    event.signature.map { compare($0.known, event.audience) == .known } ?? false
  }

  /// Compares what a signer knew with this device's history.
  func compare(_ known: Knowledge, _ audience: Audience) -> AudienceChain.Relation {
    let family = relation(of: known.family, .family)
    guard family == .known, audience != .family else { return family }
    // The reader has read every event before this one, so none can be missing.
    return relation(of: known.audience, audience) == .known ? .known : .differs
  }

  /// Whether an event of this kind may give no permission. Its sealed content decides.
  func mayPermitLess(_ body: Event.Body) -> Bool {
    switch body {
    case .contactChanged, .withdrawn: true
    default: permitsLess(body)
    }
  }

  /// Whether the event gives no permission.
  func permitsLess(_ body: Event.Body) -> Bool {
    switch body {
    // Without the keys, a withdrawal after a fork would not open.
    case .keysShared, .complained, .beat: true
    case .rosterChanged(let next): roster.map { next.isPart(of: $0) } ?? false
    default: body.takesPermission
    }
  }
}

extension Event {
  /// The event's position in its audience's chain.
  var position: ChainPosition { ChainPosition(seq: seq, hash: hash) }
}
