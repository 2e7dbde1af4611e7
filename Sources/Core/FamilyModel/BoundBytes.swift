/// An unambiguous encoding of values that are signed or bound: no two sequences of values share
/// their bytes.
public struct BoundBytes: Sendable {
  /// The bytes appended so far.
  public private(set) var bytes: [UInt8]

  /// Starts with the purpose of the bytes and a zero byte.
  public init(_ domain: String) { bytes = Array(domain.utf8) + [0] }

  /// Appends a big-endian number.
  public mutating func add(_ number: some FixedWidthInteger) {
    withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
  }

  /// Appends the count (4 bytes) and the bytes.
  public mutating func add(_ part: [UInt8]) {
    add(UInt32(part.count))
    bytes += part
  }

  /// Appends the count (4 bytes) and the UTF-8 bytes of a text.
  public mutating func add(_ text: String) { add(Array(text.utf8)) }

  /// Appends a big-endian 128-bit number.
  public mutating func add(_ id: ID128) {
    add(id.high)
    add(id.low)
  }
}
