import FamilyModel

/// Values in their packed form, in blocks. A value takes time only when it is read. The values of a
/// snapshot share its memory until they move to a ``HistoryStorage``.
struct PackedValues<Value: Packable & Sendable>: Sendable {
  private(set) var blocks: [PackedBlock] = []
  /// The number of values up to the end of each block.
  private var ends: [Int] = []
  /// The blocks at the beginning that a storage has.
  private var stored = 0

  init() {}

  /// Packs the values.
  init(_ values: some Sequence<Value>) {
    var writer = BlockWriter<Value>()
    writer.add(values)
    self = writer.finish()
  }

  var count: Int { ends.last ?? 0 }

  subscript(index: Int) -> Value {
    let block = ends.lowerBound { $0 <= index }
    let first = block == 0 ? 0 : ends[block - 1]
    return blocks[block].withValues { Unpacker.value(in: $0[index - first]) }
  }

  /// Calls the body with the index and the packed form of each value, in order.
  func forEachPacked(_ body: (Int, UnsafeRawBufferPointer) -> Void) {
    var index = 0
    for block in blocks {
      block.withValues { values in
        for place in 0..<values.count {
          body(index, values[place])
          index += 1
        }
      }
    }
  }

  mutating func append(_ block: PackedBlock) {
    ends.append(count + block.count)
    blocks.append(block)
  }

  /// Appends all values of others.
  mutating func append(_ other: PackedValues) { for block in other.blocks { append(block) } }

  /// The bytes that take memory.
  var bytesInMemory: Int { blocks[stored...].reduce(0) { $0 + $1.byteCount } }

  /// Moves all values to a storage, unless they take little memory. Without room, the others stay.
  mutating func move(to storage: any HistoryStorage) {
    guard bytesInMemory >= storage.leastBytes else { return }
    while stored < blocks.count, blocks[stored].move(to: storage) { stored += 1 }
  }
}

extension PackedValues: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(UInt64(blocks.count))
    for block in blocks {
      packer.add(UInt64(block.count))
      packer.add(UInt64(block.byteCount))
    }
    packer.add(UInt64(blocks.reduce(0) { $0 + $1.byteCount }))
    for block in blocks { block.withBytes { packer.append($0) } }
  }

  init(_ packed: inout Unpacker) {
    self.init()
    let sizes = (0..<packed.count()).map { _ in (count: packed.count(), bytes: packed.count()) }
    let bytes = packed.slice()
    var start = bytes.startIndex
    for size in sizes {
      guard size.bytes <= bytes.endIndex - start,
        let block = PackedBlock(bytes[start..<(start + size.bytes)], count: size.count)
      else { break }
      append(block)
      start += size.bytes
    }
    guard blocks.count < sizes.count || start < bytes.endIndex else { return }
    packed.fail()
    self.init()
  }
}

/// Collects packed values into blocks, and moves the blocks to a storage once they take much memory.
struct BlockWriter<Value: Packable & Sendable> {
  private var values = PackedValues<Value>()
  private let storage: (any HistoryStorage)?
  private var bytes: [UInt8] = []
  private var ends: [UInt32] = []

  init(_ storage: (any HistoryStorage)? = nil) { self.storage = storage }

  /// Adds the packed form of a value.
  ///
  /// - Returns: Whether a block begins with the value.
  @discardableResult
  mutating func add(_ value: UnsafeRawBufferPointer) -> Bool {
    let size = bytes.count + value.count + PackedBlock.Values.endBytes * (ends.count + 1)
    if size > Limits.historyBlock { endBlock() }
    bytes += value
    ends.append(UInt32(bytes.count))
    return ends.count == 1
  }

  mutating func add(_ values: some Sequence<Value>) {
    var ends: [Int] = []
    let bytes = Packer.bytes { packer in
      for value in values {
        packer.add(value)
        ends.append(packer.count)
      }
    }
    var start = 0
    bytes.withUnsafeBytes { bytes in
      for end in ends {
        add(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
        start = end
      }
    }
  }

  private mutating func endBlock() {
    guard !ends.isEmpty else { return }
    values.append(PackedBlock(bytes, ends: ends))
    bytes.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
    if let storage { values.move(to: storage) }
  }

  /// All values that were added.
  mutating func finish() -> PackedValues<Value> {
    endBlock()
    return values
  }
}
