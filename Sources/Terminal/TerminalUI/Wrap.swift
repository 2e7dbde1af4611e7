extension String {
  /// Characters that must not start a line in Japanese and Chinese.
  private static let neverFirst: Set<Character> = [
    "、", "。", "，", "．", "：", "；", "！", "？", "」", "』", "）", "”", "…", "ー", "・",
  ]
  /// Characters that must not end a line in Japanese and Chinese.
  private static let neverLast: Set<Character> = ["「", "『", "（", "“"]

  /// The text in lines of at most `width` columns.
  ///
  /// Lines break at spaces and between ideographs; a word breaks only if it is wider than a line.
  /// Precondition: `width` is at least 2.
  func wrapped(_ width: Int) -> [String] {
    var lines: [String] = []
    for paragraph in split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
      lines += Self.wrap(Array(String(paragraph).displaySafe), width)
    }
    return lines
  }

  private static func wrap(_ text: [Character], _ width: Int) -> [String] {
    var lines: [String] = []
    var start = 0
    var used = 0
    /// The last possible end of the current line, after at least one character.
    var possible: Int?
    var index = 0
    while index < text.count {
      let character = text[index]
      let cells = character.cells
      if used + cells > width, index > start, character != " " {
        let end = possible ?? index
        lines.append(trimmed(text[start..<end]))
        start = end
        while start < text.count, text[start] == " " { start += 1 }
        if index < start { index = start }
        used = text[start..<index].reduce(0) { $0 + $1.cells }
        possible = nil
        continue
      }
      used += cells
      index += 1
      if mayBreak(text, index) { possible = index }
    }
    lines.append(trimmed(text[start...]))
    return lines
  }

  private static func trimmed(_ text: ArraySlice<Character>) -> String {
    var text = text
    while text.last == " " { text.removeLast() }
    return String(text)
  }

  /// Whether a line may end before the character at `index`.
  private static func mayBreak(_ text: [Character], _ index: Int) -> Bool {
    guard index < text.count, text[index] != " " else { return false }
    let (before, after) = (text[index - 1], text[index])
    if before == " " { return true }
    guard before.isWide || after.isWide else { return false }
    return !neverFirst.contains(after) && !neverLast.contains(before)
  }
}
