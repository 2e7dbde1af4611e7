import FamilyModel

/// Encodes a protobuf message field by field into one array.
///
/// This is the encoder of the fast path. Its output equals swift-protobuf's byte for byte;
/// `FastPathTests` compares them.
struct FrameWriter {
  private let start: UnsafeMutablePointer<UInt8>
  private let capacity: Int
  private(set) var count = 0

  /// The bytes that `write` produces.
  ///
  /// Precondition: `write` produces at most `capacity` bytes.
  @inline(__always)
  static func bytes(capacity: Int, _ write: (inout FrameWriter) -> Void) -> [UInt8] {
    // Copying from the stack into an array of exact size costs less than trimming a larger array.
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: capacity) { buffer in
      var writer = FrameWriter(start: buffer.baseAddress!, capacity: capacity)
      write(&writer)
      return [UInt8](UnsafeRawBufferPointer(start: buffer.baseAddress, count: writer.count))
    }
  }

  private init(start: UnsafeMutablePointer<UInt8>, capacity: Int) {
    self.start = start
    self.capacity = capacity
  }

  private mutating func byte(_ value: UInt8) {
    precondition(count < capacity)
    start[count] = value
    count &+= 1
  }

  @inline(__always)
  private mutating func varint(_ value: UInt64) {
    if value < 0x80 { byte(UInt8(truncatingIfNeeded: value)) } else { longVarint(value) }
  }

  private mutating func longVarint(_ value: UInt64) {
    var remaining = value
    while remaining >= 0x80 {
      byte(UInt8(truncatingIfNeeded: remaining) | 0x80)
      remaining >>= 7
    }
    byte(UInt8(remaining))
  }

  /// Writes a varint field; omits zero.
  mutating func number(_ field: UInt64, _ value: UInt64) {
    if value != 0 { numberAlways(field, value) }
  }

  /// Writes a varint field, also for zero.
  mutating func numberAlways(_ field: UInt64, _ value: UInt64) {
    varint(field << 3)
    varint(value)
  }

  /// The encoded size of a length-delimited field with `count` bytes.
  ///
  /// Precondition: the field's number is below 16 and `count` is below 2¹⁴.
  static func size(_ count: Int) -> Int { count + (count < 0x80 ? 2 : 3) }

  mutating func id(_ field: UInt64, _ id: ID128) {
    withUnsafeBytes(of: (id.high.bigEndian, id.low.bigEndian)) { bytes(field, $0, always: true) }
  }

  /// Writes a length-delimited field; omits an empty one unless `always` is set.
  mutating func bytes(_ field: UInt64, _ value: [UInt8], always: Bool = false) {
    value.withUnsafeBytes { bytes(field, $0, always: always) }
  }

  mutating func string(_ field: UInt64, _ value: String) {
    var value = value
    value.withUTF8 { bytes(field, UnsafeRawBufferPointer($0), always: false) }
  }

  mutating func bytes(_ field: UInt64, _ value: UnsafeRawBufferPointer, always: Bool = false) {
    guard always || value.count > 0 else { return }
    varint(field << 3 | 2)
    varint(UInt64(value.count))
    raw(value)
  }

  /// Writes fields that are already encoded.
  mutating func raw(_ value: UnsafeRawBufferPointer) {
    precondition(count + value.count <= capacity)
    if let source = value.baseAddress {
      UnsafeMutableRawPointer(start + count).copyMemory(from: source, byteCount: value.count)
    }
    count += value.count
  }

  /// Writes a nested message. Its length is known only afterwards, so a length of more than one
  /// byte moves its bytes.
  mutating func message(_ field: UInt64, _ write: (inout FrameWriter) -> Void) {
    varint(field << 3 | 2)
    let from = count
    byte(0)
    write(&self)
    let size = count - from - 1
    guard size >= 0x80 else {
      start[from] = UInt8(size)
      return
    }
    let more = size < 0x4000 ? 1 : size < 0x20_0000 ? 2 : 3
    precondition(count + more <= capacity && size < 0x1000_0000)
    UnsafeMutableRawPointer(start + from + 1 + more).copyMemory(
      from: start + from + 1, byteCount: size)
    count = from
    varint(UInt64(size))
    count += size
  }
}
