/// 256 bits, the highest first.
public struct Bits256: Hashable, Sendable {
  /// The number of bytes.
  public static let byteCount = 32

  private let words: SIMD4<UInt64>

  /// Reads bits from their bytes, the highest first; `nil` for another number of bytes.
  public init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    var words = SIMD4<UInt64>()
    for (index, byte) in bytes.enumerated() {
      words[index / 8] = words[index / 8] << 8 | UInt64(byte)
    }
    self.words = words
  }

  /// Reads bits from 64 hexadecimal digits; `nil` for any other text.
  public init?(hex: some Collection<UInt8>) {
    guard hex.count == 2 * Self.byteCount else { return nil }
    var words = SIMD4<UInt64>()
    for (index, character) in hex.enumerated() {
      guard let digit = Character(UnicodeScalar(character)).hexDigitValue else { return nil }
      words[index / 16] = words[index / 16] << 4 | UInt64(digit)
    }
    self.words = words
  }

  /// The number of bits that differ, 0 to 256.
  public func distance(to other: Bits256) -> Int {
    let differing = words ^ other.words
    return differing[0].nonzeroBitCount + differing[1].nonzeroBitCount
      + differing[2].nonzeroBitCount + differing[3].nonzeroBitCount
  }

  /// The bytes, the highest first.
  public var bytes: [UInt8] {
    (0..<Self.byteCount).map { UInt8(truncatingIfNeeded: words[$0 / 8] >> (56 - 8 * ($0 % 8))) }
  }
}
