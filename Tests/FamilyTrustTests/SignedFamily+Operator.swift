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

  /// A signature by any keys that the operator has.
  func sign(
    _ body: Event.Body, _ id: CommandID, _ audience: Audience = .conversation(emily),
    as device: UInt32 = 1, with keys: DeviceKeys? = nil, basedOnSeq: UInt64 = 1,
    about question: QuestionHeader? = nil
  ) -> Signature {
    let vault = KeyVault(keys ?? self.keys[device]!)
    let seen = machines.log.last { $0.seq <= basedOnSeq && $0.audience == .family }
    let isBeyond = basedOnSeq > machines.log.last?.seq ?? 0
    let known = Knowledge(
      family: isBeyond ? ChainPosition(seq: basedOnSeq) : seen?.position ?? ChainPosition())
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
