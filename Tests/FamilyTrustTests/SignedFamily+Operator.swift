@testable import FamilyCore
import FamilyModel
import FamilyTrust
import RelayWire

/// Forgeries by an operator.
extension SignedFamily {
  /// A forged event at the end of the audience's chain.
  func forged(
    _ body: Event.Body, in audience: Audience = .conversation(emily), by device: UInt32 = 1,
    id: CommandID? = nil, signature: Signature? = nil
  ) -> Event {
    Event(
      seq: (machines.log.last?.seq ?? 0) + 1,
      previous: machines.log.last { $0.audience == audience }?.seq ?? 0, audience: audience,
      command: id ?? CommandID(high: UInt64(machines.now.milliseconds + 1) << 16, low: 5),
      device: DeviceID(device), at: machines.now, body: body, signature: signature)
  }

  /// The position of the newest roster.
  var rosterSeq: UInt64 { machines.log.last { $0.isRoster }?.seq ?? 0 }

  /// The digest that names the roster at a position.
  func digestOfRoster(upTo seq: UInt64 = .max) -> ChainHash {
    machines.log.filter { $0.seq <= seq }.rosterDigest(in: Self.family, digest: KeyVault.digest)
  }

  /// A signature by any keys that the operator has.
  func sign(
    _ body: Event.Body, _ id: CommandID, _ audience: Audience = .conversation(emily),
    as device: UInt32 = 1, with keys: DeviceKeys? = nil, basedOnSeq: UInt64 = 1,
    about question: QuestionHeader? = nil
  ) -> Signature {
    let seen = machines.log.last { $0.seq <= basedOnSeq && $0.audience == .family }
    let isBeyond = basedOnSeq > machines.log.last?.seq ?? 0
    var known = Knowledge(
      family: isBeyond ? ChainPosition(seq: basedOnSeq) : seen?.position ?? ChainPosition())
    if case .rosterChanged = body { known.roster = digestOfRoster(upTo: basedOnSeq) }
    return sign(body, id, audience, as: device, with: keys, knowing: known, about: question)
  }

  /// A signature by any keys, of a signer who knows this history.
  func sign(
    _ body: Event.Body, _ id: CommandID, _ audience: Audience, as device: UInt32,
    with keys: DeviceKeys? = nil, knowing known: Knowledge, about question: QuestionHeader? = nil
  ) -> Signature {
    let vault = KeyVault(keys ?? self.keys[device]!)
    let bytes = SignedBytes.of(
      body, id, in: Self.family, audience, by: DeviceID(device), knowing: known,
      question: question,
      digest: { vault.digest($0) }, bytes: vault.bytes)
    return Signature(signer: DeviceID(device), knowing: known, bytes: vault.sign(bytes))
  }

  /// The events with the hashes that continue the device's chain, as a hostile relay computes them.
  func relinked(_ events: [Event], for device: UInt32) -> [Event] {
    let link = machines.children[device]?.link ?? machines.guardians[device]?.link
    guard let verifier = link?.verifier else { return events }
    var heads: [Audience: ChainPosition] = [:]
    return events.map { event in
      var event = stored(event)
      let head = heads[event.audience] ?? verifier.head(event.audience)
      if event.previous == head.seq, event.seq > head.seq {
        event.hash = verifier.hash(event, after: head)
        heads[event.audience] = event.position
      }
      return event
    }
  }

  /// The relay shows its own log again.
  mutating func beHonest() {
    tamper = { event, _ in [event] }
    relinks = false
  }

  /// The relay shows its own log again, and the device reads it at its next attachment.
  mutating func readAgain(on device: UInt32, restarts: Bool) {
    beHonest()
    disconnect(device)
    if restarts { restore(device) }
    connect(device)
  }

  /// Shows the device another roster, which guardian 2 has signed, in place of the next one.
  ///
  /// - Returns: The other roster.
  mutating func showOtherRoster(to shown: UInt32) throws -> Roster {
    var other = roster
    other.devices.append(Self.device(6, 2, keys))
    let signed = try machines.guardians[2]!.prepare(.setRoster(other), now: machines.now)[0]
    tamper = { event, device in
      guard device == shown, case .rosterChanged(let roster) = event.body, event.seq > 1,
        roster != other
      else { return [event] }
      var event = event
      (event.body, event.command) = (.rosterChanged(other), signed.id)
      (event.device, event.signature) = (DeviceID(2), signed.signature)
      return [event]
    }
    return other
  }

  /// Stores the event as a relay without checks does, and shows it to all devices.
  mutating func storeUnchecked(_ event: Event) {
    var event = stored(event)
    let head = machines.relay.state(of: Self.family)!.position(event.audience)
    event.hash = event.hash(after: head.hash, in: Self.family, digest: KeyVault.digest)
    machines.log.append(event)
    machines.relay.evict(Self.family)
    machines.relay.load(Self.family, events: machines.log, cursors: [], now: machines.now)
    for device: UInt32 in 1...4 { hand(event, to: device) }
  }

  /// The app entry by which device 3 reports the approval of a question, with the event as its
  /// evidence. The position is zero.
  func approval(of id: QuestionID, provenBy event: Event) -> AppEntry {
    let link = machines.children[3]!.link
    let question = link.question(id)!.question!
    guard
      case .asked(_, let content) = self.event({
        if case .asked(let other, _) = $0 { other.id == id } else { false }
      }).body
    else { preconditionFailure() }
    let vault = link.verifier!.vault
    let secret = link.verifier!.ring.secret(
      vault.keyName(of: content)!, .conversation(Self.emily))!
    let evidence = Evidence(
      event: event, question: header(id).withoutApp,
      tags: vault.tags(of: question, in: Self.app, secret))
    return AppEntry(position: 0, body: .response(question, .approve), evidence: [evidence])
  }

  /// The same event at a new position at the end of the log.
  func again(_ event: Event) -> Event {
    var copy = event
    copy.seq = (machines.log.last?.seq ?? 0) + 1
    copy.previous = machines.log.last { $0.audience == event.audience }?.seq ?? 0
    copy.at = machines.now
    return copy
  }

  func header(_ question: QuestionID) -> QuestionHeader {
    machines.relay.state(of: Self.family)!.questions[question]!.header
  }

  func event(_ isWanted: (Event.Body) -> Bool) -> Event { machines.log.last { isWanted($0.body) }! }
}
