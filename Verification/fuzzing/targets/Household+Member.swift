import FamilyCore
import FamilyHarness
import FamilyModel
import RelayWire

/// The acts of the member whose keys the fuzzer has.
extension Household {
  private var vault: IdealVault { IdealVault(number: UInt8(truncatingIfNeeded: member)) }

  var scene: FuzzScene {
    let state = machines.relay.state(of: Self.family)
    return FuzzScene(
      now: machines.now, roster: state?.roster ?? Roster(), questions: headers.map(\.id),
      keys: memberKeys.map(\.name))
  }

  /// The headers of all questions.
  private var headers: [QuestionHeader] {
    machines.log.compactMap { event in
      if case .asked(let header, _) = event.body { header } else { nil }
    }
  }

  /// Sends a request of the member, built field by field.
  mutating func attack(_ input: inout Bytes) {
    learnKeys()
    let kind = input.isRare(6) ? input.any(RequestKind.allCases) : .command
    let request = kind.make(&input, Self.family) { command(&$0) }
    precondition(RequestKind(request) == kind)
    let sent = Envelope(device: address(member), requestID: 1, request: request)
    guard let received = try? sent.encode().withUnsafeBytes({ try Envelope.decode($0) }) else {
      return
    }
    self.request(member, 1, received.request)
  }

  private mutating func command(_ input: inout Bytes) -> Request {
    let kind = input.any(CommandKind.allCases)
    let open = scene.make(kind, &input)
    precondition(CommandKind(open) == kind)
    let id =
      input.isRare(8)
      ? input.commandID(machines.now)
      : CommandID(
        high: UInt64(truncatingIfNeeded: machines.now.milliseconds) << 16, low: input.number())
    let headers = headers
    let question = { (id: QuestionID) in headers.first { $0.id == id } }
    guard let audience = open.outcome(question: question)?.audience else {
      return .command(id, open, nil)
    }
    let command = seal(open, id, audience, &input)
    guard let body = command.outcome(question: question)?.1 else {
      return .command(id, command, nil)
    }
    let known = knowledge(of: body, audience, &input)
    let signer = input.isRare(16) ? input.device() : DeviceID(member)
    let bytes = SignedBytes.of(
      body, id, in: Self.family, audience, by: signer, knowing: known,
      question: command.question.flatMap(question), digest: IdealVault.relayDigest,
      bytes: vault.bytes)
    return .command(
      id, command, Signature(signer: signer, knowing: known, bytes: vault.sign(bytes)))
  }

  /// The history that the member knows, or a wrong one.
  private func knowledge(of body: Event.Body, _ audience: Audience, _ input: inout Bytes)
    -> Knowledge
  {
    var known = Knowledge(
      family: head(.family), audience: audience == .family ? ChainPosition() : head(audience))
    if case .rosterChanged = body {
      known.roster = machines.log.rosterDigest(in: Self.family, digest: IdealVault.relayDigest)
      let all: [Audience] = [
        .conversation(Self.child), .account(Self.child), .account(PersonID(1)),
      ]
      known.heads = all.map { AudienceHead($0, head($0)) }
    }
    guard input.isRare(6) else { return known }
    switch input.pick(5) {
    case 0: known.family.seq = input.edge()
    case 1: known.audience.seq = input.edge()
    case 2: known.family = ChainPosition()
    case 3: known.audience = machines.log[Int(input.byte()) % machines.log.count].chainPosition
    default:
      known.heads = input.array(Limits.audienceHeads) { input in
        AudienceHead(input.audience(), ChainPosition(seq: input.edge()))
      }
    }
    return known
  }

  private func head(_ audience: Audience) -> ChainPosition {
    machines.log.last { $0.audience == audience }?.chainPosition ?? ChainPosition()
  }

  // MARK: Contents

  /// Learns the content keys that were shared with the member.
  private mutating func learnKeys() {
    for event in machines.log.dropFirst(readKeyShares) {
      guard case .keysShared(let wraps) = event.body else { continue }
      for wrap in wraps where wrap.reader == vault.agreementKey {
        let binding = Self.keyBinding(event.audience, wrap.key)
        guard let secret = vault.unwrap(wrap.bytes, binding: binding) else { continue }
        memberKeys.append((event.audience, wrap.key, secret))
      }
    }
    readKeyShares = machines.log.count
  }

  private static func keyBinding(_ audience: Audience, _ name: ContentKeyID) -> [UInt8] {
    var bytes = BoundBytes("permission-relay key 1")
    bytes.add(family.rawValue)
    bytes.add(audience.rawValue)
    bytes.add(name)
    return bytes.bytes
  }

  /// The command with its content sealed, or with the wraps of a real key.
  private mutating func seal(
    _ command: Command, _ id: CommandID, _ audience: Audience, _ input: inout Bytes
  ) -> Command {
    if case .shareKeys(_, let wraps) = command, !input.isRare(4) {
      return .shareKeys(audience, shares(wraps, audience, &input))
    }
    guard let content = command.content, !input.isRare(8) else { return command }
    let fitting = memberKeys.filter { $0.audience == audience }
    let usable = fitting.isEmpty || input.isRare(8) ? memberKeys : fitting.suffix(4)
    guard !usable.isEmpty else { return command }
    let (_, name, secret) =
      input.isRare(4) ? input.any(usable.suffix(256)) : usable[usable.count - 1]
    var binding = BoundBytes("permission-relay content 1")
    binding.add(Self.family.rawValue)
    binding.add(audience.rawValue)
    binding.add(id)
    var subjects: [UInt8] = []
    if case .question(let question) = content, let app = command.newApp {
      subjects = vault.subjects(vault.tags(of: question, in: app, secret))
    }
    let key = vault.contentKey(secret, binding.bytes)
    let sealed = vault.seal(content, name, key, binding: binding.bytes)
    let whole = command.replacing(sealed, subjects: subjects)
    return knowsPasscode ? whole.proved(id, vault, &input) : whole
  }

  /// Wraps of a new key or of a known one, for the readers of the audience or for others.
  private mutating func shares(_ wraps: [KeyWrap], _ audience: Audience, _ input: inout Bytes)
    -> [KeyWrap]
  {
    let secret =
      memberKeys.isEmpty || input.isRare(2)
      ? IdealVault.mix([[input.byte()]], 32) : input.any(memberKeys.suffix(256)).secret
    let label = BoundBytes("permission-relay key name 1").bytes
    let name = ContentKeyID(bytes: vault.digest(label, under: secret).prefix(16))
    guard let name else { return wraps }
    memberKeys.append((audience, name, secret))
    let binding = Self.keyBinding(audience, name)
    return founded.devices.map(\.agreementKey).filter { _ in !input.isRare(4) }.map { reader in
      let bytes =
        input.isRare(8) ? [input.byte()] : vault.wrap(secret, for: reader, binding: binding)
      return KeyWrap(key: name, reader: reader, bytes: bytes ?? [])
    }
  }
}

extension Event {
  /// The event's position in its audience's chain.
  fileprivate var chainPosition: ChainPosition { ChainPosition(seq: seq, hash: hash) }
}

extension Command {
  fileprivate var newApp: AppID? {
    switch self {
    case .ask(let header, _), .answerInPerson(let header, _, _, _): header.app
    default: nil
    }
  }

  /// The command with a valid proof of the passcode, which the child may know.
  fileprivate func proved(_ id: CommandID, _ vault: IdealVault, _ input: inout Bytes) -> Command {
    guard input.isRare(4) else { return self }
    let family = Household.family
    let passcode = IdealVault(number: 200)
    switch self {
    case .answerInPerson(let header, let content, let choice, _):
      let bytes = InPerson.signedBytes(
        family: family, command: id, header: header, choice: choice,
        content: IdealVault.relayDigest(content.bytes))
      return .answerInPerson(header, content, choice: choice, proof: passcode.sign(bytes))
    case .setAge(let person, let content, _):
      let bytes = InPerson.signedBytes(
        family: family, command: id, child: person, content: IdealVault.relayDigest(content.bytes))
      return .setAge(person, content, proof: passcode.sign(bytes))
    case .changeSettings(let person, let content, _):
      let bytes = InPerson.signedBytes(
        family: family, command: id, child: person, content: IdealVault.relayDigest(content.bytes))
      return .changeSettings(person, content, proof: passcode.sign(bytes))
    default: return self
    }
  }
}
