/// Reads a fuzzer's bytes as numbers and chunks; after the end come zeros.
struct Bytes {
  private let bytes: UnsafeRawBufferPointer
  private var index = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  var isAtEnd: Bool { index >= bytes.count }

  mutating func byte() -> UInt8 {
    guard index < bytes.count else { return 0 }
    defer { index += 1 }
    return bytes[index]
  }

  /// One of `0..<count`.
  mutating func pick(_ count: Int) -> Int { Int(byte()) % count }

  /// A proof of the size that the wire lets through: right, or wrong.
  mutating func proof() -> [UInt8] { Array(repeating: byte() & 1, count: 64) }

  mutating func number() -> UInt64 { (0..<8).reduce(0) { sum, _ in sum << 8 | UInt64(byte()) } }

  /// Two bytes of length, and as many bytes.
  mutating func chunk() -> [UInt8] {
    let length = min(Int(byte()) << 8 | Int(byte()), bytes.count - index)
    defer { index += max(0, length) }
    return length > 0 ? Array(bytes[index..<index + length]) : []
  }

  mutating func rest() -> [UInt8] {
    defer { index = bytes.count }
    return index < bytes.count ? Array(bytes[index...]) : []
  }
}
