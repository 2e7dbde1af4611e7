import Credentials
import FamilyCore
import FamilyModel
import FamilyTrust

@testable import RelayWire

/// The example exchange of docs/ProtocolExample.md, computed by the code that devices and the relay
/// run.
///
/// Family 7 has an organizer, Rosa (person 1, device 1), and a child, Emily (person 2, device 2).
/// All secrets are one byte repeated, so that a reader can repeat each computation.
struct ProtocolExamples {
  static let family = FamilyID(7)
  static let conversation = Audience.conversation(PersonID(2))
  static let questionID = ID128(high: 0x1122_3344_5566_7788, low: 0x99AA_BBCC_DDEE_FF00)
  static let commandID = ID128(high: 0x0193_52C0_1C00_0001, low: 2)
  static let rosterCommand = ID128(high: 0x0193_52C0_0000_0001, low: 1)
  static let at = Instant(milliseconds: 1_732_176_000_000)

  static func bytes(_ byte: UInt8, _ count: Int = 32) -> [UInt8] {
    .init(repeating: byte, count: count)
  }

  let rosaKeys = DeviceKeys(signingSecret: bytes(0x11), agreementSecret: bytes(0x12))!
  let emilyKeys = DeviceKeys(signingSecret: bytes(0x21), agreementSecret: bytes(0x22))!
  /// The content key of Emily's conversation.
  let contentKey = bytes(0x33)
  let ticket = JoinTicket(secret: bytes(0x44, 16))!
  let channels = ChannelCipher(secret: bytes(0x55))
  /// The CURVE public keys: any 32 bytes, since no socket is opened.
  let relayKey = bytes(0x61)
  let rosaCurve = bytes(0x62)
  let emilyCurve = bytes(0x63)

  var emily: DeviceAddress { DeviceAddress(family: Self.family, device: DeviceID(2)) }
  var vault: KeyVault { KeyVault(emilyKeys) }

  var roster: Roster {
    Roster(
      persons: [
        Person(id: PersonID(1), role: .organizer, displayName: "Rosa"),
        Person(id: PersonID(2), role: .child, displayName: "Emily"),
      ],
      devices: [
        Device(id: DeviceID(1), person: PersonID(1), publicKey: rosaCurve, keys: rosaKeys),
        Device(id: DeviceID(2), person: PersonID(2), publicKey: emilyCurve, keys: emilyKeys),
      ])
  }

  // MARK: sealing

  var keyName: ContentKeyID {
    let label = BoundBytes("permission-relay key name 1").bytes
    return ContentKeyID(bytes: vault.digest(label, under: contentKey).prefix(16))!
  }

  var wrapBinding: [UInt8] { binding("permission-relay key 1", keyName) }
  var contentBinding: [UInt8] { binding("permission-relay content 1", Self.commandID) }

  /// The key of the one content that command `commandID` seals.
  var oneContentKey: [UInt8] {
    let label = BoundBytes("permission-relay one content 1").bytes
    return vault.digest(label + contentBinding, under: contentKey)
  }

  private func binding(_ domain: String, _ id: ID128) -> [UInt8] {
    var bytes = BoundBytes(domain)
    bytes.add(Self.family.rawValue)
    bytes.add(Self.conversation.rawValue)
    bytes.add(id)
    return bytes.bytes
  }

  // MARK: the question

  var question: Question {
    Question(
      id: Self.questionID,
      topic: .communication(
        people: [Subject(handle: Handle("+15550100199", .phoneNumber))], actions: .message))
  }

  var header: QuestionHeader {
    let app = AppID("example.landmarks")
    return QuestionHeader(
      id: Self.questionID, child: PersonID(2), app: app,
      subjects: vault.subjects(vault.tags(of: question, in: app, contentKey)),
      choices: question.choices.map { ChoiceHeader(id: $0.id, answer: $0.answer) },
      expiration: nil)
  }

  /// The knowledge of Emily's device: the heads of the family and of the conversation.
  let known = Knowledge(
    family: ChainPosition(seq: 3, hash: ChainHash(bytes: [UInt8](repeating: 0x33, count: 32))!),
    audience: ChainPosition(seq: 4, hash: ChainHash(bytes: [UInt8](repeating: 0x44, count: 32))!))

  /// The bytes under Emily's signature of the question, whose sealed content is `sealed`.
  func askedBytes(_ sealed: [UInt8]) -> [UInt8] {
    signedBytes(
      .asked(header, .sealed(sealed)), Self.commandID, Self.conversation, DeviceID(2), known)
  }

  /// The nonce that a device derives for the question.
  var nonce: [UInt8] {
    let sealed = vault.seal(
      .question(question), keyName, oneContentKey, binding: contentBinding)
    return Array(sealed.bytes.dropFirst(Self.sealedPrefix).prefix(12))
  }

  /// The bytes before the nonce of a sealed content: the key's name, and the box's tag and count.
  private static let sealedPrefix = 22

  /// The digest by which the next roster names this one.
  var rosterName: [UInt8] {
    let event = Event(
      seq: 1, previous: 0, audience: .family, command: Self.rosterCommand, device: DeviceID(1),
      at: Self.at, body: .rosterChanged(roster))
    return event.rosterDigest(in: Self.family, digest: KeyVault.digest).bytes
  }

  var rosterBytes: [UInt8] {
    signedBytes(.rosterChanged(roster), Self.rosterCommand, .family, DeviceID(1), Knowledge())
  }

  private func signedBytes(
    _ body: Event.Body, _ command: CommandID, _ audience: Audience, _ signer: DeviceID,
    _ known: Knowledge
  ) -> [UInt8] {
    SignedBytes.of(
      body, command, in: Self.family, audience, by: signer, knowing: known, question: nil,
      digest: KeyVault.digest, bytes: \.bytes)
  }

  func ask(_ sealed: [UInt8]) -> Request {
    let signature = Signature(
      signer: DeviceID(2), knowing: known, bytes: vault.sign(askedBytes(sealed)))
    return .command(Self.commandID, .ask(header, .sealed(sealed)), signature)
  }

  func asked(_ sealed: [UInt8]) -> Event {
    guard case .command(let id, .ask(let header, let content), let signature) = ask(sealed) else {
      preconditionFailure("ask(_:) returns a command")
    }
    var event = Event(
      seq: 5, previous: 4, audience: Self.conversation, command: id, device: DeviceID(2),
      at: Self.at, body: .asked(header, content), signature: signature)
    event.hash = event.hash(
      after: known.audience.hash, in: Self.family, digest: KeyVault.digest)
    return event
  }

  // MARK: the messages

  var channel: Channel {
    var channel = Channel(
      audience: Self.conversation, generation: 0, head: 4, hash: known.audience.hash,
      receipt: Receipt(delivered: 4, read: 2))
    channel.topic = channels.topic(Self.family, Self.conversation, generation: 0)
    channel.key = channels.key(Self.family, Self.conversation, generation: 0)
    return channel
  }

  var code: JoinCode {
    let credential = Credential(
      address: DeviceAddress(family: Self.family, device: DeviceID(1)), personID: PersonID(1),
      role: .organizer, name: "Rosa", keys: try! .generate(), deviceKeys: rosaKeys,
      organizerKey: rosaKeys.signingKey, relayKey: .init(bytes: relayKey)!,
      requests: "tcp://relay.example:7001", broadcasts: "tcp://relay.example:7002")
    return JoinCode(ticket, from: credential)
  }

  /// The bytes of each example, by the name that its block has in the document.
  ///
  /// - Parameter sealed: The sealed content of the question. Its nonce is random, so the document's
  ///   own is given.
  func all(sealed: [UInt8]) -> [String: [UInt8]] {
    let conversation = Self.conversation
    func request(_ id: UInt64, _ request: Request) -> [UInt8] {
      Envelope(device: emily, requestID: id, request: request).encode()
    }
    func reply(_ id: UInt64, _ reply: Reply, _ inbox: Inbox? = nil) -> [UInt8] {
      var envelope = ReplyEnvelope(device: emily, requestID: id, reply: reply)
      envelope.inbox = inbox
      return envelope.encode()
    }
    let join = ticket.join(Self.family, publicKey: emilyCurve, keys: emilyKeys)
    let stranger = DeviceAddress(family: Self.family, device: DeviceID(0))
    return [
      "attach": request(1, .attach([Cursor(conversation, delivered: 4, read: 2)])),
      "attached": reply(1, .attached([channel]), Inbox(process: 0x71_7273, number: 5)),
      "content": Content.question(question).bytes,
      "key-name": keyName.bytes,
      "one-content-key": oneContentKey,
      "subjects": header.subjects,
      "signed-question": askedBytes(sealed),
      "ask": request(0, ask(sealed)),
      "event": asked(sealed).encode(),
      "broadcast": Broadcast.event(asked(sealed)).encode(),
      "acknowledge": request(2, .acknowledge([Cursor(conversation, delivered: 5, read: 2)])),
      "accepted": reply(3, .accepted(Self.commandID, seq: 5)),
      "refused": reply(3, .refused(Self.commandID, .alreadyAsked)),
      "fetch": request(4, .fetch(conversation, after: 4)),
      "ping": request(5, .ping),
      "pong": reply(5, .pong),
      "failed": ReplyEnvelope(
        device: DeviceAddress(family: FamilyID(0), device: DeviceID(0)), requestID: 0,
        reply: .failed(.malformed)
      ).encode(),
      "nonce": nonce,
      "former": rosterName,
      "roster-digest": KeyVault.digest(roster.hiddenBytes),
      "signed-roster": rosterBytes,
      "signed-join": join.signedBytes(family: Self.family),
      "join": Envelope(device: stranger, requestID: 1, request: .join(join)).encode(),
    ]
  }
}
