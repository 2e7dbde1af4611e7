import FamilyModel

/// Writes a protobuf message field by field into one array: what swift-protobuf would write, in its order.
struct FrameWriter {
  private let start: UnsafeMutablePointer<UInt8>
  private let capacity: Int
  private(set) var count = 0

  /// The bytes that `write` leaves; `capacity` must be enough for them.
  @inline(__always)
  static func bytes(capacity: Int, _ write: (inout FrameWriter) -> Void) -> [UInt8] {
    // An array of the exact size from bytes on the stack costs less than one that is cut to its size.
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
    var rest = value
    while rest >= 0x80 {
      byte(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    byte(UInt8(rest))
  }

  /// A number; zero is left out.
  mutating func number(_ field: UInt64, _ value: UInt64) {
    if value != 0 { numberAlways(field, value) }
  }

  /// A number, also zero.
  mutating func numberAlways(_ field: UInt64, _ value: UInt64) {
    varint(field << 3)
    varint(value)
  }

  /// Bytes of a field with a number below sixteen, and with so many bytes, at most 2¹⁴ - 1.
  static func size(_ count: Int) -> Int { count + (count < 0x80 ? 2 : 3) }

  mutating func id(_ field: UInt64, _ id: ID128) {
    withUnsafeBytes(of: (id.high.bigEndian, id.low.bigEndian)) { bytes(field, $0, always: true) }
  }

  /// Bytes; none are left out.
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

  /// Fields that are encoded already.
  mutating func raw(_ value: UnsafeRawBufferPointer) {
    precondition(count + value.count <= capacity)
    if let source = value.baseAddress {
      UnsafeMutableRawPointer(start + count).copyMemory(from: source, byteCount: value.count)
    }
    count += value.count
  }

  /// A message within: its length is known when it is written, and its bytes then make room for it.
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
