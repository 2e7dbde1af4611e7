/// A perceptual hash of a picture: 256 bits, of which few differ after scaling, compression or small
/// changes.
///
/// Source: "The TMK+PDQF Video-Hashing Algorithm and the PDQ Image-Hashing Algorithm", Meta, 2019.
public struct PDQHash: Hashable, Sendable, CustomStringConvertible {
  /// The bytes of a hash.
  public static let byteCount = Bits256.byteCount
  /// The largest distance of two hashes of the same picture that its authors recommend.
  public static let recommendedDistance = 31

  private let bits: Bits256

  /// Creates a hash from its bytes, the highest first; `nil` for another number of bytes.
  public init?(_ bytes: some Collection<UInt8>) {
    guard let bits = Bits256(bytes) else { return nil }
    self.bits = bits
  }

  /// Creates a hash from 64 hexadecimal digits; `nil` for any other text.
  public init?(hex: some Collection<UInt8>) {
    guard let bits = Bits256(hex: hex) else { return nil }
    self.bits = bits
  }

  /// The number of bits that differ, 0 to 256.
  public func distance(to other: PDQHash) -> Int { bits.distance(to: other.bits) }

  /// The bytes, the highest first.
  public var bytes: [UInt8] { bits.bytes }

  /// 64 hexadecimal digits.
  public var description: String {
    bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}
