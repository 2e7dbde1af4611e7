import FamilyModel

/// Without the failures of this device to share a key, which end with the process.
extension KeyRing: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(founded)
    packer.add(keys)
  }
  init(_ packed: inout Unpacker) {
    self.init()
    founded = packed.value()
    keys = packed.value()
  }
}

extension KeyRing.Keys: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(entries)
    packer.add(order)
    packer.add(unopened)
    packer.add(unknown)
    packer.add(made.map { Made(maker: $0, count: UInt64($1)) })
    packer.add(epochs.map { Epoch(seq: $0.seq, began: $0.began) })
  }
  init(_ packed: inout Unpacker) {
    self.init(since: Instant(milliseconds: 0))
    entries = packed.value()
    order = packed.value()
    unopened = packed.value()
    unknown = packed.value()
    for made in packed.value() as [Made] { self.made[made.maker] = Int(made.count) }
    epochs = (packed.value() as [Epoch]).map { ($0.seq, $0.began) }
    if epochs.isEmpty { packed.fail() }
  }

  private struct Epoch: Packable {
    var seq: UInt64
    var began: Instant
    init(seq: UInt64, began: Instant) { (self.seq, self.began) = (seq, began) }
    func pack(_ packer: inout Packer) {
      packer.add(seq)
      packer.add(began)
    }
    init(_ packed: inout Unpacker) {
      seq = packed.number()
      began = packed.value()
    }
  }

  private struct Made: Packable {
    var maker: KeyRing.Maker
    var count: UInt64
    init(maker: KeyRing.Maker, count: UInt64) { (self.maker, self.count) = (maker, count) }
    func pack(_ packer: inout Packer) {
      packer.add(maker)
      packer.add(count)
    }
    init(_ packed: inout Unpacker) {
      maker = packed.value()
      count = packed.number()
    }
  }
}

extension KeyRing.Maker: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(epoch)
    packer.add(device)
  }
  init(_ packed: inout Unpacker) {
    let epoch = packed.number()
    self.init(epoch: epoch, device: packed.value())
  }
}

extension KeyRing.Entry: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(name)
    packer.add(secret != nil)
    packer.add(secret ?? [])
    packer.add(keys: readers)
    packer.add(isShared)
    packer.add(basedOnSeq)
    packer.add(origin != nil)
    if let origin {
      packer.add(origin.seq)
      packer.add(origin.at)
      packer.add(origin.maker)
    }
    packer.add(keys: sharers)
    packer.add(keys: failed)
    packer.add(UInt64(answers.count))
    for (reader, sharers) in answers {
      packer.add(reader)
      packer.add(keys: sharers)
    }
  }

  init(_ packed: inout Unpacker) {
    self.init(name: packed.value())
    let hasSecret = packed.bool()
    let secret = packed.array()
    if hasSecret { self.secret = secret }
    readers = packed.keys()
    isShared = packed.bool()
    basedOnSeq = packed.number()
    if packed.bool() {
      let seq = packed.number()
      let at = packed.value() as Instant
      origin = (seq, at, packed.value())
    }
    sharers = packed.keys()
    failed = packed.keys()
    for _ in 0..<packed.count() {
      let reader = packed.array()
      answers[reader] = packed.keys()
    }
  }
}

extension Packer {
  mutating func add(keys: Set<[UInt8]>) {
    add(UInt64(keys.count))
    for key in keys { add(key) }
  }
}

extension Unpacker {
  mutating func keys() -> Set<[UInt8]> {
    var keys: Set<[UInt8]> = []
    for _ in 0..<count() { keys.insert(array()) }
    return keys
  }
}
