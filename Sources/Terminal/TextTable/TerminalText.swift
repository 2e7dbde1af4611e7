extension String {
  /// The text as one line without control sequences, safe to print in a terminal.
  ///
  /// Line breaks and tabs become spaces. Other controls, including bidi controls, become U+FFFD.
  public var printable: String {
    var scalars = UnicodeScalarView()
    for scalar in unicodeScalars {
      switch scalar.properties.generalCategory {
      case .lineSeparator, .paragraphSeparator: scalars.append(" ")
      case .control: scalars.append(["\n", "\t"].contains(scalar) ? " " : "\u{FFFD}")
      // Joiners are part of emoji and of some scripts.
      case .format: scalars.append(["\u{200C}", "\u{200D}"].contains(scalar) ? scalar : "\u{FFFD}")
      default: scalars.append(scalar)
      }
    }
    return String(scalars)
  }

  /// The width of the text in terminal columns; wide characters, such as Chinese ones, count two.
  public var columns: Int { reduce(0) { $0 + $1.columns } }
}

extension Character {
  /// Unicode's East Asian Width, in ranges that terminals agree on.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3,
    0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD,
  ]

  fileprivate var columns: Int {
    let first = unicodeScalars.first!
    if ["\u{200C}", "\u{200D}"].contains(first) { return 0 }
    let isEmoji = first.properties.isEmojiPresentation || unicodeScalars.contains("\u{FE0F}")
    return isEmoji || Self.wide.contains { $0.contains(first.value) } ? 2 : 1
  }
}
