import FamilyCore
import FamilyModel

/// Key shares with every defect, keys for chosen readers, and complaints.
extension World {
  private func readers(_ audience: Audience) -> [Device] {
    member!.roster.devices.filter { device in
      !device.agreementKey.isEmpty
        && member!.roster.person(device.person).map {
          member!.roster.isMember($0, of: audience)
        } ?? false
    }
  }

  private func wrap(
    _ secret: [UInt8], _ name: ContentKeyID, _ audience: Audience, for reader: [UInt8]
  ) -> KeyWrap? {
    let binding = DishonestMember.keyBinding(member!.family, audience, name)
    return member!.own.vault.wrap(secret, for: reader, binding: binding).map {
      KeyWrap(key: name, reader: reader, bytes: $0)
    }
  }

  /// The names of keys that the family has shared, of any audience.
  private var knownNames: [ContentKeyID] {
    member!.events.flatMap { event -> [ContentKeyID] in
      switch event.body {
      case .keysShared(let wraps): wraps.map(\.key)
      case .complained(let names): names
      default: []
      }
    }
  }

  /// Shares a key with missing, repeated, invalid or foreign wraps.
  func shareBadly(_ identity: Identity) {
    let member = member!
    let audience = drawAudience(identity)
    var (name, secret) = (ContentKeyID(high: 0, low: 0), member.own.vault.makeKey())
    name = member.name(of: secret)
    let names = knownNames
    if member.random.chance(40), !names.isEmpty {
      name = member.random.pick(names)
      secret = member.secrets[name]?.secret ?? secret
    } else {
      member.know(secret, name, audience)
    }
    var wraps = readers(audience).compactMap { wrap(secret, name, audience, for: $0.agreementKey) }
    for _ in 0..<(1 + member.random.below(2)) { damage(&wraps, name, audience) }
    submit(.shareKeys(audience, wraps), identity)
  }

  private func damage(_ wraps: inout [KeyWrap], _ name: ContentKeyID, _ audience: Audience) {
    let member = member!
    guard !wraps.isEmpty else { return }
    let index = member.random.below(wraps.count)
    switch member.random.below(7) {
    case 0, 1: wraps.remove(at: index)
    case 2: wraps[index].bytes = Array(repeating: 1, count: 72)
    case 3: wraps.append(wraps[index])
    case 4:
      let foreign = member.random.pick([
        member.makePlant(keys).vault.agreementKey, Array(repeating: 0, count: 32),
        member.random.pick(member.roster.devices).agreementKey,
      ])
      wraps.append(KeyWrap(key: name, reader: foreign, bytes: wraps[index].bytes))
    case 5:
      if let other = wrap(member.own.vault.makeKey(), name, audience, for: wraps[index].reader) {
        wraps[index] = other
      }
    default: wraps[index].key = ContentKeyID(high: member.random.next(), low: 1)
    }
  }

  /// Answers a complaint, or one that may come, with a wrap that does not open.
  func answerComplaintBadly(_ identity: Identity) {
    let member = member!
    for event in member.events.reversed() {
      guard case .complained(let names) = event.body, let name = names.first,
        let reader = member.roster.device(event.device)
      else { continue }
      let wrap = KeyWrap(
        key: name, reader: reader.agreementKey, bytes: Array(repeating: 2, count: 72))
      return submit(.shareKeys(event.audience, [wrap]), identity)
    }
    shareBadly(identity)
  }

  /// Makes a key for all readers, so that honest devices seal under a key that the member knows. Part
  /// of the keys name fewer readers, and some leave out the member.
  func plantKey(_ identity: Identity) {
    let member = member!
    let audience = drawAudience(identity)
    let secret = member.own.vault.makeKey()
    let name = member.name(of: secret)
    member.know(secret, name, audience)
    var readers = readers(audience)
    if member.random.chance(60) { readers.removeAll { $0.id == identity.address.device } }
    if member.random.chance(20), readers.count > 1 { readers.removeLast() }
    submit(
      .shareKeys(
        audience, readers.compactMap { wrap(secret, name, audience, for: $0.agreementKey) }),
      identity)
  }

  /// Shares more keys than one device may make.
  func shareManyKeys(_ identity: Identity) {
    let audience = drawAudience(identity)
    guard let reader = readers(audience).first else { return }
    for _ in 0..<member!.random.pick([2, 9]) {
      let wraps = (0..<9).compactMap { _ -> KeyWrap? in
        let secret = member!.own.vault.makeKey()
        return wrap(secret, member!.name(of: secret), audience, for: reader.agreementKey)
      }
      submit(.shareKeys(audience, wraps), identity)
    }
  }

  func complain(_ identity: Identity) {
    let member = member!
    let audience = drawAudience(identity)
    var names = Array(Set(knownNames).sorted().prefix(64))
    switch member.random.below(4) {
    case 0: names = []
    case 1: names = (0..<65).map { ContentKeyID(high: 9, low: UInt64($0)) }
    case 2: names = [ContentKeyID(high: member.random.next(), low: 3)]
    default: break
    }
    submit(.complain(audience, names), identity)
  }
}
