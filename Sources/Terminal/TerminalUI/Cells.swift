import Wording

extension String {
  /// The width of the text in terminal columns.
  var cells: Int { reduce(0) { $0 + $1.cells } }

  /// The text without controls, line breaks and stacks of combining marks.
  var displaySafe: String {
    let clean = sanitized
    guard clean.contains(where: { $0.unicodeScalars.count > Character.maximumScalars }) else {
      return clean
    }
    var result = ""
    for character in clean {
      result.unicodeScalars.append(
        contentsOf: character.unicodeScalars.prefix(Character.maximumScalars))
    }
    return result
  }

  /// The longest suffix of the text that fits in `columns`.
  func tail(_ columns: Int) -> Substring {
    var used = 0
    var start = endIndex
    while start > startIndex {
      let before = index(before: start)
      used += self[before].cells
      guard used <= columns else { break }
      start = before
    }
    return self[start...]
  }

  /// The text, cut to a prefix with an ellipsis if it is wider than `columns`.
  func shortened(_ columns: Int) -> String {
    guard cells > columns else { return self }
    var used = 1
    let kept = prefix { character in
      used += character.cells
      return used <= columns
    }
    return kept + "…"
  }
}

extension Character {
  /// Scalars that one character may keep. Real sequences have up to seven (Scotland's flag).
  static let maximumScalars = 12

  /// The width in columns: the sum over its scalars, as terminals without grapheme clusters count.
  var cells: Int {
    let sum = unicodeScalars.reduce(0) { $0 + $1.cells }
    return sum == 1 && unicodeScalars.contains("\u{FE0F}") ? 2 : sum
  }

  /// Whether the character is two columns wide; a line may break on both sides of it.
  var isWide: Bool { unicodeScalars.first.map { $0.cells == 2 } ?? false }
}

extension Unicode.Scalar {
  /// The width in columns: 0 for combining scalars, 2 for East Asian wide ones (UAX 11), else 1.
  var cells: Int {
    guard value >= 0x300 else { return 1 }
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    if (0x1160...0x11FF).contains(value) { return 0 }
    // Regional indicators: a flag consists of two.
    if (0x1F1E6...0x1F1FF).contains(value) { return 1 }
    return properties.isEmojiPresentation || Self.isWide(value) ? 2 : 1
  }

  private static func isWide(_ value: UInt32) -> Bool {
    switch value {
    case 0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF,
      0x4DC0...0x4DFF, 0x4E00...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF,
      0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF,
      0x1AFF0...0x1B2FF, 0x1D300...0x1D376, 0x1F200...0x1F2FF, 0x20000...0x3FFFD:
      true
    default: false
    }
  }
}
