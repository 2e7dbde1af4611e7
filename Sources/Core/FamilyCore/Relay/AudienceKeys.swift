import FamilyModel

/// The names of an audience's content keys. They bound the number of keys that one device makes.
///
/// The present epoch began with the last departure of a reader.
struct AudienceKeys: Hashable, Sendable {
  /// The names of all keys, ascending.
  private var names: [ContentKeyID] = []
  /// The number of keys that each device made in the present epoch.
  private var made = SmallMap<DeviceID, UInt32>()

  /// When the present epoch began.
  private var began: Instant

  /// Creates the keys of an audience without keys, of a family that was founded at this moment.
  init(since founded: Instant) { began = founded }

  /// Whether the device stays within its limit if it shares these keys now.
  func mayShare(_ wraps: [KeyWrap], by maker: DeviceID, now: Instant) -> Bool {
    let new = Set(wraps.lazy.map(\.key).filter { !holds($0) })
    return new.isEmpty
      || Int(made[maker] ?? 0) + new.count <= Limits.keysPerMaker(since: began, at: now)
  }

  /// Records a key share. The first device that shares a key has made it.
  mutating func add(_ wraps: [KeyWrap], by maker: DeviceID) {
    for wrap in wraps {
      let index = index(of: wrap.key)
      guard index == names.count || names[index] != wrap.key else { continue }
      names.insert(wrap.key, at: index)
      made[maker, default: 0] += 1
    }
  }

  /// Starts an epoch: a reader has left.
  mutating func startEpoch(at time: Instant) {
    made = SmallMap()
    began = time
  }

  private func holds(_ name: ContentKeyID) -> Bool {
    let index = index(of: name)
    return index < names.count && names[index] == name
  }

  /// The index of the name, or the index at which it belongs.
  private func index(of name: ContentKeyID) -> Int {
    names.lowerBound { $0 < name }
  }
}

extension AudienceKeys: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(names)
    packer.add(made)
    packer.add(began)
  }

  init(_ packed: inout Unpacker) {
    names = packed.value()
    made = packed.value()
    began = packed.value()
  }
}
