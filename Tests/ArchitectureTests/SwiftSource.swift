/// A Swift file cut into code, comments and string literals, with the line on which each part starts.
///
/// Enough of Swift's grammar for the prose rules: line comments, string literals of one and of several
/// lines, escapes and interpolations. Block comments and raw strings are not used in this repository.
struct SwiftSource {
  enum Kind { case code, comment, string }

  struct Part: Equatable {
    var kind: Kind
    var line: Int
    var text: String
  }

  private(set) var parts: [Part] = []
  private let characters: [Character]
  private var position = 0
  private var line = 1
  private var code = ""
  private var codeLine = 1

  init(_ text: String) {
    characters = Array(text)
    scan(untilParenthesis: false)
    endCode()
  }

  private func starts(with text: String) -> Bool {
    var index = position
    for character in text {
      guard index < characters.count, characters[index] == character else { return false }
      index += 1
    }
    return true
  }

  private mutating func advance() -> Character {
    let character = characters[position]
    position += 1
    if character == "\n" { line += 1 }
    return character
  }

  private mutating func endCode() {
    if !code.isEmpty { parts.append(Part(kind: .code, line: codeLine, text: code)) }
    code = ""
    codeLine = line
  }

  /// Scans code; inside an interpolation, up to its closing parenthesis.
  private mutating func scan(untilParenthesis: Bool) {
    var depth = 0
    while position < characters.count {
      if starts(with: "//") {
        endCode()
        scanComment()
      } else if characters[position] == "\"" {
        endCode()
        scanString()
      } else {
        if characters[position] == "(" { depth += 1 }
        if characters[position] == ")" {
          if untilParenthesis, depth == 0 { return endCode() }
          depth -= 1
        }
        if code.isEmpty { codeLine = line }
        code.append(advance())
      }
    }
  }

  private mutating func scanComment() {
    let start = line
    var text = ""
    while position < characters.count, characters[position] != "\n" { text.append(advance()) }
    parts.append(Part(kind: .comment, line: start, text: text))
    codeLine = line
  }

  private mutating func scanString() {
    let start = line
    let quote = starts(with: "\"\"\"") ? "\"\"\"" : "\""
    for _ in quote { _ = advance() }
    var text = ""
    while position < characters.count, !starts(with: quote) {
      guard characters[position] == "\\" else {
        text.append(advance())
        continue
      }
      _ = advance()
      if characters[position] == "(" {
        _ = advance()
        scan(untilParenthesis: true)
        text.append("x")
      }
      if position < characters.count { _ = advance() }
    }
    for _ in quote where position < characters.count { _ = advance() }
    parts.append(Part(kind: .string, line: start, text: text))
    codeLine = line
  }
}

extension SwiftSource {
  /// The comments, with adjacent lines joined into paragraphs.
  var paragraphs: [Part] {
    var joined: [Part] = []
    var isAdjacent = false
    for part in parts {
      switch part.kind {
      case .comment:
        let text = String(part.text.drop { $0 == "/" || $0 == "!" }.drop { $0 == " " })
        if text.hasPrefix("|") { continue }
        if isAdjacent, let last = joined.indices.last, !text.isEmpty, !text.hasPrefix("- ") {
          joined[last].text += "\n" + text
        } else {
          joined.append(Part(kind: .comment, line: part.line, text: text))
        }
        isAdjacent = !text.isEmpty
      case .code
      where part.text.allSatisfy(\.isWhitespace) && part.text.filter(\.isNewline).count < 2:
        break
      case .code, .string: isAdjacent = false
      }
    }
    return joined
  }

  var strings: [Part] { parts.filter { $0.kind == .string } }
}
