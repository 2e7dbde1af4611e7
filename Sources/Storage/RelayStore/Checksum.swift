import CChecksum

/// CRC-32C (Castagnoli, RFC 3720 appendix B.4), eight bytes per step, by the processor's
/// instruction or by tables.
///
/// A checksum detects damage, not forgery: a program that can write the file can also write the
/// checksum.
public struct Checksum: Sendable {
  /// Eight tables of 256 entries (slicing-by-8): the effect of a byte that 0, 1, … 7 bytes follow.
  private static let tables: [UInt32] = {
    var tables: [UInt32] = (0..<256).map { index in
      (0..<8).reduce(UInt32(index)) { value, _ in
        value & 1 == 1 ? 0x82F6_3B78 ^ value >> 1 : value >> 1
      }
    }
    for index in 256..<(8 * 256) {
      let before = tables[index - 256]
      tables.append(tables[Int(before & 0xFF)] ^ before >> 8)
    }
    return tables
  }()

  private static let hasInstruction = crc32c_is_instruction()

  private var state: UInt32 = .max
  private let usesTables: Bool

  /// Creates the checksum of no bytes.
  public init() { usesTables = !Self.hasInstruction }

  /// Creates a checksum that uses the tables also where the processor has the instruction. Both
  /// give equal values.
  package init(byTables: Bool) { usesTables = byTables || !Self.hasInstruction }

  /// The checksum of all added bytes.
  public var value: UInt32 { ~state }

  /// Adds the number's eight bytes, least significant first.
  public mutating func add(_ number: UInt64) {
    withUnsafeBytes(of: number.littleEndian) { add($0) }
  }

  /// Adds the bytes in order.
  public mutating func add(_ bytes: [UInt8]) { bytes.withUnsafeBytes { add($0) } }

  /// Adds the bytes in order.
  public mutating func add(_ bytes: UnsafeRawBufferPointer) {
    guard usesTables else { return state = crc32c_add(state, bytes.baseAddress, bytes.count) }
    Self.tables.withUnsafeBufferPointer { tables in
      var remaining = bytes
      while remaining.count >= 8 {
        let word = UInt64(littleEndian: remaining.loadUnaligned(as: UInt64.self)) ^ UInt64(state)
        var sum: UInt32 = 0
        for index in 0..<8 {
          sum ^= tables[(7 - index) << 8 | Int(truncatingIfNeeded: word >> (8 * index) & 0xFF)]
        }
        state = sum
        remaining = UnsafeRawBufferPointer(rebasing: remaining[8...])
      }
      for byte in remaining {
        state = tables[Int(UInt8(truncatingIfNeeded: state) ^ byte)] ^ state >> 8
      }
    }
  }
}
