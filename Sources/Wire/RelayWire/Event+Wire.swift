import FamilyCore
public import FamilyModel
import Foundation
import SwiftProtobuf

extension Roster {
  var wire: PBRoster {
    .with {
      $0.persons = persons.map { person in
        .with {
          $0.id = person.id.rawValue
          $0.role = UInt32(person.role.rawValue)
          $0.displayName = person.displayName
        }
      }
      $0.devices = devices.map { device in
        .with {
          $0.id = device.id.rawValue
          $0.person = device.person.rawValue
          $0.publicKey = Data(device.publicKey)
          $0.signingKey = Data(device.signingKey)
          $0.agreementKey = Data(device.agreementKey)
        }
      }
    }
  }

  init(_ wire: PBRoster) throws(Problem) {
    self.init(
      persons: try Wire.map(wire.persons, limit: Limits.persons) { person throws(Problem) in
        let role = try Wire.require(UInt8(exactly: person.role).flatMap(Role.init))
        guard person.displayName.utf8.count <= Limits.titleBytes else { throw .tooLarge }
        return Person(id: PersonID(person.id), role: role, displayName: person.displayName)
      },
      devices: try Wire.map(wire.devices, limit: Limits.devices) { device throws(Problem) in
        let device = Device(
          id: DeviceID(device.id), person: PersonID(device.person),
          publicKey: [UInt8](device.publicKey), signingKey: [UInt8](device.signingKey),
          agreementKey: [UInt8](device.agreementKey))
        guard device.isWellFormed else { throw .malformed }
        return device
      })
  }
}

/// A content that concerns one person.
func wire(_ person: PersonID, _ content: Content) -> PBForPerson {
  .with {
    $0.person = person.rawValue
    $0.content = Data(content.bytes)
  }
}

func wire(_ header: QuestionHeader, _ content: Content) -> PBAsked {
  .with {
    $0.header = header.wire
    $0.content = Data(content.bytes)
  }
}

func wire(_ header: QuestionHeader, _ content: Content, _ choice: ChoiceHeader, _ proof: [UInt8])
  -> PBInPerson
{
  .with {
    $0.header = header.wire
    $0.content = Data(content.bytes)
    $0.choice = choice.wire
    $0.proof = Data(proof)
  }
}

extension Passcode {
  var wire: PBPasscode {
    .with {
      $0.salt = Data(salt)
      $0.logCost = UInt32(logCost)
      $0.publicKey = Data(publicKey)
      $0.relayKey = Data(relayKey)
    }
  }

  init(_ wire: PBPasscode) throws(Problem) {
    let cost = try Wire.require(UInt8(exactly: wire.logCost))
    self.init(
      salt: [UInt8](wire.salt), logCost: cost, publicKey: [UInt8](wire.publicKey),
      relayKey: [UInt8](wire.relayKey))
    try validate()
  }
}

func wire(_ child: PersonID, limits on: Bool) -> PBLimits {
  .with {
    $0.child = child.rawValue
    $0.on = on
  }
}

extension Event {
  /// Encodes the event for the store, pages and broadcasts.
  public func encode() -> [UInt8] {
    fastPathBytes ?? libraryBytes
  }

  var libraryBytes: [UInt8] {
    if case .opaque(let body) = body, !body.isStatement {
      Wire.encode(wire) + body.field
    } else {
      Wire.encode(wire)
    }
  }

  var wire: PBEvent {
    var message = PBEvent()
    message.seq = seq
    message.previous = previous
    message.audience = audience.rawValue
    message.command = Data(command.bytes)
    message.device = device.rawValue
    message.at = at.milliseconds
    if let signature { message.signature = signature.wire }
    message.hash = hash.wire
    if case .erased(let digest) = body.content { message.erased = Data(digest) }
    switch body {
    case .rosterChanged(let roster): message.rosterChanged = roster.wire
    case .limitsChanged(let child, let on):
      message.limitsChanged = RelayWire.wire(child, limits: on)
    case .accountChanged(let person, let content):
      message.accountChanged = RelayWire.wire(person, content)
    case .asked(let header, let content): message.asked = RelayWire.wire(header, content)
    case .reminded(let id): message.reminded = Data(id.bytes)
    case .cancelled(let id): message.cancelled = Data(id.bytes)
    case .decided(let decision):
      message.decided = .with {
        $0.question = Data(decision.question.bytes)
        $0.choice = decision.choice.wire
      }
    case .posted(let child, let content): message.posted = RelayWire.wire(child, content)
    case .contactChanged(let child, let content):
      message.contactChanged = RelayWire.wire(child, content)
    case .passcodeChanged(let passcode): message.passcodeChanged = passcode.wire
    case .invited(let invitation): message.invited = invitation.wire
    case .joinRequested(let join): message.joinRequested = join.wire
    case .answeredInPerson(let header, let content, let decision, let proof):
      message.answeredInPerson = RelayWire.wire(header, content, decision.choice, proof)
    case .withdrawn(let child, let content): message.withdrawn = RelayWire.wire(child, content)
    case .ageNoted(let person, let content): message.ageNoted = RelayWire.wire(person, content)
    case .ageSet(let person, let content, let proof):
      message.ageSet = PBSetAge(person, content, proof)
    case .settingsChanged(let child, let content, let proof):
      message.settingsChanged = PBChangeSettings(child, content, proof)
    case .keysShared(let wraps): message.keysShared = RelayWire.wire(audience, wraps)
    case .complained(let keys): message.complained = RelayWire.wire(audience, keys)
    case .beat: message.beat = true
    case .opaque(let body): if body.isStatement { message.opaque = body.wire(in: nil) }
    }
    return message
  }

  /// Decodes an event. Its content stays sealed. An event of a kind that this version does not know
  /// has an opaque body.
  ///
  /// - Parameter keepingUnreadable: Whether a body of a known kind with values that this version does
  ///   not know becomes opaque, too. The relay does not accept such a body, because it would lose a
  ///   change of what it enforces.
  /// - Throws: `malformed` or `tooLarge`, or the problem of an invalid value.
  public static func decode(_ bytes: [UInt8], keepingUnreadable: Bool = false) throws(Problem)
    -> Event
  {
    guard bytes.count <= Limits.frameBytes else { throw .tooLarge }
    if let event = bytes.withUnsafeBytes({ Event(fastPath: $0) }) { return event }
    return try decode(byLibrary: bytes, keepingUnreadable: keepingUnreadable)
  }

  static func decode(byLibrary bytes: [UInt8], keepingUnreadable: Bool = false) throws(Problem)
    -> Event
  {
    let message = try Wire.parse(PBEvent.self, bytes)
    let body: Body
    do throws(Problem) { body = try Self.body(message) } catch {
      guard message.body == nil || keepingUnreadable else { throw error }
      body = .opaque(try OpaqueBody(ofEvent: bytes))
    }
    return try Event(message, body)
  }

  init(_ message: PBEvent) throws(Problem) { try self.init(message, try Self.body(message)) }

  private init(_ message: PBEvent, _ body: Body) throws(Problem) {
    self.init(
      seq: message.seq, previous: message.previous,
      audience: Audience(rawValue: message.audience), command: try Wire.id(message.command),
      device: DeviceID(message.device), at: try Wire.time(message.at), body: body,
      signature: message.hasSignature ? try Signature(message.signature) : nil,
      hash: try ChainHash(wire: message.hash))
  }

  private static func body(_ message: PBEvent) throws(Problem) -> Body {
    let body = try whole(message)
    guard !message.erased.isEmpty else { return body }
    guard message.erased.count == 32, body.content == .sealed([]) else { throw .malformed }
    return body.replacing(.erased([UInt8](message.erased)))
  }

  private static func whole(_ message: PBEvent) throws(Problem) -> Body {
    switch message.body {
    case .rosterChanged(let roster): return .rosterChanged(try Roster(roster))
    case .limitsChanged(let limits):
      return .limitsChanged(child: PersonID(limits.child), on: limits.on)
    case .accountChanged(let account):
      return .accountChanged(
        PersonID(account.person),
        try Content(carried: account.content, limit: Limits.accountContentBytes))
    case .asked(let asked):
      return .asked(try QuestionHeader(asked.header), try Content(carried: asked.content))
    case .reminded(let id): return .reminded(try Wire.id(id))
    case .cancelled(let id): return .cancelled(try Wire.id(id))
    case .decided(let decision):
      return .decided(
        Decision(
          question: try Wire.id(decision.question), choice: try ChoiceHeader(decision.choice)))
    case .posted(let post):
      return .posted(
        child: PersonID(post.person),
        try Content(carried: post.content, limit: Limits.shortContentBytes))
    case .contactChanged(let contact):
      return .contactChanged(
        child: PersonID(contact.person),
        try Content(carried: contact.content, limit: Limits.shortContentBytes))
    case .passcodeChanged(let passcode): return .passcodeChanged(try Passcode(passcode))
    case .invited(let invitation): return .invited(try Invitation(invitation))
    case .joinRequested(let join): return .joinRequested(try JoinRequest(join))
    case .answeredInPerson(let answered):
      let header = try QuestionHeader(answered.header)
      return .answeredInPerson(
        header, try Content(carried: answered.content),
        Decision(question: header.id, choice: try ChoiceHeader(answered.choice)),
        proof: try Wire.signatureBytes(answered.proof))
    case .withdrawn(let withdrawn):
      return .withdrawn(
        child: PersonID(withdrawn.person),
        try Content(carried: withdrawn.content, limit: Limits.shortContentBytes))
    case .ageNoted(let noted):
      return .ageNoted(
        PersonID(noted.person),
        try Content(carried: noted.content, limit: Limits.accountContentBytes))
    case .ageSet(let set):
      let (person, content, proof) = try set.parts
      return .ageSet(person, content, proof: proof)
    case .settingsChanged(let changed):
      let (child, content, proof) = try changed.parts
      return .settingsChanged(child, content, proof: proof)
    case .keysShared(let shared): return .keysShared(try keyWraps(shared))
    case .complained(let complaint): return .complained(try keyNames(complaint))
    case .beat(let isSet):
      guard isSet else { throw .malformed }
      return .beat
    case .opaque(let opaque): return .opaque(try OpaqueBody(opaque))
    case nil: throw .malformed
    }
  }
}
