import FamilyCore
import FamilyModel
import History
import RelayWire

/// The only way by which the member's commands leave: with an id, a sealed content, the knowledge of
/// a history and a signature, each of which may be wrong.
extension World {
  typealias Identity = DishonestMember.Identity

  /// Sends a command.
  ///
  /// - Parameters:
  ///   - command: The command with its content open.
  ///   - identity: The sending device.
  ///   - isWrong: Whether the command must not count, even if the rest is right.
  func submit(_ command: Command, _ identity: Identity, isWrong: Bool = false) {
    let member = member!
    var isWrong = isWrong
    let id = drawID()
    func header(_ id: QuestionID) -> QuestionHeader? { member.questions.last { $0.id == id } }
    guard let audience = command.outcome(question: header)?.audience,
      var command = seal(command, id, audience, &isWrong)
    else { return }
    addProof(&command, id, identity, &isWrong)
    guard let (_, body) = command.outcome(question: header) else { return }
    let known = drawKnowledge(body, audience)
    let question = body.laterQuestion.flatMap(header)
    var signature: Signature? = sign(body, id, audience, known, question, identity)
    if member.random.chance(8) {
      signature = drawWrongSignature(body, id, audience, known, question, identity)
      isWrong = true
    }
    var address = identity.address
    if member.random.chance(3) {
      address.device = member.random.pick(member.roster.devices.map(\.id) + [DeviceID(0)])
    }
    member.usedIDs.insert(id)
    if isWrong || id.time > clock(relay.clock) + Limits.idLead + .hours(3) {
      record(.forged(identity.address, id, signature?.bytes ?? []))
    }
    send(.command(id, command, signature), as: identity, address)
  }

  /// Sends a request of a device of the member; sometimes twice, as on two connections.
  func send(_ request: Request, as identity: Identity, _ address: DeviceAddress? = nil) {
    let member = member!
    let envelope = member.envelope(request, address ?? identity.address)
    if case .command = request { member.sent.append((envelope, identity)) }
    post(envelope, identity)
    if member.random.chance(6) { post(envelope, identity) }
  }

  /// Posts an envelope to the relay, unless it has no valid bytes.
  func post(_ envelope: Envelope, _ identity: Identity) {
    guard let decoded = envelope.encode().withUnsafeBytes({ try? Envelope.decode($0) }) else {
      return
    }
    queue.schedule(
      .forgedRequest(member!.index, key: identity.key, decoded),
      at: now + member!.random.milliseconds(1...20))
  }

  // MARK: ids

  /// An id of any time: mostly of the present.
  private func drawID() -> CommandID {
    let member = member!
    let now = clock(relay.clock)
    func id(_ time: Instant) -> CommandID {
      let bits = UInt64(bitPattern: max(0, time.milliseconds)) << 16
      return ID128(high: bits | member.random.next() & 0xFFFF, low: member.random.next())
    }
    switch member.random.below(100) {
    case 0..<62: return id(now)
    case 62..<70: return id(now - member.random.milliseconds(1_000...40_000_000))
    case 70..<77: return id(now + Limits.idLead - .milliseconds(member.random.below(3_000)))
    case 77..<80: return id(now + Limits.idLead + .minutes(1))
    case 80..<83: return id(now + .days(4_000))
    case 83..<91:
      let others = member.events.map(\.command)
      return others.isEmpty ? id(now) : member.random.pick(others)
    case 91..<97:
      return member.usedIDs.isEmpty
        ? id(now) : member.random.pick(member.usedIDs.sorted())
    case 97...:
      return member.random.pick([ID128(high: 0, low: 0), ID128(high: .max, low: .max)])
    default: return id(now)
    }
  }

  // MARK: contents

  /// The command with its content sealed; `nil` if the member has no key.
  private func seal(
    _ command: Command, _ id: CommandID, _ audience: Audience, _ isWrong: inout Bool
  ) -> Command? {
    let member = member!
    guard let content = command.content else { return command }
    let mine = member.secrets.filter { $0.value.audience == audience }.sorted { $0.key < $1.key }
    var (name, secret): (ContentKeyID, [UInt8])
    if let newest = newestKey(audience), member.random.chance(80) {
      (name, secret) = (newest, member.secrets[newest]!.secret)
    } else if !mine.isEmpty, member.random.chance(70) {
      let entry = member.random.pick(mine)
      (name, secret) = (entry.key, entry.value.secret)
    } else {
      // No other device has this key.
      secret = member.own.vault.makeKey()
      name = member.name(of: secret)
      if member.random.chance(60) { member.know(secret, name, audience) }
    }
    var subjects: [UInt8] = []
    if case .question(let question) = content, let app = command.questionApp {
      subjects = member.own.vault.subjects(member.own.vault.tags(of: question, in: app, secret))
    }
    var binding = DishonestMember.contentBinding(member.family, audience, id)
    var sealed = content
    switch member.random.below(100) {
    case 0..<84: break
    case 84..<88:
      binding = DishonestMember.contentBinding(member.family, audience, ID128(high: 1, low: 1))
      isWrong = true
    case 88..<92:
      sealed =
        audience.conversationChild == nil ? .text("x") : .ageSettings(AgeSettings())
      isWrong = true
    case 92..<94:
      sealed = .sealed([0xFF, 0xFF, 0xFF])
      isWrong = true
    case 94 where !isWrong:
      // A field 99: the content of a later version, which every device counts as newer. No device of
      // this version can compare it with a question's header.
      let newer = Content.sealed([154, 6, 3, 1, 2, 3])
      let key = member.contentKey(secret, binding)
      return command.replacing(
        member.own.vault.seal(newer, name, key, binding: binding), subjects: subjects)
    case 95..<97:
      isWrong = true
      return command.replacing(.sealed([1, 2, 3]), subjects: subjects)
    default:
      // The content of another event, as it travelled.
      let others = member.events.compactMap { event in
        event.audience == audience && event.command != id ? event.body.content : nil
      }
      guard !others.isEmpty else { break }
      isWrong = true
      return command.replacing(member.random.pick(others), subjects: subjects)
    }
    let result = member.own.vault.seal(
      sealed, name, member.contentKey(secret, binding), binding: binding)
    if case .question = content, member.random.chance(10) {
      isWrong = true
      return command.replacing(result, subjects: Array(repeating: 7, count: 32))
    }
    return command.replacing(result, subjects: subjects)
  }

  /// The newest shared key of the audience that the member knows.
  private func newestKey(_ audience: Audience) -> ContentKeyID? {
    for event in member!.events.reversed() where event.audience == audience {
      guard case .keysShared(let wraps) = event.body else { continue }
      if let wrap = wraps.first(where: { member!.secrets[$0.key] != nil }) { return wrap.key }
    }
    return nil
  }

  /// Adds a proof of the passcode, which the member does not know.
  private func addProof(
    _ command: inout Command, _ id: CommandID, _ identity: Identity, _ isWrong: inout Bool
  ) {
    let member = member!
    func proof(_ message: [UInt8]) -> [UInt8] {
      let old = member.events.compactMap { event -> [UInt8]? in
        switch event.body {
        case .answeredInPerson(_, _, _, let proof), .ageSet(_, _, let proof),
          .settingsChanged(_, _, let proof):
          proof
        default: nil
        }
      }
      if !old.isEmpty, member.random.chance(60) { return member.random.pick(old) }
      return member.random.chance(50)
        ? identity.vault.sign(message) : Array(repeating: 3, count: 64)
    }
    func digest(_ content: Content) -> [UInt8] {
      if case .sealed(let bytes) = content { FakeVault.digest(bytes) } else { [] }
    }
    func childProof(_ child: PersonID, _ content: Content) -> [UInt8]? {
      guard member.person(of: identity).map({ $0.id == child && $0.role == .child }) ?? false
      else { return nil }
      return proof(
        InPerson.signedBytes(
          family: member.family, command: id, child: child, content: digest(content)))
    }
    switch command {
    case .answerInPerson(let header, let content, let choice, _):
      let message = InPerson.signedBytes(
        family: member.family, command: id, header: header, choice: choice,
        content: digest(content))
      command = .answerInPerson(header, content, choice: choice, proof: proof(message))
      isWrong = true
    case .setAge(let child, let content, _):
      guard let proof = childProof(child, content) else { return }
      command = .setAge(child, content, proof: proof)
      isWrong = true
    case .changeSettings(let child, let content, _):
      guard let proof = childProof(child, content) else { return }
      command = .changeSettings(child, content, proof: proof)
      isWrong = true
    default: break
    }
  }

  // MARK: signatures

  private func sign(
    _ body: Event.Body, _ id: CommandID, _ audience: Audience, _ known: Knowledge,
    _ question: QuestionHeader?, _ identity: Identity, as signer: DeviceID? = nil
  ) -> Signature {
    let signer = signer ?? identity.address.device
    let bytes = SignedBytes.of(
      body, id, in: member!.family, audience, by: signer, knowing: known, question: question,
      digest: { identity.vault.digest($0, under: []) }, bytes: identity.vault.bytes)
    return Signature(signer: signer, knowing: known, bytes: identity.vault.sign(bytes))
  }

  private func drawWrongSignature(
    _ body: Event.Body, _ id: CommandID, _ audience: Audience, _ known: Knowledge,
    _ question: QuestionHeader?, _ identity: Identity
  ) -> Signature? {
    let member = member!
    switch member.random.below(5) {
    case 0: return nil
    case 1:
      return Signature(
        signer: identity.address.device, knowing: known, bytes: Array(repeating: 5, count: 64))
    case 2:
      let others = member.roster.devices.map(\.id).filter { $0 != identity.address.device }
      let signer = others.isEmpty ? DeviceID(7) : member.random.pick(others)
      return sign(body, id, audience, known, question, identity, as: signer)
    case 3:
      let other = ID128(high: id.high, low: ~id.low)
      return sign(body, other, audience, known, question, identity)
    default:
      // The signature of another event.
      return member.events.compactMap(\.signature).first { $0.signer != identity.address.device }
    }
  }

  /// The history that the member claims to know: mostly the true one.
  private func drawKnowledge(_ body: Event.Body, _ audience: Audience) -> Knowledge {
    let member = member!
    func drawPosition(_ audience: Audience) -> ChainPosition {
      var head = member.head(audience)
      let all = member.events.filter { $0.audience == audience }
      switch member.random.below(100) {
      case 0..<78: break
      case 78..<84:
        guard !all.isEmpty else { break }
        let event = member.random.pick(all)
        return ChainPosition(seq: event.seq, hash: event.hash)
      case 84..<87: head.hash = ChainHash()
      case 87..<91: head.hash = ChainHash(bytes: Array(repeating: 8, count: 32))!
      case 91..<94:
        guard !all.isEmpty else { break }
        let hash = ChainHash(bytes: Array(repeating: 8, count: 32))!
        return ChainPosition(seq: member.random.pick(all).seq, hash: hash)
      case 94..<96: head.seq += UInt64(1 + member.random.below(50))
      case 96..<98:
        return ChainPosition(seq: head.seq + UInt64(1 + member.random.below(50)), hash: ChainHash())
      default:
        return ChainPosition(seq: member.random.pick([0, .max, 1 << 40]), hash: ChainHash())
      }
      return head
    }
    var known = Knowledge(
      family: drawPosition(.family),
      audience: audience == .family ? ChainPosition() : drawPosition(audience))
    if case .rosterChanged(let next) = body {
      known.roster = drawFormerRoster()
      let keys = Set(next.devices.map(\.signingKey))
      let removes = member.roster.devices.contains { !keys.contains($0.signingKey) }
      guard removes, member.random.chance(85) else { return known }
      let readable = Set(member.events.map(\.audience)).subtracting([.family]).sorted()
      for audience in readable where member.random.chance(92) {
        known.heads.append(AudienceHead(audience, drawPosition(audience)))
      }
    }
    return known
  }

  /// The roster that the member claims to change: mostly the newest one.
  private func drawFormerRoster() -> ChainHash {
    let member = member!
    switch member.random.below(100) {
    case 0..<88: return member.events.rosterDigest(in: member.family, digest: FakeVault.digest)
    case 88..<92: return ChainHash()
    case 92..<96: return ChainHash(bytes: Array(repeating: 8, count: 32))!
    default:
      let count = member.random.below(member.events.count + 1)
      return member.events.prefix(count)
        .rosterDigest(in: member.family, digest: FakeVault.digest)
    }
  }
}

extension Command {
  /// The app of a question.
  fileprivate var questionApp: AppID? {
    switch self {
    case .ask(let header, _), .answerInPerson(let header, _, _, _): header.app
    default: nil
    }
  }
}
