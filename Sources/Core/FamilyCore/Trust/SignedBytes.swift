package import FamilyModel

/// The bytes that a device signs: family, audience, command, signer, and the complete change. The
/// relay's part of an event (position and time) is not signed.
package enum SignedBytes {
  /// The bytes of an event.
  ///
  /// - Parameters:
  ///   - known: See ``Signature/known``.
  ///   - question: The question that a decision, reminder or cancellation refers to. A decision
  ///     also signs the question's child, choices and digest of subjects.
  ///   - digest: The unkeyed digest, which replaces a roster's hidden parts and the contents. An
  ///     app can thus verify signatures without receiving them.
  ///   - bytes: The encoding of a content as it travels.
  package static func of(
    _ body: Event.Body, _ command: CommandID, in family: FamilyID, _ audience: Audience,
    by signer: DeviceID, knowing known: Knowledge, question: QuestionHeader?,
    digest: ([UInt8]) -> [UInt8], bytes: (Content) -> [UInt8]
  ) -> [UInt8] {
    of(
      body, command, in: family, audience, by: signer, knowing: known, question: question,
      hiddenDigest: { digest($0.hiddenBytes) }, contentDigest: { $0.signedDigest(digest, bytes) })
  }

  /// The bytes of an event, for callers that have digests in place of the digested values.
  static func of(
    _ body: Event.Body, _ command: CommandID, in family: FamilyID, _ audience: Audience,
    by signer: DeviceID, knowing known: Knowledge, question: QuestionHeader?,
    hiddenDigest: (Roster) -> [UInt8], contentDigest digest: (Content) -> [UInt8]
  ) -> [UInt8] {
    var out = BoundBytes("permission-relay command 3")
    out.add(family.rawValue)
    out.add(audience.rawValue)
    out.add(signer.rawValue)
    out.add(known)
    out.add(command)
    // The number is the kind of event: it must never change.
    switch body {
    case .rosterChanged(let roster): out.add(1, roster, hiddenDigest(roster), after: known.roster)
    case .limitsChanged(let child, let on): out.add(2, child, on: on)
    case .accountChanged(let person, let content): out.add(3, person, digest(content))
    case .asked(let header, let content): out.add(4, header, digest(content))
    case .reminded(let id): out.add(5, id)
    case .cancelled(let id): out.add(6, id)
    case .decided(let decision): out.add(7, decision, of: question)
    case .posted(let child, let content): out.add(8, child, digest(content))
    case .contactChanged(let child, let content): out.add(9, child, digest(content))
    case .passcodeChanged(let passcode): out.add(10, passcode)
    case .answeredInPerson(let header, let content, let decision, let proof):
      out.add(11, header, digest(content), decision, proof: proof)
    case .withdrawn(let child, let content): out.add(12, child, digest(content))
    case .keysShared(let wraps): out.add(13, wraps)
    case .invited(let invitation): out.add(14, invitation)
    case .complained(let keys): out.add(50, keys)
    case .beat: out.add(UInt8(51))
    case .opaque(let body): out.add(200, body, digest(.sealed(body.bytes)))
    // No member signs a join request: the request has its own proof.
    case .joinRequested(let join): out.add(15, join.signedBytes(family: family))
    case .ageNoted(let person, let content): out.add(40, person, digest(content))
    case .ageSet(let person, let content, let proof):
      out.add(41, person, digest(content))
      out.add(proof)
    case .settingsChanged(let person, let content, let proof):
      let body = OpaqueBody.settings(person, content, proof: proof)
      out.add(200, body, digest(.sealed(body.bytes)))
    }
    return out.bytes
  }
}

extension SignedBytes {
  /// The digest that names a signed roster, without its position and the history that its signer knew. A
  /// relay that has lost the roster may receive the roster again elsewhere.
  static func digest(
    of roster: Roster, _ command: CommandID, in family: FamilyID, by signer: DeviceID,
    hiddenDigest: [UInt8], _ digest: ([UInt8]) -> [UInt8]
  ) -> ChainHash {
    let bytes = of(
      .rosterChanged(roster), command, in: family, .family, by: signer, knowing: Knowledge(),
      question: nil, hiddenDigest: { _ in hiddenDigest }, contentDigest: { _ in [] })
    // Machines without keys have no digest of 32 bytes.
    return ChainHash(bytes: digest(bytes)) ?? ChainHash()
  }
}

extension Event {
  /// The digest that names the event's roster, as its signer signed it; zero for any other event.
  package func rosterDigest(in family: FamilyID, digest: ([UInt8]) -> [UInt8]) -> ChainHash {
    guard case .rosterChanged(let roster) = body else { return ChainHash() }
    return SignedBytes.digest(
      of: roster, command, in: family, by: signature?.signer ?? device,
      hiddenDigest: digest(roster.hiddenBytes), digest)
  }
}

extension BidirectionalCollection<Event> {
  /// The digest that names the newest roster; zero without one.
  package func rosterDigest(in family: FamilyID, digest: ([UInt8]) -> [UInt8]) -> ChainHash {
    let newest = last { if case .rosterChanged = $0.body { true } else { false } }
    return newest?.rosterDigest(in: family, digest: digest) ?? ChainHash()
  }
}

/// One function for each kind of event: the kind's number, then the values.
extension BoundBytes {
  fileprivate mutating func add(
    _ kind: UInt8, _ roster: Roster, _ hiddenDigest: [UInt8], after former: ChainHash
  ) {
    add(kind)
    add(roster)
    add(hiddenDigest)
    add(former.bytes)
  }

  fileprivate mutating func add(_ kind: UInt8, _ child: PersonID, on: Bool) {
    add(kind)
    add(child.rawValue)
    add(UInt8(on ? 1 : 0))
  }

  fileprivate mutating func add(_ kind: UInt8, _ person: PersonID, _ content: [UInt8]) {
    add(kind)
    add(person.rawValue)
    add(content)
  }

  fileprivate mutating func add(_ kind: UInt8, _ header: QuestionHeader, _ content: [UInt8]) {
    add(kind)
    add(header.app.rawValue)
    add(header)
    add(content)
  }

  fileprivate mutating func add(_ kind: UInt8, _ question: QuestionID) {
    add(kind)
    add(question)
  }

  fileprivate mutating func add(
    _ kind: UInt8, _ decision: Decision, of question: QuestionHeader?
  ) {
    add(kind)
    add(decision)
    if let question { add(question) }
  }

  fileprivate mutating func add(_ kind: UInt8, _ passcode: Passcode) {
    add(kind)
    add(passcode.salt)
    add(passcode.logCost)
    add(passcode.publicKey)
    if !passcode.isOutdated { add(passcode.relayKey) }
  }

  fileprivate mutating func add(
    _ kind: UInt8, _ header: QuestionHeader, _ content: [UInt8], _ decision: Decision,
    proof: [UInt8]
  ) {
    add(kind)
    add(header)
    add(content)
    add(decision)
    add(proof)
  }

  fileprivate mutating func add(_ kind: UInt8, _ wraps: [KeyWrap]) {
    add(kind)
    add(UInt32(wraps.count))
    for wrap in wraps {
      add(wrap.key)
      add(wrap.reader)
      add(wrap.bytes)
    }
  }

  fileprivate mutating func add(_ kind: UInt8, _ keys: [ContentKeyID]) {
    add(kind)
    add(UInt32(keys.count))
    for key in keys { add(key) }
  }

  fileprivate mutating func add(_ kind: UInt8, _ invitation: Invitation) {
    add(kind)
    add(invitation.key)
    add(invitation.person.rawValue)
    add(invitation.expires.milliseconds)
  }

  fileprivate mutating func add(_ kind: UInt8, _ bytes: [UInt8]) {
    add(kind)
    add(bytes)
  }

  /// All kinds of later versions are signed in this way, so that every version verifies them.
  fileprivate mutating func add(_ kind: UInt8, _ body: OpaqueBody, _ digest: [UInt8]) {
    add(kind)
    add(body.kind)
    add(digest)
  }
}

extension BoundBytes {
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

  /// Adds the header without the app, which the digest of the subjects covers. An app may learn
  /// that a number was approved, but not which other app asked.
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
  /// The parts that apps do not receive: names, and the devices' other keys. The keys are random,
  /// so an app cannot guess the names from the digest.
  package var hiddenBytes: [UInt8] {
    var out = BoundBytes("permission-relay roster 1")
    for person in persons { out.add(person.displayName) }
    for device in devices {
      out.add(device.publicKey)
      out.add(device.agreementKey)
    }
    return out.bytes
  }
}
