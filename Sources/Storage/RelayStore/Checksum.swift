import CChecksum

/// CRC-32C (Castagnoli, RFC 3720 appendix B.4), eight bytes at a time, by the processor's instruction or by
/// tables.
///
/// It shows damage, not malice: who can write the file can write the sum.
public struct Checksum: Sendable {
  /// Eight tables of 256: what a byte means when 0, 1, … 7 bytes follow it.
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

  private static let isInstruction = crc32c_is_instruction()

  private var state: UInt32 = .max
  private let isByTables: Bool

  /// The sum of no bytes.
  public init() { isByTables = !Self.isInstruction }

  /// The same on every processor.
  package init(byTables: Bool) { isByTables = byTables || !Self.isInstruction }

  /// The sum of what was added.
  public var value: UInt32 { ~state }

  /// Adds the number's eight bytes.
  public mutating func add(_ number: UInt64) {
    withUnsafeBytes(of: number.littleEndian) { add($0) }
  }

  /// Adds the bytes.
  public mutating func add(_ bytes: [UInt8]) { bytes.withUnsafeBytes { add($0) } }

  private mutating func add(_ bytes: UnsafeRawBufferPointer) {
    guard isByTables else { return state = crc32c_add(state, bytes.baseAddress, bytes.count) }
    Self.tables.withUnsafeBufferPointer { tables in
      var rest = bytes
      while rest.count >= 8 {
        let word = UInt64(littleEndian: rest.loadUnaligned(as: UInt64.self)) ^ UInt64(state)
        var sum: UInt32 = 0
        for place in 0..<8 {
          sum ^= tables[(7 - place) << 8 | Int(truncatingIfNeeded: word >> (8 * place) & 0xFF)]
        }
        state = sum
        rest = UnsafeRawBufferPointer(rebasing: rest[8...])
      }
      for byte in rest {
        state = tables[Int(UInt8(truncatingIfNeeded: state) ^ byte)] ^ state >> 8
      }
    }
  }
}
