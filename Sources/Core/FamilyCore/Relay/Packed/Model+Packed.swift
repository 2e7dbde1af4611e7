import FamilyModel

extension UInt64: Packable {
  func pack(_ packer: inout Packer) { packer.add(self) }
  init(_ packed: inout Unpacker) { self = packed.number() }
}

extension UInt32: Packable {
  func pack(_ packer: inout Packer) { packer.add(UInt64(self)) }
  init(_ packed: inout Unpacker) { self = UInt32(truncatingIfNeeded: packed.number()) }
}

extension Instant: Packable {
  func pack(_ packer: inout Packer) { packer.add(UInt64(bitPattern: milliseconds)) }
  init(_ packed: inout Unpacker) {
    self.init(milliseconds: Int64(bitPattern: packed.number()))
  }
}

extension ID128: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(fixed: high)
    packer.add(fixed: low)
  }
  init(_ packed: inout Unpacker) {
    let high = packed.fixed()
    self.init(high: high, low: packed.fixed())
  }
}

extension ChainHash: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(first)
    packer.add(second)
  }
  init(_ packed: inout Unpacker) {
    let first = packed.value() as ID128
    self.init(first: first, second: packed.value())
  }
}

extension PersonID: Packable {
  func pack(_ packer: inout Packer) { packer.add(rawValue) }
  init(_ packed: inout Unpacker) { self.init(packed.value() as UInt32) }
}

extension DeviceID: Packable {
  func pack(_ packer: inout Packer) { packer.add(rawValue) }
  init(_ packed: inout Unpacker) { self.init(packed.value() as UInt32) }
}

extension Audience: Packable {
  // The person in the upper half makes a shorter varint, because the kind is smaller.
  func pack(_ packer: inout Packer) { packer.add(rawValue >> 32 | rawValue << 32) }
  init(_ packed: inout Unpacker) {
    let swapped = packed.number()
    self.init(rawValue: swapped >> 32 | swapped << 32)
  }
}

extension Person: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(id)
    packer.add(UInt64(role.rawValue))
    packer.add(displayName)
  }
  init(_ packed: inout Unpacker) {
    let id = packed.value() as PersonID
    let role = Role(rawValue: UInt8(truncatingIfNeeded: packed.number()))
    if role == nil { packed.fail() }
    self.init(id: id, role: role ?? .adult, displayName: packed.text())
  }
}

extension Device: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(id)
    packer.add(person)
    packer.add(publicKey)
    packer.add(signingKey)
    packer.add(agreementKey)
  }
  init(_ packed: inout Unpacker) {
    let id = packed.value() as DeviceID
    let person = packed.value() as PersonID
    let publicKey = packed.array()
    let signingKey = packed.array()
    self.init(
      id: id, person: person, publicKey: publicKey, signingKey: signingKey,
      agreementKey: packed.array())
  }
}

extension Roster: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(persons)
    packer.add(devices)
  }
  init(_ packed: inout Unpacker) {
    let persons = packed.value() as [Person]
    self.init(ascending: persons, packed.value())
  }
}

extension RemovedKeys: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(UInt64(keys.count))
    for key in keys { packer.add(key) }
  }
  init(_ packed: inout Unpacker) {
    var keys: [[UInt8]] = []
    for _ in 0..<packed.count() { keys.append(packed.array()) }
    self.init(keys)
  }
}

extension QuestionHeader: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(id)
    packer.add(child)
    packer.add(parts)
    packer.add(expiration)
  }
  init(_ packed: inout Unpacker) {
    let id = packed.value() as QuestionID
    let child = packed.value() as PersonID
    var parts = packed.array()
    if !Self.isWellFormed(parts) {
      packed.fail()
      parts = []
    }
    self.init(id: id, child: child, parts: parts, expiration: packed.value())
  }
}

extension Passcode: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(salt)
    packer.add(UInt64(logCost))
    packer.add(publicKey)
    packer.add(relayKey)
  }
  init(_ packed: inout Unpacker) {
    let salt = packed.array()
    let logCost = UInt8(truncatingIfNeeded: packed.number())
    let publicKey = packed.array()
    self.init(salt: salt, logCost: logCost, publicKey: publicKey, relayKey: packed.array())
  }
}

extension Invitation: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(key)
    packer.add(person)
    packer.add(expires)
  }
  init(_ packed: inout Unpacker) {
    let key = packed.array()
    let person = packed.value() as PersonID
    self.init(key: key, person: person, expires: packed.value())
  }
}

extension JoinRequest: Packable {
  func pack(_ packer: inout Packer) {
    for part in [invitation, publicKey, signingKey, agreementKey, proof] { packer.add(part) }
  }
  init(_ packed: inout Unpacker) {
    let invitation = packed.array()
    let publicKey = packed.array()
    let signingKey = packed.array()
    let agreementKey = packed.array()
    self.init(
      invitation: invitation, publicKey: publicKey, signingKey: signingKey,
      agreementKey: agreementKey, proof: packed.array())
  }
}
