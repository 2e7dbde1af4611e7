/// The prose of a document or of a script's comments.
enum Markdown {
  /// Paragraphs, list items and table cells; fenced code is left out.
  static func paragraphs(of text: String) -> [String] {
    var paragraphs: [String] = []
    var current: [String] = []
    var isFenced = false
    func end() {
      if !current.isEmpty { paragraphs.append(current.joined(separator: "\n")) }
      current = []
    }
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let trimmed = String(line.drop(while: \.isWhitespace))
      if trimmed.hasPrefix("```") {
        end()
        isFenced.toggle()
      } else if isFenced || trimmed.isEmpty {
        end()
      } else if trimmed.hasPrefix("|") {
        end()
        paragraphs += trimmed.split(separator: "|").map(String.init)
      } else {
        let item = withoutMarker(trimmed)
        if item != trimmed { end() }
        current.append(item)
      }
    }
    end()
    return paragraphs
  }

  /// The text after a heading, quote or list marker.
  private static func withoutMarker(_ line: String) -> String {
    for marker in ["- ", "* ", "> "] where line.hasPrefix(marker) {
      return String(line.dropFirst(marker.count))
    }
    if line.hasPrefix("#") { return String(line.drop { $0 == "#" || $0 == " " }) }
    let digits = line.prefix(while: \.isNumber)
    if !digits.isEmpty, line.dropFirst(digits.count).hasPrefix(". ") {
      return String(line.dropFirst(digits.count + 2))
    }
    return line
  }

  /// Comment paragraphs of a shell script (`#`) or of a protocol file (`//`).
  static func comments(of text: String) -> [String] {
    var paragraphs: [String] = []
    var isAdjacent = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let trimmed = line.drop(while: \.isWhitespace)
      guard trimmed.hasPrefix("#") || trimmed.hasPrefix("//"), !trimmed.hasPrefix("#!") else {
        isAdjacent = false
        continue
      }
      let words = String(trimmed.drop { $0 == "#" || $0 == "/" }.drop(while: \.isWhitespace))
      if isAdjacent, !words.isEmpty {
        paragraphs[paragraphs.count - 1] += "\n" + words
      } else {
        paragraphs.append(words)
      }
      isAdjacent = !words.isEmpty
    }
    return paragraphs
  }
}
