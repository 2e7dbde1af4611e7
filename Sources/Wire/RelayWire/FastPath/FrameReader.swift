import FamilyModel

/// Reads the fields of a protobuf message in place. Only values that are kept are copied.
///
/// This is the decoder of the fast path, for the few messages that make up nearly all traffic:
/// questions, answers, texts, contacts, acknowledgements and their events and replies. The fast path
/// accepts only the form that encoders write: known fields, each at most once. Every method returns
/// `nil` for anything else, and swift-protobuf then decodes the message. Both decoders agree on every
/// message that the fast path accepts; `FastPathTests` compares them.
struct FrameReader {
  private let bytes: UnsafeRawBufferPointer
  private(set) var position = 0
  /// One bit per field number that was read.
  private var fieldsRead: UInt64 = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  var isAtEnd: Bool { position == bytes.count }

  /// Reads the next field's tag.
  ///
  /// - Parameters:
  ///   - lengths: One bit per field number that is length-delimited. All other fields are varints.
  ///   - repeated: One bit per field number that may occur more than once.
  /// - Returns: The field's number; `nil` for an unexpected wire type or a second occurrence.
  @inline(__always)
  mutating func field(lengths: UInt64, repeated: UInt64 = 0) -> UInt64? {
    guard let tag = varint(), tag < 64 << 3 else { return nil }
    let number = tag >> 3
    let bit: UInt64 = 1 << number
    guard number > 0, fieldsRead & bit == 0 || repeated & bit != 0,
      tag & 7 == (lengths & bit == 0 ? 0 : 2)
    else { return nil }
    fieldsRead |= bit
    return number
  }

  /// Reads the next field, of any number and type.
  ///
  /// - Returns: The field's number, and the bytes of a length-delimited field; `nil` for bytes that are
  ///   no field.
  mutating func anyField() -> (number: UInt64, value: UnsafeRawBufferPointer?)? {
    guard let tag = varint(), tag >> 3 > 0 else { return nil }
    switch tag & 7 {
    case 0: return varint().map { _ in (tag >> 3, nil) }
    case 1: return skip(8) ? (tag >> 3, nil) : nil
    case 2: return slice().map { (tag >> 3, $0) }
    case 5: return skip(4) ? (tag >> 3, nil) : nil
    default: return nil
    }
  }

  private mutating func skip(_ count: Int) -> Bool {
    guard count <= bytes.count &- position else { return false }
    position &+= count
    return true
  }

  /// Reads a varint of up to 64 bits. Most have one byte.
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

  /// Reads a varint of up to 32 bits.
  mutating func uint32() -> UInt32? { varint().flatMap { UInt32(exactly: $0) } }

  /// Reads the bytes of a length-delimited field.
  @inline(__always)
  mutating func slice() -> UnsafeRawBufferPointer? {
    guard let count = varint(), count <= UInt64(bytes.count &- position) else { return nil }
    let start = position
    position &+= Int(count)
    return bytes(start..<position)
  }

  /// The bytes in a range of positions.
  ///
  /// Precondition: the reader has passed the range.
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

  /// Reads the bytes of a valid UTF-8 text.
  @inline(__always)
  mutating func text() -> UnsafeRawBufferPointer? {
    // Most texts are ASCII, which needs no validation.
    slice().flatMap { $0.isASCII || String(validating: $0, as: UTF8.self) != nil ? $0 : nil }
  }

  mutating func string() -> String? { text().map { String(decoding: $0, as: UTF8.self) } }
}
