/// Many handles in little memory: their bytes in blocks, and a table of four-byte places.
///
/// A million handles take less than twice their own bytes; a copy shares the blocks. Two sets are equal
/// when they hold the same handles.
public struct HandleSet: Sendable {
  /// Bytes of a block. A handle does not go over the end of one.
  private static let blockBytes = 1 << 16
  private static let free: UInt32 = .max
  private static let removed: UInt32 = .max - 1

  /// Each handle is its kind, the count of its bytes in two, and the bytes.
  private var blocks: [[UInt8]] = []
  private var places: [UInt32] = []
  private var occupied = 0
  private var deadBytes = 0
  /// How many handles there are.
  public private(set) var count = 0

  /// An empty set.
  public init() {}

  /// The set of these handles.
  public init(_ handles: some Sequence<Handle>) {
    for handle in handles { insert(handle) }
  }

  /// Whether it holds nothing.
  public var isEmpty: Bool { count == 0 }

  /// Whether it holds the handle.
  public func contains(_ handle: Handle) -> Bool {
    guard count > 0 else { return false }
    let (blocks, places) = (blocks, places)
    return Self.withBytes(of: handle) { Self.place(of: $0, blocks, places) != nil }
  }

  /// Adds the handle; tells whether it is new. A handle is of up to 65,530 bytes.
  @discardableResult
  public mutating func insert(_ handle: Handle) -> Bool {
    // Four fifths of the places are in use at most.
    if (occupied + 1) * 5 > places.count * 4 { rebuild() }
    return Self.withBytes(of: handle) { bytes in
      guard place(of: bytes) == nil else { return false }
      add(bytes)
      return true
    }
  }

  /// Takes the handle out; tells whether it was there.
  @discardableResult
  public mutating func remove(_ handle: Handle) -> Bool {
    guard count > 0 else { return false }
    return Self.withBytes(of: handle) { bytes in
      guard let place = place(of: bytes) else { return false }
      places[place] = Self.removed
      count -= 1
      deadBytes += bytes.count
      return true
    }
  }

  /// All handles, in order.
  public func sorted() -> [Handle] { stored.map { read($0) }.sorted() }

  private var stored: [UInt32] { places.filter { $0 < Self.removed } }

  private func read(_ place: UInt32) -> Handle {
    let bytes = self.bytes(place)
    // What was put in is what comes out.
    return Handle(
      String(decoding: bytes.dropFirst(3), as: UTF8.self), Handle.Kind(rawValue: bytes.first!)!)
  }

  private func bytes(_ place: UInt32) -> ArraySlice<UInt8> {
    let block = blocks[Int(place >> 16)]
    let start = Int(place & 0xFFFF)
    return block[start..<(start + 3 + Int(block[start + 1]) << 8 + Int(block[start + 2]))]
  }

  /// Where in the table the handle's place is.
  private func place(of bytes: UnsafeRawBufferPointer) -> Int? {
    Self.place(of: bytes, blocks, places)
  }

  private static func place(
    of bytes: UnsafeRawBufferPointer, _ blocks: [[UInt8]], _ places: [UInt32]
  ) -> Int? {
    guard !places.isEmpty else { return nil }
    let start = first(bytes, of: places.count)
    return blocks.withUnsafeBufferPointer { blocks in
      places.withUnsafeBufferPointer { places in
        var index = start
        while places[index] != Self.free {
          let place = places[index]
          if place != Self.removed,
            blocks[Int(place >> 16)].withUnsafeBytes({
              Self.holds($0, at: Int(place & 0xFFFF), bytes)
            })
          {
            return index
          }
          index = index + 1 == places.count ? 0 : index + 1
        }
        return nil
      }
    }
  }

  /// Whether these bytes are at this place of the block. The count is among them.
  private static func holds(
    _ block: UnsafeRawBufferPointer, at start: Int, _ bytes: UnsafeRawBufferPointer
  ) -> Bool {
    guard block.count - start >= bytes.count else { return false }
    return UnsafeRawBufferPointer(rebasing: block[start..<start + bytes.count]).isSame(as: bytes)
  }

  /// Where to look first: seeded anew in every run, so that nobody can choose handles that collide.
  private static func first(_ bytes: UnsafeRawBufferPointer, of count: Int) -> Int {
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
    let place = UInt32((blocks.count - 1) << 16 | blocks[blocks.count - 1].count)
    blocks[blocks.count - 1].append(contentsOf: bytes)
    put(place, bytes)
  }

  private mutating func put(_ place: UInt32, _ bytes: UnsafeRawBufferPointer) {
    var index = Self.first(bytes, of: places.count)
    while places[index] < Self.removed { index = index + 1 == places.count ? 0 : index + 1 }
    if places[index] == Self.free { occupied += 1 }
    places[index] = place
    count += 1
  }

  /// Room for more, without those that were removed.
  private mutating func rebuild() {
    let old = self
    places = [UInt32](repeating: Self.free, count: max(8, old.count * 5 / 3 + 1))
    (count, occupied) = (0, 0)
    let stored = old.stored
    if deadBytes > old.blocks.count * Self.blockBytes / 4 {
      (blocks, deadBytes) = ([], 0)
      for place in stored { old.bytes(place).withUnsafeBytes { add($0) } }
    } else {
      for place in stored { old.bytes(place).withUnsafeBytes { put(place, $0) } }
    }
  }

  private static func withBytes<R>(
    of handle: Handle, _ body: (UnsafeRawBufferPointer) -> R
  ) -> R {
    var value = handle.value
    return value.withUTF8 { text in
      precondition(text.count <= 65_530, "a handle is refused before it is kept")
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
  /// The set of these handles.
  public init(arrayLiteral handles: Handle...) { self.init(handles) }
}
