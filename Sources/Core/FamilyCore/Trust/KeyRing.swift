import FamilyModel

/// A device's content keys, and the readers of each key.
///
/// The first writer of an audience makes a key. A writer makes another one whenever the key's
/// readers differ from the audience's readers. Former readers therefore cannot open new contents;
/// new readers receive the earlier keys.
struct KeyRing: Sendable {
  struct Entry: Sendable {
    var name: ContentKeyID
    /// The key; `nil` if the device knows the name but was not given the key.
    var secret: [UInt8]?
    /// The X25519 keys of the devices that were given the key.
    var readers: Set<[UInt8]> = []
    /// Whether the relay has accepted the command that shares the key.
    var isShared = false
  }

  private var entries: [Audience: [Entry]] = [:]

  /// The bytes that a key wrap is bound to.
  static func binding(_ family: FamilyID, _ audience: Audience, _ name: ContentKeyID) -> [UInt8] {
    var bytes = BoundBytes("permission-relay key 1")
    bytes.add(family.rawValue)
    bytes.add(audience.rawValue)
    bytes.add(name)
    return bytes.bytes
  }

  /// The key's name: a digest under the key itself, so another key cannot have this name.
  static func name(of secret: [UInt8], _ vault: any DeviceVault) -> ContentKeyID {
    let digest = vault.digest(BoundBytes("permission-relay key name 1").bytes, under: secret)
    return ContentKeyID(bytes: digest.prefix(16)) ?? ContentKeyID(high: 0, low: 0)
  }

  func secret(_ name: ContentKeyID, _ audience: Audience) -> [UInt8]? {
    entries[audience]?.first { $0.name == name }?.secret
  }

  /// The newest key whose readers are exactly these devices.
  func usable(_ audience: Audience, for readers: [Device]) -> Entry? {
    let wanted = Set(readers.map(\.agreementKey))
    return entries[audience]?.last { $0.secret != nil && $0.readers == wanted }
  }

  /// Adds key wraps, and the keys in those for this device.
  ///
  /// - Returns: Whether the device got a new key.
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

  /// Makes a key for these devices, which include this one.
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

  /// Removes keys whose sharing failed.
  mutating func drop(_ wraps: [KeyWrap], _ audience: Audience) {
    let names = Set(wraps.map(\.key))
    entries[audience]?.removeAll { !$0.isShared && names.contains($0.name) }
  }

  /// The shared keys that readers of the audience lack and this device has, at most `limit`.
  func lacking(
    _ audience: Audience, _ readers: [Device], in family: FamilyID, _ vault: any DeviceVault,
    limit: Int
  ) -> [(entry: Entry, reader: Device)] {
    var found: [(Entry, Device)] = []
    for entry in entries[audience] ?? [] where entry.secret != nil && entry.isShared {
      for reader in readers where !entry.readers.contains(reader.agreementKey) {
        guard found.count < limit else { return found }
        found.append((entry, reader))
      }
    }
    return found
  }
}
