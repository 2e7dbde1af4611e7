/// Error correction of QR codes (ISO/IEC 18004): Reed–Solomon over GF(256), polynomial 0x11D.
struct ReedSolomon {
  /// 2ⁿ for n = 0…509, so that the sum of two logarithms needs no modulo.
  private static let powers: [UInt8] = {
    var powers: [UInt8] = []
    var value = 1
    for _ in 0..<510 {
      powers.append(UInt8(value))
      value = value << 1 > 255 ? value << 1 ^ 0x11D : value << 1
    }
    return powers
  }()

  private static let logarithms: [Int] = (0..<256).map { value in
    powers.prefix(255).firstIndex(of: UInt8(value)) ?? 0
  }

  static func times(_ a: UInt8, _ b: UInt8) -> UInt8 {
    a == 0 || b == 0 ? 0 : powers[logarithms[Int(a)] + logarithms[Int(b)]]
  }

  /// The data's correction bytes, `count` of them.
  static func correction(of data: [UInt8], count: Int) -> [UInt8] {
    // (x − 2⁰)(x − 2¹)…, highest power first.
    var generator: [UInt8] = [1]
    for index in 0..<count {
      let longer = generator + [0]
      generator = longer.indices.map { position in
        position == 0 ? 1 : longer[position] ^ times(longer[position - 1], powers[index])
      }
    }
    var remainder = data + Array(repeating: 0, count: count)
    for index in data.indices where remainder[index] != 0 {
      let factor = remainder[index]
      for (offset, term) in generator.enumerated() {
        remainder[index + offset] ^= times(term, factor)
      }
    }
    return Array(remainder.suffix(count))
  }
}
