/// CRC-32C (Castagnoli, RFC 3720 appendix B.4), one table, a byte at a time.
///
/// It shows damage, not malice: who can write the file can write the sum.
public struct Checksum: Sendable {
  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in
      value & 1 == 1 ? 0x82F6_3B78 ^ value >> 1 : value >> 1
    }
  }

  private var state: UInt32 = .max

  /// The sum of no bytes.
  public init() {}

  /// The sum of what was added.
  public var value: UInt32 { ~state }

  /// Adds the number's eight bytes.
  public mutating func add(_ number: UInt64) {
    withUnsafeBytes(of: number.littleEndian) { add($0) }
  }

  /// Adds the bytes.
  public mutating func add(_ bytes: [UInt8]) { bytes.withUnsafeBytes { add($0) } }

  private mutating func add(_ bytes: UnsafeRawBufferPointer) {
    state = Self.table.withUnsafeBufferPointer { table in
      bytes.reduce(state) { table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] ^ $0 >> 8 }
    }
  }
}
