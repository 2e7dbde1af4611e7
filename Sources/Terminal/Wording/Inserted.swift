extension String {
  /// The template with `%1$@` … `%9$@` replaced by the sanitized arguments.
  ///
  /// Placeholders inside arguments are not replaced; one without an argument stays visible.
  func filled(with arguments: [String]) -> String {
    replacing(/%([1-9])\$@/) { match in
      guard let position = Int(match.1), position <= arguments.count else { return String(match.0) }
      return arguments[position - 1].sanitized
    }
  }

  /// The text with each control, line separator and bidi control replaced by U+FFFD.
  ///
  /// A line break could start a forged sentence, and an override could reverse the text around it.
  public var sanitized: String {
    var scalars = UnicodeScalarView()
    for scalar in unicodeScalars { scalars.append(scalar.isHarmful ? "\u{FFFD}" : scalar) }
    return String(scalars)
  }

  /// Whether the text contains a visible character: no space, control or ignorable code point.
  public var isVisible: Bool {
    unicodeScalars.contains {
      !$0.isHarmful && !$0.properties.isWhitespace && !$0.properties.isDefaultIgnorableCodePoint
    }
  }
}

extension Unicode.Scalar {
  /// Whether the scalar embeds, overrides or isolates the direction of the text after it.
  var isBidiControl: Bool {
    (0x202A...0x202E).contains(value) || (0x2066...0x2069).contains(value)
  }

  /// Whether the scalar breaks the line or the direction of the text around it.
  fileprivate var isHarmful: Bool {
    isBidiControl
      || [.control, .lineSeparator, .paragraphSeparator].contains(properties.generalCategory)
  }
}
