public import FamilyModel
import Foundation
import SwiftProtobuf

/// A request with its sender's address and number.
public struct Envelope: Hashable, Sendable {
  /// The device that sends the request. Device 0 is the administrator, or a device that joins.
  public var device: DeviceAddress
  /// The number that the reply repeats. For 0 in a command see ``Request/command(_:_:_:)``.
  public var requestID: UInt64
  /// The request itself.
  public var request: Request
  /// The pass of the relay's last ``ReplyEnvelope/pass``; only with `attach`, otherwise empty.
  public var pass: [UInt8] = []

  /// Creates the request `requestID` of `device`.
  public init(device: DeviceAddress, requestID: UInt64, request: Request) {
    self.device = device
    self.requestID = requestID
    self.request = request
  }

  /// Encodes the request as the body frame of a message.
  public func encode() -> [UInt8] {
    fastPathBytes ?? libraryBytes
  }

  var libraryBytes: [UInt8] {
    var message = PBRequest()
    message.version = Wire.version
    message.family = device.family.rawValue
    message.device = device.device.rawValue
    message.id = requestID
    switch request {
    case .command(let id, let command, let signature):
      if let signature { message.signature = signature.wire }
      message.commandID = Data(id.bytes)
      message.command = command.wire
    case .attach(let cursors):
      message.attach = wire(cursors)
      message.pass = Data(pass)
    case .fetch(let audience, let after):
      message.fetch = .with {
        $0.audience = audience.rawValue
        $0.after = after
      }
    case .acknowledge(let cursors): message.acknowledge = wire(cursors)
    case .ping: message.ping = PBEmpty()
    case .present(let others):
      message.present = .with {
        $0.families = others.map(\.family.rawValue)
        $0.devices = others.map(\.device.rawValue)
      }
    case .join(let join): message.join = join.wire
    case .evaluate(let element, let isNew):
      message.evaluate = .with {
        $0.element = Data(element)
        $0.isNew = isNew
      }
    }
    return Wire.encode(message)
  }

  /// Decodes a body frame. Contents stay sealed.
  ///
  /// - Throws: `unsupportedVersion`, `malformed`, `tooLarge` or `unknownRequest`.
  public static func decode(_ bytes: UnsafeRawBufferPointer) throws(Problem) -> Envelope {
    guard bytes.count <= Limits.frameBytes else { throw .tooLarge }
    if let envelope = Envelope(fastPath: bytes) { return envelope }
    return try decode(byLibrary: bytes)
  }

  static func decode(byLibrary bytes: UnsafeRawBufferPointer) throws(Problem) -> Envelope {
    let message = try Wire.parse(PBRequest.self, bytes)
    try Wire.check(version: message.version)
    var envelope = Envelope(
      device: DeviceAddress(family: FamilyID(message.family), device: DeviceID(message.device)),
      requestID: message.id, request: try request(message))
    if case .attach = envelope.request { envelope.pass = try Wire.pass(message.pass) }
    return envelope
  }

  private static func request(_ message: PBRequest) throws(Problem) -> Request {
    switch message.body {
    case .command(let command):
      return .command(
        try Wire.id(message.commandID), try Command(command),
        message.hasSignature ? try Signature(message.signature) : nil)
    case .attach(let list): return .attach(try cursors(list))
    case .fetch(let fetch):
      return .fetch(Audience(rawValue: fetch.audience), after: fetch.after)
    case .acknowledge(let list): return .acknowledge(try cursors(list))
    case .ping: return .ping
    case .present(let present): return .present(try devices(present))
    case .join(let join): return .join(try JoinRequest(join))
    case .evaluate(let evaluate):
      return .evaluate(
        try Wire.exactly(PasscodeEvaluation.elementBytes, evaluate.element),
        isNew: evaluate.isNew)
    case nil: throw .unknownRequest
    }
  }
}

private func wire(_ cursors: [Cursor]) -> PBCursors {
  .with { $0.cursors = cursors.map(\.wire) }
}

private func cursors(_ wire: PBCursors) throws(Problem) -> [Cursor] {
  // A device reads at most the family audience and two audiences per person.
  try Wire.map(wire.cursors, limit: 1 + 2 * Limits.persons) { cursor throws(Problem) in
    Cursor(cursor)
  }
}

private func devices(_ wire: PBPresent) throws(Problem) -> [DeviceAddress] {
  guard wire.families.count == wire.devices.count else { throw .malformed }
  guard wire.devices.count <= Limits.presentDevices else { throw .tooLarge }
  return zip(wire.families, wire.devices).map { family, device in
    DeviceAddress(family: FamilyID(family), device: DeviceID(device))
  }
}

extension Cursor {
  var wire: PBCursor {
    .with {
      $0.audience = audience.rawValue
      $0.delivered = delivered
      $0.read = read
    }
  }

  init(_ wire: PBCursor) {
    self.init(Audience(rawValue: wire.audience), delivered: wire.delivered, read: wire.read)
  }
}

extension Command {
  var wire: PBCommand {
    .with { message in
      switch self {
      case .setRoster(let roster): message.setRoster = roster.wire
      case .setAccount(let person, let content):
        message.setAccount = RelayWire.wire(person, content)
      case .setLimits(let child, let on): message.setLimits = RelayWire.wire(child, limits: on)
      case .ask(let header, let content): message.ask = RelayWire.wire(header, content)
      case .remind(let id): message.remind = Data(id.bytes)
      case .cancel(let id): message.cancel = Data(id.bytes)
      case .answer(let id, let choice):
        message.answer = .with {
          $0.question = Data(id.bytes)
          $0.choice = choice
        }
      case .post(let child, let content): message.post = RelayWire.wire(child, content)
      case .changeContact(let child, let content):
        message.changeContact = RelayWire.wire(child, content)
      case .setPasscode(let passcode): message.setPasscode = passcode.wire
      case .answerInPerson(let header, let content, let choice, let proof):
        // The header defines the choice's answer; this one is ignored.
        let choice = ChoiceHeader(id: choice, answer: .approval)
        message.answerInPerson = RelayWire.wire(header, content, choice, proof)
      case .withdraw(let child, let content):
        message.withdraw = RelayWire.wire(child, content)
      case .addChild(let name): message.addChild = name
      case .invite(let invitation): message.invite = invitation.wire
      case .noteAge(let person, let content):
        message.noteAge = RelayWire.wire(person, content)
      case .setAge(let person, let content, let proof):
        message.setAge = PBSetAge(person, content, proof)
      case .changeSettings(let child, let content, let proof):
        message.changeSettings = PBChangeSettings(child, content, proof)
      case .shareKeys(let audience, let wraps):
        message.shareKeys = RelayWire.wire(audience, wraps)
      case .complain(let audience, let keys):
        message.complain = RelayWire.wire(audience, keys)
      case .beat: message.beat = true
      case .opaque(let audience, let body): message.opaque = body.wire(in: audience)
      }
    }
  }

  init(_ wire: PBCommand) throws(Problem) {
    switch wire.body {
    case .setRoster(let roster): self = .setRoster(try Roster(roster))
    case .setAccount(let account):
      self = .setAccount(
        PersonID(account.person),
        try Content(carried: account.content, limit: Limits.accountContentBytes))
    case .setLimits(let limits): self = .setLimits(child: PersonID(limits.child), on: limits.on)
    case .ask(let asked):
      self = .ask(try QuestionHeader(asked.header), try Content(carried: asked.content))
    case .remind(let id): self = .remind(try Wire.id(id))
    case .cancel(let id): self = .cancel(try Wire.id(id))
    case .answer(let answer):
      guard answer.choice.utf8.count <= Limits.identifierBytes else { throw .tooLarge }
      self = .answer(try Wire.id(answer.question), choice: answer.choice)
    case .post(let post):
      self = .post(
        child: PersonID(post.person),
        try Content(carried: post.content, limit: Limits.shortContentBytes))
    case .changeContact(let contact):
      self = .changeContact(
        child: PersonID(contact.person),
        try Content(carried: contact.content, limit: Limits.shortContentBytes))
    case .setPasscode(let passcode): self = .setPasscode(try Passcode(passcode))
    case .answerInPerson(let answer):
      self = .answerInPerson(
        try QuestionHeader(answer.header), try Content(carried: answer.content),
        choice: try ChoiceHeader(answer.choice).id, proof: try Wire.signatureBytes(answer.proof))
    case .withdraw(let withdraw):
      self = .withdraw(
        child: PersonID(withdraw.person),
        try Content(carried: withdraw.content, limit: Limits.shortContentBytes))
    case .addChild(let name):
      guard name.utf8.count <= Limits.titleBytes else { throw .tooLarge }
      self = .addChild(displayName: name)
    case .invite(let invitation): self = .invite(try Invitation(invitation))
    case .noteAge(let noted):
      self = .noteAge(
        PersonID(noted.person),
        try Content(carried: noted.content, limit: Limits.accountContentBytes))
    case .setAge(let set):
      let (person, content, proof) = try set.parts
      self = .setAge(person, content, proof: proof)
    case .changeSettings(let changed):
      let (child, content, proof) = try changed.parts
      self = .changeSettings(child, content, proof: proof)
    case .shareKeys(let shared):
      self = .shareKeys(Audience(rawValue: shared.audience), try keyWraps(shared))
    case .complain(let complaint):
      self = .complain(Audience(rawValue: complaint.audience), try keyNames(complaint))
    case .beat(let isSet):
      guard isSet else { throw .malformed }
      self = .beat
    case .opaque(let opaque):
      guard opaque.body.count <= Limits.opaqueBytes else { throw .tooLarge }
      self = .opaque(Audience(rawValue: opaque.audience), try OpaqueBody(opaque))
    case nil: throw .unknownRequest
    }
  }
}
