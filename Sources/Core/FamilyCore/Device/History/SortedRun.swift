import FamilyModel

/// Packed entries in the order of their keys.
struct SortedRun<Key, Value>: Sendable
where Key: Packable & Hashable & Comparable & Sendable, Value: Packable & Sendable {
  struct Entry: Packable, Sendable {
    var key: Key
    var value: Value

    init(_ key: Key, _ value: Value) { (self.key, self.value) = (key, value) }
    func pack(_ packer: inout Packer) {
      packer.add(key)
      packer.add(value)
    }
    init(_ packed: inout Unpacker) {
      key = packed.value()
      value = packed.value()
    }
  }

  private(set) var entries: PackedValues<Entry>
  /// The first key of each block.
  private let firstKeys: [Key]

  /// Precondition: the keys ascend.
  init(_ entries: PackedValues<Entry>) {
    self.init(entries, entries.blocks.map { $0.withValues { Unpacker.value(in: $0[0]) } })
  }

  private init(_ entries: PackedValues<Entry>, _ firstKeys: [Key]) {
    (self.entries, self.firstKeys) = (entries, firstKeys)
  }

  init(_ values: [Key: Value]) {
    self.init(PackedValues(values.keys.sorted().map { Entry($0, values[$0]!) }))
  }

  var count: Int { entries.count }

  func value(of key: Key) -> Value? { find(key) { $0.value() } }

  func holds(_ key: Key) -> Bool { find(key) { _ in true } ?? false }

  /// The result of the body, which reads the value of the key; `nil` without the key.
  private func find<Result>(_ key: Key, _ body: (inout Unpacker) -> Result) -> Result? {
    let block = firstKeys.lowerBound { $0 <= key } - 1
    guard block >= 0 else { return nil }
    return entries.blocks[block].withValues { values in
      let index = (0..<values.count).lowerBound { Unpacker.value(in: values[$0]) < key }
      guard index < values.count else { return nil }
      return Unpacker.read(in: values[index]) { $0.value() == key ? body(&$0) : nil }
    }
  }

  mutating func move(to storage: any HistoryStorage) { entries.move(to: storage) }

  /// All entries of both. The newer value of a key counts.
  static func merged(older: Self, newer: Self, _ storage: (any HistoryStorage)?) -> Self {
    var writer = BlockWriter<Entry>(storage)
    var firstKeys: [Key] = []
    var (old, new) = (Reader(older.entries), Reader(newer.entries))
    while let oldKey = old.key, let newKey = new.key {
      if oldKey < newKey {
        old.write(to: &writer, &firstKeys)
      } else {
        if oldKey == newKey { old.next() }
        new.write(to: &writer, &firstKeys)
      }
    }
    while old.key != nil { old.write(to: &writer, &firstKeys) }
    while new.key != nil { new.write(to: &writer, &firstKeys) }
    return Self(writer.finish(), firstKeys)
  }

  /// Reads entries in order, one block at a time.
  private struct Reader {
    private let blocks: [PackedBlock]
    private var block = -1
    private var bytes: ArraySlice<UInt8> = []
    private var index = 0
    /// The key of the next entry; `nil` at the end.
    private(set) var key: Key?

    init(_ entries: PackedValues<Entry>) {
      blocks = entries.blocks
      nextBlock()
    }

    /// Precondition: there is a next entry.
    mutating func write(to writer: inout BlockWriter<Entry>, _ firstKeys: inout [Key]) {
      if withValues({ writer.add($0[index]) }) { firstKeys.append(key!) }
      next()
    }

    mutating func next() {
      index += 1
      if index < blocks[block].count { readKey() } else { nextBlock() }
    }

    private mutating func nextBlock() {
      (block, index, key) = (block + 1, 0, nil)
      guard block < blocks.count else { return }
      bytes = blocks[block].bytes
      readKey()
    }

    private mutating func readKey() {
      // Without the type, the bytes would be those of an optional key.
      key = withValues { Unpacker.value(in: $0[index]) as Key }
    }

    private func withValues<Result>(_ body: (PackedBlock.Values) -> Result) -> Result {
      bytes.withUnsafeBytes { body(PackedBlock.Values(bytes: $0, count: blocks[block].count)) }
    }
  }
}
