/// A compact set of handles: the handles' bytes in blocks, and a hash table of four-byte positions.
///
/// A million handles take less than twice their own bytes. Copies share the blocks. Two sets are
/// equal if they hold the same handles.
public struct HandleSet: Sendable {
  /// Bytes of a block. A handle does not cross a block's end.
  private static let blockBytes = 1 << 16
  private static let free: UInt32 = .max
  private static let removed: UInt32 = .max - 1

  /// Each record is the handle's kind (1 byte), the count of its bytes (2), and the bytes.
  private var blocks: [[UInt8]] = []
  /// The hash table: each slot is a record's position (block, then offset), ``free`` or
  /// ``removed``.
  private var slots: [UInt32] = []
  private var occupied = 0
  private var deadBytes = 0
  /// The number of handles.
  public private(set) var count = 0

  /// Creates an empty set.
  public init() {}

  /// Creates the set of these handles.
  public init(_ handles: some Sequence<Handle>) {
    for handle in handles { insert(handle) }
  }

  /// Whether the set has no handles.
  public var isEmpty: Bool { count == 0 }

  /// Whether the set holds the handle.
  public func contains(_ handle: Handle) -> Bool {
    guard count > 0 else { return false }
    let (blocks, slots) = (blocks, slots)
    return Self.withBytes(of: handle) { Self.slot(of: $0, blocks, slots) != nil }
  }

  /// Adds the handle and returns whether it is new.
  ///
  /// Precondition: the handle has at most 65,530 bytes.
  @discardableResult
  public mutating func insert(_ handle: Handle) -> Bool {
    // The load factor stays at or below four fifths.
    if (occupied + 1) * 5 > slots.count * 4 { rebuild() }
    return Self.withBytes(of: handle) { bytes in
      guard slot(of: bytes) == nil else { return false }
      add(bytes)
      return true
    }
  }

  /// Removes the handle and returns whether the set held it.
  @discardableResult
  public mutating func remove(_ handle: Handle) -> Bool {
    guard count > 0 else { return false }
    return Self.withBytes(of: handle) { bytes in
      guard let slot = slot(of: bytes) else { return false }
      slots[slot] = Self.removed
      count -= 1
      deadBytes += bytes.count
      return true
    }
  }

  /// All handles in ascending order.
  public func sorted() -> [Handle] { stored.map { read($0) }.sorted() }

  private var stored: [UInt32] { slots.filter { $0 < Self.removed } }

  private func read(_ position: UInt32) -> Handle {
    let bytes = self.bytes(position)
    // The kind was valid at insertion.
    return Handle(
      String(decoding: bytes.dropFirst(3), as: UTF8.self), Handle.Kind(rawValue: bytes.first!)!)
  }

  private func bytes(_ position: UInt32) -> ArraySlice<UInt8> {
    let block = blocks[Int(position >> 16)]
    let start = Int(position & 0xFFFF)
    return block[start..<(start + 3 + Int(block[start + 1]) << 8 + Int(block[start + 2]))]
  }

  /// The table slot of the handle; `nil` if absent.
  private func slot(of bytes: UnsafeRawBufferPointer) -> Int? {
    Self.slot(of: bytes, blocks, slots)
  }

  private static func slot(
    of bytes: UnsafeRawBufferPointer, _ blocks: [[UInt8]], _ slots: [UInt32]
  ) -> Int? {
    guard !slots.isEmpty else { return nil }
    let start = firstSlot(for: bytes, count: slots.count)
    return blocks.withUnsafeBufferPointer { blocks in
      slots.withUnsafeBufferPointer { slots in
        var index = start
        while slots[index] != Self.free {
          let position = slots[index]
          if position != Self.removed,
            blocks[Int(position >> 16)].withUnsafeBytes({
              Self.holds($0, at: Int(position & 0xFFFF), bytes)
            })
          {
            return index
          }
          index = index + 1 == slots.count ? 0 : index + 1
        }
        return nil
      }
    }
  }

  /// Whether the block holds this record at `start`. The record includes its count.
  private static func holds(
    _ block: UnsafeRawBufferPointer, at start: Int, _ bytes: UnsafeRawBufferPointer
  ) -> Bool {
    guard block.count - start >= bytes.count else { return false }
    return UnsafeRawBufferPointer(rebasing: block[start..<start + bytes.count]).isSame(as: bytes)
  }

  /// The slot where the search starts. The hash has a new seed in each process, so an attacker
  /// cannot choose handles that collide.
  private static func firstSlot(for bytes: UnsafeRawBufferPointer, count: Int) -> Int {
    var hasher = Hasher()
    hasher.combine(bytes: bytes)
    let hash = UInt(bitPattern: hasher.finalize())
    return Int(hash.multipliedFullWidth(by: UInt(count)).high)
  }

  private mutating func add(_ bytes: UnsafeRawBufferPointer) {
    if blocks.last.map({ $0.count + bytes.count > Self.blockBytes }) ?? true {
      var block: [UInt8] = []
      if !blocks.isEmpty { block.reserveCapacity(Self.blockBytes) }
      blocks.append(block)
    }
    let position = UInt32((blocks.count - 1) << 16 | blocks[blocks.count - 1].count)
    blocks[blocks.count - 1].append(contentsOf: bytes)
    index(position, bytes)
  }

  /// Enters a record's position into the hash table.
  private mutating func index(_ position: UInt32, _ bytes: UnsafeRawBufferPointer) {
    var index = Self.firstSlot(for: bytes, count: slots.count)
    while slots[index] < Self.removed { index = index + 1 == slots.count ? 0 : index + 1 }
    if slots[index] == Self.free { occupied += 1 }
    slots[index] = position
    count += 1
  }

  /// Enlarges the table and drops the slots of removed handles. Compacts the blocks when a quarter
  /// of their bytes is dead.
  private mutating func rebuild() {
    let old = self
    slots = [UInt32](repeating: Self.free, count: max(8, old.count * 5 / 3 + 1))
    (count, occupied) = (0, 0)
    let stored = old.stored
    if deadBytes > old.blocks.count * Self.blockBytes / 4 {
      (blocks, deadBytes) = ([], 0)
      for position in stored { old.bytes(position).withUnsafeBytes { add($0) } }
    } else {
      for position in stored { old.bytes(position).withUnsafeBytes { index(position, $0) } }
    }
  }

  private static func withBytes<R>(
    of handle: Handle, _ body: (UnsafeRawBufferPointer) -> R
  ) -> R {
    var value = handle.value
    return value.withUTF8 { text in
      precondition(text.count <= 65_530, "the handle is too long")
      return withUnsafeTemporaryAllocation(byteCount: text.count + 3, alignment: 1) { bytes in
        bytes[0] = handle.kind.rawValue
        bytes[1] = UInt8(text.count >> 8)
        bytes[2] = UInt8(text.count & 0xFF)
        if let start = text.baseAddress {
          bytes.baseAddress!.advanced(by: 3).copyMemory(from: start, byteCount: text.count)
        }
        return body(UnsafeRawBufferPointer(bytes))
      }
    }
  }
}

extension HandleSet: Equatable {
  public static func == (a: HandleSet, b: HandleSet) -> Bool {
    a.count == b.count && a.stored.allSatisfy { b.contains(a.read($0)) }
  }
}

extension HandleSet: ExpressibleByArrayLiteral {
  /// Creates the set of these handles.
  public init(arrayLiteral handles: Handle...) { self.init(handles) }
}
