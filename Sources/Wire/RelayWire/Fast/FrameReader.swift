import FamilyModel

/// Reads the fields of a protobuf message in place: no copies but of what is kept.
///
/// It is for the few messages that make up nearly all traffic, and for the form in which everybody writes
/// them: each field once, none that is not known here. Every call gives `nil` where that is not so, and the
/// message is then read by swift-protobuf, which decides. So both agree on whatever is read here.
struct FrameReader {
  private let bytes: UnsafeRawBufferPointer
  private(set) var position = 0
  /// A bit for each field that was seen.
  private var seen: UInt64 = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  var isAtEnd: Bool { position == bytes.count }

  /// The next field's number; its kind must be the one that the number is known for.
  ///
  /// - Parameter lengths: A bit for each field number that has a length; the others are numbers.
  @inline(__always)
  mutating func field(lengths: UInt64, repeated: UInt64 = 0) -> UInt64? {
    guard let tag = varint(), tag < 64 << 3 else { return nil }
    let number = tag >> 3
    let bit: UInt64 = 1 << number
    guard number > 0, seen & bit == 0 || repeated & bit != 0,
      tag & 7 == (lengths & bit == 0 ? 0 : 2)
    else { return nil }
    seen |= bit
    return number
  }

  /// A number of up to 64 bits; most have one byte.
  @inline(__always)
  mutating func varint() -> UInt64? {
    guard position < bytes.count, bytes[position] < 0x80 else { return longVarint() }
    position &+= 1
    return UInt64(bytes[position &- 1])
  }

  private mutating func longVarint() -> UInt64? {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while position < bytes.count {
      let byte = bytes[position]
      position &+= 1
      // The tenth byte has room for one bit.
      guard shift < 63 || byte < 2 else { return nil }
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
      shift += 7
      if shift > 63 { return nil }
    }
    return nil
  }

  /// A number of up to 32 bits.
  mutating func uint32() -> UInt32? { varint().flatMap { UInt32(exactly: $0) } }

  /// The bytes of a field with a length.
  @inline(__always)
  mutating func slice() -> UnsafeRawBufferPointer? {
    guard let count = varint(), count <= UInt64(bytes.count &- position) else { return nil }
    let start = position
    position &+= Int(count)
    return bytes(start..<position)
  }

  /// The bytes at these places, which were read.
  @inline(__always)
  func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: bytes.baseAddress.map { $0 + range.lowerBound }, count: range.count)
  }

  @inline(__always)
  mutating func id() -> ID128? {
    guard let slice = slice(), slice.count == 16 else { return nil }
    return ID128(
      high: UInt64(bigEndian: slice.loadUnaligned(as: UInt64.self)),
      low: UInt64(bigEndian: slice.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
  }

  /// The bytes of a text.
  @inline(__always)
  mutating func text() -> UnsafeRawBufferPointer? {
    // Nearly always it is ASCII.
    slice().flatMap { $0.isASCII || String(validating: $0, as: UTF8.self) != nil ? $0 : nil }
  }

  mutating func string() -> String? { text().map { String(decoding: $0, as: UTF8.self) } }
}
