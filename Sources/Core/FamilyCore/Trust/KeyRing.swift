import FamilyModel

/// A device's content keys, and the readers of each key.
///
/// The first writer of an audience makes a key. A writer makes another one whenever the key's
/// readers differ from the audience's readers, or a reader has left since the key was made. Former
/// readers therefore cannot open new contents; new readers receive the earlier keys. A key that was
/// shared more than ``Limits/contentKeyAge`` ago is replaced, too.
struct KeyRing: Sendable {
  struct Entry: Sendable {
    var name: ContentKeyID
    /// The key; `nil` if the device knows the name but was not given the key.
    var secret: [UInt8]?
    /// The X25519 keys of the devices that have the key: its sharers, and those it was sealed for.
    var readers: Set<[UInt8]> = []
    /// Whether the relay has accepted the command that shares the key.
    var isShared = false
    /// The newest event of the family's audience that the maker knew.
    var basedOnSeq: UInt64 = 0
    /// The maker, by the first key share in the order of the log; `nil` before this device knows it.
    var origin: (seq: UInt64, at: Instant, maker: Maker)?
    /// When this device made the key, by the newest time of a relay that it knew. A relay that stated a
    /// far later time before makes no key old at once.
    var madeAt: Instant?
    /// The devices that have shared the key. A sharer has it, whatever it says later.
    var sharers: Set<[UInt8]> = []
    /// The sharers whose wraps for this device were invalid since its last complaint.
    var failed: Set<[UInt8]> = []
    /// The readers that complained, each with the devices that shared the key with it since then.
    var answers: [[UInt8]: Set<[UInt8]>] = [:]

    /// Whether the key was shared so long ago that a writer makes another one.
    func isOld(at present: Instant) -> Bool {
      origin.map { max($0.at, madeAt ?? $0.at) + Limits.contentKeyAge < present } ?? false
    }

    /// Whether `device` has shared the key with a reader that complained.
    fileprivate func isAnswered(_ reader: [UInt8], by device: [UInt8]) -> Bool {
      answers[reader]?.contains(device) ?? false
    }
  }

  /// A device in one epoch.
  struct Maker: Hashable, Sendable {
    var epoch: UInt64
    var device: DeviceID
  }

  struct Keys: Sendable {
    var entries: [ContentKeyID: Entry] = [:]
    /// The names in order of arrival.
    var order: [ContentKeyID] = []
    /// The keys that were shared with this device and that it cannot open.
    var unopened: Set<ContentKeyID> = []
    /// The keys that this device complained about although nobody had shared them.
    var unknown: Set<ContentKeyID> = []
    /// The number of keys of each maker.
    var made: [Maker: Int] = [:]
    /// Whether sharing a new key failed since this device's start.
    var wasRefused = false
    /// The epochs, ascending: the first one, and one for each roster with which a reader left.
    var epochs: [(seq: UInt64, began: Instant)]

    init(since founded: Instant) { epochs = [(0, founded)] }

    func epoch(at seq: UInt64) -> (seq: UInt64, began: Instant) {
      epochs.last { $0.seq <= seq } ?? epochs[0]
    }
  }

  var keys: [Audience: Keys] = [:]
  /// The relay's time of the family's first roster.
  var founded = Instant(milliseconds: 0)

  func secret(_ name: ContentKeyID, _ audience: Audience) -> [UInt8]? {
    keys[audience]?.entries[name]?.secret
  }

  /// The number of keys of the audience.
  func count(_ audience: Audience) -> Int { keys[audience]?.order.count ?? 0 }

  /// The newest key of the present epoch whose readers are exactly these devices.
  ///
  /// A reader that complained is a reader again when another device has answered, or for the device
  /// `own`, which knows that its own answer was good.
  func usable(_ audience: Audience, for readers: [Device], own: [UInt8]) -> Entry? {
    let wanted = Set(readers.map(\.agreementKey))
    return newest(audience) { entry in
      entry.readers.isSubset(of: wanted)
        && wanted.subtracting(entry.readers).allSatisfy { entry.isAnswered($0, by: own) }
    }
  }

  /// The newest shared key of the present epoch that these devices have, except for some that
  /// complained, and those.
  func repairable(_ audience: Audience, for readers: [Device]) -> (entry: Entry, [Device])? {
    let wanted = Set(readers.map(\.agreementKey))
    let found = newest(audience) { entry in
      entry.isShared && entry.readers.isSubset(of: wanted)
        && wanted.subtracting(entry.readers).allSatisfy { entry.answers[$0] != nil }
    }
    return found.map { entry in
      (entry, readers.filter { !entry.readers.contains($0.agreementKey) })
    }
  }

  private func newest(_ audience: Audience, where fits: (Entry) -> Bool) -> Entry? {
    guard let keys = keys[audience] else { return nil }
    let epoch = keys.epoch(at: .max).seq
    for name in keys.order.reversed() {
      guard let entry = keys.entries[name], entry.secret != nil, entry.basedOnSeq >= epoch,
        fits(entry)
      else { continue }
      return entry
    }
    return nil
  }

  /// The keys that were shared with this device and that it cannot open.
  var unopened: [(audience: Audience, name: ContentKeyID)] {
    keys.flatMap { audience, keys in keys.unopened.map { (audience, $0) } }
  }

  /// The number of keys that were shared with this device and that it cannot open.
  var unopenedCount: Int { keys.values.reduce(0) { $0 + $1.unopened.count } }

  /// Whether the device `own` may complain about a key of a content that was not shared with it: not
  /// twice, and about few keys that nobody has shared.
  func mayComplain(_ name: ContentKeyID, _ audience: Audience, own: [UInt8]) -> Bool {
    guard let keys = keys[audience] else { return true }
    if let entry = keys.entries[name] {
      return entry.answers[own] == nil && !entry.readers.contains(own)
    }
    return !keys.unknown.contains(name) && keys.unknown.count < Limits.complaintKeys
  }

  /// Records a complaint: the reader does not have these keys. A sharer's complaint about its own
  /// key has no effect, nor has a second one before an answer.
  mutating func complain(
    _ names: [ContentKeyID], _ audience: Audience, by reader: [UInt8], own: [UInt8]
  ) {
    for name in names {
      guard let entry = keys[audience]?.entries[name] else {
        if reader == own {
          let empty = Keys(since: founded)
          keys[audience, default: empty].unknown.insert(name)
        }
        continue
      }
      guard !entry.sharers.contains(reader) else { continue }
      keys[audience]!.entries[name]!.readers.remove(reader)
      keys[audience]!.entries[name]!.answers[reader, default: []].formUnion([])
      guard reader == own else { continue }
      keys[audience]!.unopened.remove(name)
      keys[audience]!.entries[name]!.failed = []
    }
  }

  /// Starts the first epoch of all audiences, with the family's first roster.
  mutating func found(at time: Instant) { founded = time }

  /// Starts an epoch of the audiences that a reader left with the roster of this event.
  mutating func startEpoch(_ audiences: Set<Audience>, with event: Event) {
    let empty = Keys(since: founded)
    for audience in audiences {
      keys[audience, default: empty].epochs.append((event.seq, event.at))
    }
  }

  /// Moves what is after a position of the family's audience to it, because the relay shows another
  /// history after it. The present epochs and keys stay the present ones.
  mutating func rewind(to seq: UInt64) {
    for audience in keys.keys.sorted() {
      keys[audience]!.epochs = keys[audience]!.epochs.map { (min($0.seq, seq), $0.began) }
      for name in keys[audience]!.order {
        let based = keys[audience]!.entries[name]?.basedOnSeq ?? 0
        if based > seq { keys[audience]!.entries[name]?.basedOnSeq = seq }
      }
    }
  }

  /// Adds the keys of a verified key share, and the secrets that are sealed for this device.
  ///
  /// - Returns: The keys that this device can open now.
  /// - Throws: `tooManyKeys`; the share then changes nothing.
  mutating func learn(_ share: Share, in family: FamilyID, _ vault: any DeviceVault)
    throws(Problem) -> [ContentKeyID]
  {
    // The dictionary's value is changed in place: a copy would cost as much as all keys.
    let empty = Keys(since: founded)
    try keys[share.audience, default: empty].add(share)
    var opened: [ContentKeyID] = []
    for wrap in share.wraps {
      if let known = share.known, !known.contains(wrap.reader),
        keys[share.audience]?.entries[wrap.key]?.readers.count ?? 0 >= Limits.keyReaders
      {
        continue
      }
      let binding = Self.binding(family, share.audience, wrap.key)
      if keys[share.audience]!.add(wrap, by: share.sharer.agreementKey, binding, vault) {
        opened.append(wrap.key)
      }
    }
    return opened
  }

  /// Adds key wraps that this device made.
  ///
  /// - Parameters:
  ///   - seq: The newest event of the family's audience that this device knows.
  ///   - isShared: Whether the relay has accepted them.
  /// - Returns: The keys that this device can open now.
  mutating func keep(
    _ wraps: [KeyWrap], _ audience: Audience, in family: FamilyID, seq: UInt64, isShared: Bool,
    _ vault: any DeviceVault
  ) -> [ContentKeyID] {
    var opened: [ContentKeyID] = []
    let empty = Keys(since: founded)
    for wrap in wraps {
      keys[audience, default: empty].add(wrap.key, basedOnSeq: seq)
      let binding = Self.binding(family, audience, wrap.key)
      if keys[audience]!.add(wrap, by: vault.agreementKey, binding, vault) {
        opened.append(wrap.key)
      }
      if isShared { keys[audience]!.entries[wrap.key]!.isShared = true }
    }
    return opened
  }

  /// Whether the device may replace an old key: another one would be within the limit, and none has
  /// failed.
  func mayReplace(_ audience: Audience, by maker: DeviceID, at time: Instant) -> Bool {
    keys[audience]?.wasRefused != true && mayMake(audience, by: maker, at: time)
  }

  /// Whether the device may make another key at the relay's time.
  private func mayMake(_ audience: Audience, by maker: DeviceID, at time: Instant) -> Bool {
    guard let keys = keys[audience] else { return true }
    let epoch = keys.epoch(at: .max)
    let unshared = keys.entries.values.count { $0.origin == nil }
    let made = keys.made[Maker(epoch: epoch.seq, device: maker)] ?? 0
    return made + unshared < Limits.keysPerMaker(since: epoch.began, at: time)
  }

  /// Makes a key for these devices, which include this one.
  ///
  /// - Parameters:
  ///   - maker: This device.
  ///   - seq: The newest event of the family's audience that this device knows.
  ///   - time: The relay's time of the newest event that this device knows.
  /// - Throws: `tooManyKeys`, or `weakKey` if a reader's key is invalid.
  mutating func make(
    _ audience: Audience, for readers: [Device], in family: FamilyID, by maker: DeviceID,
    seq: UInt64, at time: Instant, _ vault: any DeviceVault
  ) throws(Problem) -> [KeyWrap] {
    guard mayMake(audience, by: maker, at: time) else { throw .tooManyKeys }
    var keys = keys[audience] ?? Keys(since: founded)
    let secret = vault.makeKey()
    let name = Self.name(of: secret, vault)
    let binding = Self.binding(family, audience, name)
    let wraps = readers.compactMap { reader in
      vault.wrap(secret, for: reader.agreementKey, binding: binding).map {
        KeyWrap(key: name, reader: reader.agreementKey, bytes: $0)
      }
    }
    guard wraps.count == readers.count else { throw .weakKey }
    keys.add(name, basedOnSeq: seq)
    keys.entries[name]!.secret = secret
    keys.entries[name]!.madeAt = time
    keys.entries[name]!.readers = Set(wraps.map(\.reader))
    self.keys[audience] = keys
    return wraps
  }

  /// Removes keys whose sharing failed.
  mutating func drop(_ wraps: [KeyWrap], _ audience: Audience) {
    guard let known = keys[audience] else { return }
    for name in Set(wraps.map(\.key)) where known.entries[name]?.isShared == false {
      keys[audience]!.wasRefused = true
      keys[audience]!.entries[name] = nil
      keys[audience]!.order.removeAll { $0 == name }
    }
  }

  /// The shared keys that readers of the audience lack and this device has, at most `limit`.
  ///
  /// The device `own` shares a key once with a reader that complained: the next holder is to try.
  func lacking(_ audience: Audience, _ readers: [Device], own: [UInt8], limit: Int)
    -> [(entry: Entry, reader: Device)]
  {
    guard let keys = keys[audience] else { return [] }
    var found: [(Entry, Device)] = []
    for name in keys.order {
      guard let entry = keys.entries[name], entry.secret != nil, entry.isShared else { continue }
      for reader in readers
      where !entry.readers.contains(reader.agreementKey)
        && !entry.isAnswered(reader.agreementKey, by: own)
      {
        guard found.count < limit else { return found }
        found.append((entry, reader))
      }
    }
    return found
  }
}

extension KeyRing.Keys {
  /// Adds a name. Has no effect on a known one.
  fileprivate mutating func add(_ name: ContentKeyID, basedOnSeq seq: UInt64) {
    guard entries[name] == nil else { return }
    entries[name] = KeyRing.Entry(name: name, basedOnSeq: seq)
    order.append(name)
  }

  /// Adds the names of a share, and counts those that its sharer made.
  fileprivate mutating func add(_ share: KeyRing.Share) throws(Problem) {
    let epoch = epoch(at: share.seq)
    let maker = KeyRing.Maker(epoch: epoch.seq, device: share.sharer.id)
    // In the order of the share: the newest key is the same one in every run.
    var distinct: Set<ContentKeyID> = []
    let names = share.wraps.map(\.key).filter { distinct.insert($0).inserted }
    // A later share may be verified first. The order of the log decides who made the key.
    let own = names.filter { (entries[$0]?.origin?.seq ?? .max) > share.seq }
    let count = (made[maker] ?? 0) + own.count { entries[$0]?.origin?.maker != maker }
    guard own.isEmpty || count <= Limits.keysPerMaker(since: epoch.began, at: share.at) else {
      throw .tooManyKeys
    }
    for name in own {
      add(name, basedOnSeq: share.basedOnSeq)
      if let former = entries[name]!.origin?.maker { made[former]! -= 1 }
      made[maker, default: 0] += 1
      entries[name]!.origin = (share.seq, share.at, maker)
      entries[name]!.basedOnSeq = share.basedOnSeq
    }
    for name in names {
      entries[name]!.isShared = true
      // A sharer has the key, whether or not the share names it.
      if !share.sharer.agreementKey.isEmpty {
        entries[name]!.readers.insert(share.sharer.agreementKey)
        entries[name]!.sharers.insert(share.sharer.agreementKey)
      }
    }
  }

  /// Adds a reader of a known key.
  ///
  /// - Returns: Whether the wrap gave this device the key.
  fileprivate mutating func add(
    _ wrap: KeyWrap, by sharer: [UInt8], _ binding: [UInt8], _ vault: any DeviceVault
  ) -> Bool {
    let isOpened = entries[wrap.key]!.add(wrap, by: sharer, binding, vault)
    if wrap.reader == vault.agreementKey {
      if entries[wrap.key]!.secret == nil, entries[wrap.key]!.readers.contains(wrap.reader) {
        unopened.insert(wrap.key)
      } else {
        unopened.remove(wrap.key)
      }
    }
    return isOpened
  }
}

extension KeyRing.Entry {
  /// Adds a reader.
  ///
  /// - Returns: Whether the wrap gave this device the key.
  fileprivate mutating func add(
    _ wrap: KeyWrap, by sharer: [UInt8], _ binding: [UInt8], _ vault: any DeviceVault
  ) -> Bool {
    if answers[wrap.reader] == nil {
      readers.insert(wrap.reader)
    } else if answers[wrap.reader]!.insert(sharer).inserted {
      // Each device answers a complaint once. The reader may complain about each answer.
      readers.insert(wrap.reader)
    }
    guard secret == nil, wrap.reader == vault.agreementKey, !failed.contains(sharer) else {
      return false
    }
    guard let opened = vault.unwrap(wrap.bytes, binding: binding),
      KeyRing.name(of: opened, vault) == name
    else {
      failed.insert(sharer)
      return false
    }
    secret = opened
    return true
  }
}
