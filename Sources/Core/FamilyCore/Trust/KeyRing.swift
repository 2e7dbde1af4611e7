import FamilyModel

/// The content keys that a device has, and who else has them.
///
/// A key is made by whoever writes first to an audience, and again when its readers are not exactly those of
/// the audience any more: who has left does not read what comes, and who comes is given the keys.
struct KeyRing: Sendable {
  struct Entry: Sendable {
    var name: ContentKeyID
    /// `nil`: it is known that the key is there, and this device was not given it.
    var secret: [UInt8]?
    /// The X25519 keys of the devices that were given it.
    var readers: Set<[UInt8]> = []
    /// Whether the relay has the message by which it is shared.
    var isShared = false
  }

  private var entries: [Audience: [Entry]] = [:]

  /// What a key's name and its wraps are bound to.
  static func binding(_ family: FamilyID, _ audience: Audience, _ name: ContentKeyID) -> [UInt8] {
    var bytes = BoundBytes("permission-relay key 1")
    bytes.add(family.rawValue)
    bytes.add(audience.rawValue)
    bytes.add(name)
    return bytes.bytes
  }

  /// The key's name: a digest under the key itself, so that nobody can be given another one by this name.
  static func name(of secret: [UInt8], _ vault: any DeviceVault) -> ContentKeyID {
    let digest = vault.digest(BoundBytes("permission-relay key name 1").bytes, under: secret)
    return ContentKeyID(bytes: digest.prefix(16)) ?? ContentKeyID(high: 0, low: 0)
  }

  func secret(_ name: ContentKeyID, _ audience: Audience) -> [UInt8]? {
    entries[audience]?.first { $0.name == name }?.secret
  }

  /// The newest key that exactly these devices have.
  func usable(_ audience: Audience, for readers: [Device]) -> Entry? {
    let wanted = Set(readers.map(\.agreementKey))
    return entries[audience]?.last { $0.secret != nil && $0.readers == wanted }
  }

  /// Takes what was shared; tells whether a key came that this device did not have.
  mutating func learn(
    _ wraps: [KeyWrap], _ audience: Audience, in family: FamilyID, isShared: Bool,
    _ vault: any DeviceVault
  ) -> Bool {
    var isNew = false
    let own = vault.agreementKey
    for wrap in wraps {
      var list = entries[audience] ?? []
      let index = list.firstIndex { $0.name == wrap.key } ?? list.endIndex
      if index == list.endIndex { list.append(Entry(name: wrap.key)) }
      list[index].readers.insert(wrap.reader)
      list[index].isShared = list[index].isShared || isShared
      if wrap.reader == own, list[index].secret == nil,
        let secret = vault.unwrap(
          wrap.bytes, binding: Self.binding(family, audience, wrap.key)),
        Self.name(of: secret, vault) == wrap.key
      {
        list[index].secret = secret
        isNew = true
      }
      entries[audience] = list
    }
    return isNew
  }

  /// A new key for these devices, this one among them.
  mutating func make(
    _ audience: Audience, for readers: [Device], in family: FamilyID, _ vault: any DeviceVault
  ) -> [KeyWrap] {
    let secret = vault.makeKey()
    let name = Self.name(of: secret, vault)
    let binding = Self.binding(family, audience, name)
    let wraps = readers.compactMap { reader in
      vault.wrap(secret, for: reader.agreementKey, binding: binding).map {
        KeyWrap(key: name, reader: reader.agreementKey, bytes: $0)
      }
    }
    entries[audience, default: []].append(
      Entry(name: name, secret: secret, readers: Set(wraps.map(\.reader))))
    return wraps
  }

  /// Forgets keys that could not be shared.
  mutating func drop(_ wraps: [KeyWrap], _ audience: Audience) {
    let names = Set(wraps.map(\.key))
    entries[audience]?.removeAll { !$0.isShared && names.contains($0.name) }
  }

  /// The keys that devices of the audience lack and this device has, for them.
  func lacking(
    _ audience: Audience, _ readers: [Device], in family: FamilyID, _ vault: any DeviceVault,
    most: Int
  ) -> [(entry: Entry, reader: Device)] {
    var found: [(Entry, Device)] = []
    for entry in entries[audience] ?? [] where entry.secret != nil && entry.isShared {
      for reader in readers where !entry.readers.contains(reader.agreementKey) {
        guard found.count < most else { return found }
        found.append((entry, reader))
      }
    }
    return found
  }
}
