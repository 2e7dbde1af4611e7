/// Packed values in one piece of memory or of a ``HistoryStorage``: the end of each value in four
/// bytes, and then the values.
struct PackedBlock: Sendable {
  private enum Place: Sendable {
    /// A block of a snapshot shares the snapshot's memory.
    case memory(ArraySlice<UInt8>)
    case stored(any StoredBlock)
  }

  /// The values of a block while its bytes are read.
  struct Values {
    /// Bytes of an end.
    static let endBytes = MemoryLayout<UInt32>.size
    let bytes: UnsafeRawBufferPointer
    let count: Int

    /// The bytes of a value.
    subscript(index: Int) -> UnsafeRawBufferPointer {
      let first = count * Self.endBytes
      let start = first + (index == 0 ? 0 : end(index - 1))
      return UnsafeRawBufferPointer(rebasing: bytes[start..<(first + end(index))])
    }

    fileprivate func end(_ index: Int) -> Int {
      Int(
        UInt32(
          littleEndian: bytes.loadUnaligned(
            fromByteOffset: index * Self.endBytes, as: UInt32.self)))
    }

    /// Whether the ends ascend to the number of the bytes.
    fileprivate var isValid: Bool {
      guard count > 0, count <= bytes.count / Self.endBytes else { return false }
      var last = 0
      for index in 0..<count {
        guard end(index) >= last else { return false }
        last = end(index)
      }
      return count * Self.endBytes + last == bytes.count
    }
  }

  private var place: Place
  /// The number of values.
  let count: Int
  /// The number of bytes.
  let byteCount: Int

  /// - Returns: `nil` if the bytes are not those of `count` values.
  init?(_ bytes: ArraySlice<UInt8>, count: Int) {
    (place, self.count, byteCount) = (.memory(bytes), count, bytes.count)
    guard withValues(\.isValid) else { return nil }
  }

  /// Packs the values, whose bytes end at these places.
  init(_ values: [UInt8], ends: [UInt32]) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Values.endBytes * ends.count + values.count)
    for end in ends { withUnsafeBytes(of: end.littleEndian) { bytes += $0 } }
    bytes += values
    (place, count, byteCount) = (.memory(bytes[...]), ends.count, bytes.count)
  }

  var isInMemory: Bool { if case .memory = place { true } else { false } }

  /// The bytes, which a storage reads each time.
  var bytes: ArraySlice<UInt8> {
    switch place {
    case .memory(let bytes): bytes
    case .stored(let block): block.read()[...]
    }
  }

  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    bytes.withUnsafeBytes(body)
  }

  func withValues<Result>(_ body: (Values) -> Result) -> Result {
    withBytes { body(Values(bytes: $0, count: count)) }
  }

  /// Moves the bytes from memory to a storage.
  ///
  /// - Returns: `false` if the storage has no room.
  mutating func move(to storage: any HistoryStorage) -> Bool {
    guard isInMemory else { return true }
    guard let block = withBytes(storage.store) else { return false }
    place = .stored(block)
    return true
  }
}
