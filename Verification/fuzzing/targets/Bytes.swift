/// Reads a fuzzer's input as numbers and chunks. Reads past the end return zeros.
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

  /// A number in `0..<count`. Precondition: `count` is 1 to 256.
  mutating func pick(_ count: Int) -> Int { Int(byte()) % count }

  /// A valid or invalid proof, of the only size that the wire decoders accept.
  mutating func proof() -> [UInt8] { Array(repeating: byte() & 1, count: 64) }

  mutating func number() -> UInt64 { (0..<8).reduce(0) { sum, _ in sum << 8 | UInt64(byte()) } }

  /// A chunk of bytes behind its two-byte length. The end of the input shortens it.
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
