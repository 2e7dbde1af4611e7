package import FamilyModel

/// The bytes under a device's signature: which family and audience, whose command, and everything that it
/// changes. The relay's own part of an event (its place, its time) is not in them.
package enum SignedBytes {
  /// - Parameters:
  ///   - question: The question that a decision, a reminder or a cancellation is about: a decision is
  ///     signed with the child, the choices, and the digest of app and people.
  ///   - digest: A digest that anybody can make: of a roster's names and other keys, and of contents as they
  ///     travel, sealed. So an app can verify without being given them.
  ///   - bytes: The bytes of a content as it travels.
  package static func of(
    _ body: Event.Body, _ command: CommandID, in family: FamilyID, _ audience: Audience,
    by signer: DeviceID, seen: UInt64, question: QuestionHeader?, digest: ([UInt8]) -> [UInt8],
    bytes contentBytes: (Content) -> [UInt8]
  ) -> [UInt8] {
    func bytes(_ content: Content) -> [UInt8] { digest(contentBytes(content)) }
    return of(
      body, command, in: family, audience, by: signer, seen: seen, question: question,
      rest: { digest($0.rest) }, content: bytes)
  }

  /// The same for whoever has digests in the place of what they are of.
  static func of(
    _ body: Event.Body, _ command: CommandID, in family: FamilyID, _ audience: Audience,
    by signer: DeviceID, seen: UInt64, question: QuestionHeader?, rest: (Roster) -> [UInt8],
    content bytes: (Content) -> [UInt8]
  ) -> [UInt8] {
    var out = BoundBytes("permission-relay command 2")
    out.add(family.rawValue)
    out.add(audience.rawValue)
    out.add(signer.rawValue)
    out.add(seen)
    out.add(command)
    switch body {
    case .rosterChanged(let roster):
      out.add(UInt8(1))
      out.add(roster)
      out.add(rest(roster))
    case .limitsChanged(let child, let on):
      out.add(UInt8(2))
      out.add(child.rawValue)
      out.add(UInt8(on ? 1 : 0))
    case .accountChanged(let person, let content): out.add(3, person, bytes(content))
    case .asked(let header, let content):
      out.add(UInt8(4))
      out.add(header.app.rawValue)
      out.add(header)
      out.add(bytes(content))
    case .reminded(let id):
      out.add(UInt8(5))
      out.add(id)
    case .cancelled(let id):
      out.add(UInt8(6))
      out.add(id)
    case .decided(let decision):
      out.add(UInt8(7))
      out.add(decision)
      if let question { out.add(question) }
    case .posted(let child, let content): out.add(8, child, bytes(content))
    case .contactChanged(let child, let content): out.add(9, child, bytes(content))
    case .passcodeChanged(let passcode):
      out.add(UInt8(10))
      out.add(passcode.salt)
      out.add(passcode.logCost)
      out.add(passcode.publicKey)
    case .answeredInPerson(let header, let content, let decision, let proof):
      out.add(UInt8(11))
      out.add(header)
      out.add(bytes(content))
      out.add(decision)
      out.add(proof)
    case .withdrawn(let child, let content): out.add(12, child, bytes(content))
    case .invited(let invitation):
      out.add(UInt8(14))
      out.add(invitation.key)
      out.add(invitation.person.rawValue)
      out.add(invitation.expires.milliseconds)
    // Signed by nobody in the family: it has its own proof.
    case .joinRequested(let join):
      out.add(UInt8(15))
      out.add(join.signedBytes(family: family))
    case .ageNoted(let person, let content): out.add(40, person, bytes(content))
    case .ageSet(let person, let content, let proof):
      out.add(41, person, bytes(content))
      out.add(proof)
    case .keysShared(let wraps):
      out.add(UInt8(13))
      out.add(UInt32(wraps.count))
      for wrap in wraps {
        out.add(wrap.key)
        out.add(wrap.reader)
        out.add(wrap.bytes)
      }
    }
    return out.bytes
  }
}

extension BoundBytes {
  fileprivate mutating func add(_ kind: UInt8, _ person: PersonID, _ content: [UInt8]) {
    add(kind)
    add(person.rawValue)
    add(content)
  }

  fileprivate mutating func add(_ roster: Roster) {
    add(UInt32(roster.persons.count))
    for person in roster.persons {
      add(person.id.rawValue)
      add(person.role.rawValue)
    }
    add(UInt32(roster.devices.count))
    for device in roster.devices {
      add(device.id.rawValue)
      add(device.person.rawValue)
      add(device.signingKey)
    }
  }

  /// Without the app, which is in the digest of the subjects: who decides for another app's question is none
  /// of an app's business, though it learns what was decided about a number.
  fileprivate mutating func add(_ header: QuestionHeader) {
    add(header.id)
    add(header.child.rawValue)
    add(header.subjects)
    add(UInt32(header.choices.count))
    for choice in header.choices {
      add(choice.id)
      add(choice.answer.rawValue)
    }
    add(UInt8(header.expiration == nil ? 0 : 1))
    add(header.expiration?.milliseconds ?? 0)
  }

  fileprivate mutating func add(_ decision: Decision) {
    add(decision.question)
    add(decision.choice.id)
    add(decision.choice.answer.rawValue)
  }
}

extension Roster {
  /// What apps are not shown: names, and the devices' other keys. Those are random, so nobody finds the names
  /// by trying.
  package var rest: [UInt8] {
    var out = BoundBytes("permission-relay roster 1")
    for person in persons { out.add(person.displayName) }
    for device in devices {
      out.add(device.publicKey)
      out.add(device.agreementKey)
    }
    return out.bytes
  }
}
