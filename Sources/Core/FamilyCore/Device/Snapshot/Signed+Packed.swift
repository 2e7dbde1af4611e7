import FamilyModel

extension ChainPosition: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(seq)
    packer.add(hash)
  }
  init(_ packed: inout Unpacker) {
    let seq = packed.number()
    self.init(seq: seq, hash: packed.value())
  }
}

extension AudienceHead: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(audience)
    packer.add(position)
  }
  init(_ packed: inout Unpacker) {
    let audience = packed.value() as Audience
    self.init(audience, packed.value())
  }
}

extension Knowledge: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(family)
    packer.add(audience)
    packer.add(heads)
    packer.add(roster)
  }
  init(_ packed: inout Unpacker) {
    let family = packed.value() as ChainPosition
    let audience = packed.value() as ChainPosition
    let heads = packed.value() as [AudienceHead]
    self.init(family: family, audience: audience, heads: heads, roster: packed.value())
  }
}

extension Signature: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(signer)
    packer.add(known)
    withBytes { packer.add($0) }
  }
  init(_ packed: inout Unpacker) {
    let signer = packed.value() as DeviceID
    let known = packed.value() as Knowledge
    var bytes = packed.array()
    if bytes.count != Self.byteCount {
      packed.fail()
      bytes = [UInt8](repeating: 0, count: Self.byteCount)
    }
    self.init(signer: signer, knowing: known, bytes: bytes)
  }
}

extension RosterProof: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(seq)
    packer.add(command)
    packer.add(signature)
    packer.add(roster)
    packer.add(hiddenDigest)
  }
  init(_ packed: inout Unpacker) {
    let seq = packed.number()
    let command = packed.value() as CommandID
    let signature = packed.value() as Signature
    let roster = packed.value() as Roster
    self.init(
      seq: seq, command: command, signature: signature, roster: roster,
      hiddenDigest: packed.array())
  }
}

// MARK: Values that travel

extension Event: Packable {
  func pack(_ packer: inout Packer) { packer.add(packer.coding?.bytes(of: self) ?? []) }

  /// Reads an event with an open content.
  init(_ packed: inout Unpacker) {
    let bytes = packed.array()
    if let event = packed.coding?.event(bytes, isOpen: true) {
      self = event
    } else {
      packed.fail()
      self.init(
        seq: 0, previous: 0, audience: .family, command: ID128(high: 0, low: 0),
        device: DeviceID(0), at: Instant(milliseconds: 0), body: .beat)
    }
  }
}

extension Content: Packable {
  func pack(_ packer: inout Packer) { packer.add(packer.coding?.bytes(of: self) ?? []) }

  init(_ packed: inout Unpacker) {
    let bytes = packed.array()
    if let content = packed.coding?.content(bytes) {
      self = content
    } else {
      packed.fail()
      self = .sealed([])
    }
  }
}

extension Account: Packable {
  func pack(_ packer: inout Packer) { packer.add(Content.account(self)) }

  init(_ packed: inout Unpacker) {
    if case .account(let account) = packed.value() as Content {
      self = account
    } else {
      packed.fail()
      self.init(birthdate: nil, region: "", declaration: .selfDeclared)
    }
  }
}
