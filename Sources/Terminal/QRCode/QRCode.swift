/// A QR code of a text of capitals, digits and ` $%*+-./:` (ISO/IEC 18004, alphanumeric, level L).
///
/// The implementation covers versions 1 to 15 only: texts of up to 758 characters.
public struct QRCode: Hashable, Sendable {
  /// Whether each module is dark, row by row.
  public private(set) var modules: [[Bool]]
  /// Whether each module belongs to a function pattern, which carries no data.
  private var isFixed: [[Bool]]

  /// Encodes the text; `nil` if it is too long or has an unsupported character.
  public init?(_ text: String) {
    guard let (version, data) = Codewords.data(text) else { return nil }
    self.init(version, Codewords.interleaved(data, version))
  }

  init(unmasked version: Version, _ bytes: [UInt8]) {
    let row = Array(repeating: false, count: version.size)
    modules = Array(repeating: row, count: version.size)
    isFixed = modules
    drawPatterns(version)
    draw(bytes)
  }

  init(_ version: Version, _ bytes: [UInt8]) {
    self.init(unmasked: version, bytes)
    let masked = (0..<8).map { mask in
      var code = self
      code.apply(mask: mask)
      code.drawFormat(mask: mask)
      return code
    }
    self = masked.min { $0.penalty < $1.penalty } ?? self
  }

  private mutating func fix(_ row: Int, _ column: Int, _ isDark: Bool) {
    guard modules.indices.contains(row), modules.indices.contains(column) else { return }
    modules[row][column] = isDark
    isFixed[row][column] = true
  }

  private mutating func drawPatterns(_ version: Version) {
    let last = version.size - 1
    for index in 0...last {
      fix(6, index, index % 2 == 0)
      fix(index, 6, index % 2 == 0)
    }
    for (row, column) in [(3, 3), (3, last - 3), (last - 3, 3)] {
      for y in -4...4 {
        for x in -4...4 {
          let distance = max(abs(x), abs(y))
          fix(row + y, column + x, distance != 2 && distance != 4)
        }
      }
    }
    let ends = [version.alignment.first, version.alignment.last]
    for row in version.alignment {
      for column in version.alignment {
        // Finder patterns occupy three corners.
        let isCorner = ends.contains(row) && ends.contains(column)
        guard !isCorner || row != 6 && column != 6 else { continue }
        for y in -2...2 {
          for x in -2...2 { fix(row + y, column + x, max(abs(x), abs(y)) != 1) }
        }
      }
    }
    // Reserve the format's modules; the chosen mask overwrites them.
    drawFormat(mask: 0)
    guard version.number >= 7 else { return }
    let bits = Self.withRemainder(version.number, 12, 0x1F25)
    for index in 0..<18 {
      let (long, short) = (index / 3, last - 10 + index % 3)
      fix(long, short, bits >> index & 1 == 1)
      fix(short, long, bits >> index & 1 == 1)
    }
  }

  /// Draws both copies of the format: level L and the mask.
  private mutating func drawFormat(mask: Int) {
    let bits = Self.withRemainder(0b01 << 3 | mask, 10, 0x537) ^ 0x5412
    let last = modules.count - 1
    for index in 0..<15 {
      let isDark = bits >> index & 1 == 1
      switch index {
      case 0..<6: fix(index, 8, isDark)
      case 6, 7: fix(index + 1, 8, isDark)
      case 8: fix(8, 7, isDark)
      default: fix(8, 14 - index, isDark)
      }
      if index < 8 { fix(8, last - index, isDark) } else { fix(last - 14 + index, 8, isDark) }
    }
    fix(last - 7, 8, true)
  }

  /// A number followed by its BCH remainder.
  private static func withRemainder(_ value: Int, _ bits: Int, _ generator: Int) -> Int {
    var remainder = value
    for _ in 0..<bits { remainder = remainder << 1 ^ (remainder >> (bits - 1)) * generator }
    return value << bits | remainder
  }

  /// Draws the bytes in pairs of columns from the right, alternately upwards and downwards.
  private mutating func draw(_ bytes: [UInt8]) {
    var position = 0
    let last = modules.count - 1
    var column = last
    var goesUp = true
    while column > 0 {
      if column == 6 { column -= 1 }
      for step in 0...last {
        let row = goesUp ? last - step : step
        for x in [column, column - 1] where !isFixed[row][x] {
          if position < bytes.count * 8 {
            modules[row][x] = bytes[position / 8] >> (7 - position % 8) & 1 == 1
          }
          position += 1
        }
      }
      goesUp.toggle()
      column -= 2
    }
  }

  private mutating func apply(mask: Int) {
    for row in modules.indices {
      for column in modules.indices where !isFixed[row][column] {
        if Self.flips(mask, row, column) { modules[row][column].toggle() }
      }
    }
  }

  static func flips(_ mask: Int, _ row: Int, _ column: Int) -> Bool {
    let product = row * column
    return switch mask {
    case 0: (row + column) % 2 == 0
    case 1: row % 2 == 0
    case 2: column % 3 == 0
    case 3: (row + column) % 3 == 0
    case 4: (row / 2 + column / 3) % 2 == 0
    case 5: product % 2 + product % 3 == 0
    case 6: (product % 2 + product % 3) % 2 == 0
    default: ((row + column) % 2 + product % 3) % 2 == 0
    }
  }

  /// The penalty by the standard's four rules; the mask with the lowest one is used.
  private var penalty: Int {
    let size = modules.count
    let columns = (0..<size).map { column in (0..<size).map { modules[$0][column] } }
    var sum = (modules + columns).map(Self.penalty).reduce(0, +)
    for row in 0..<size - 1 {
      for column in 0..<size - 1 {
        let square = [
          modules[row][column], modules[row][column + 1], modules[row + 1][column],
          modules[row + 1][column + 1],
        ]
        if Set(square).count == 1 { sum += 3 }
      }
    }
    let dark = modules.joined().count { $0 }
    return sum + abs(dark * 20 - size * size * 10) / (size * size) * 10
  }

  private static let finder: [Bool] = [1, 0, 1, 1, 1, 0, 1, 0, 0, 0, 0].map { $0 == 1 }

  private static func penalty(of line: [Bool]) -> Int {
    var sum = 0
    var run = 0
    for index in line.indices {
      run = index > 0 && line[index] == line[index - 1] ? run + 1 : 1
      if run == 5 { sum += 3 } else if run > 5 { sum += 1 }
    }
    for start in 0...max(0, line.count - finder.count) {
      let part = Array(line[start..<min(line.count, start + finder.count)])
      if part == finder || part == finder.reversed() { sum += 40 }
    }
    return sum
  }
}
