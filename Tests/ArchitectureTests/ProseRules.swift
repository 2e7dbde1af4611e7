/// The rules of CONTRIBUTING.md that a program can check.
enum ProseRules {
  /// Words that cannot be the subject of a technical sentence.
  static let subjects: Set = ["Who", "What", "Whatever", "Nobody", "Somebody", "It"]

  /// Phrases that betray a literal translation.
  static let phrases = [
    "anew", "likewise", "so many", "is none", "goes on", "nobody else", "whoever", "by itself",
    "looked at", "what there is", "that there is not", "says nothing more", "comes back again",
  ]

  /// The longest sentence, in words.
  static let longestSentence = 30

  /// The letters with which requirement codes begin.
  static let codeLetters: Set<Character> = Set("FMQARKDSXTON")

  /// The broken rules in the text of a comment, a message or a paragraph.
  static func violations(in text: String) -> [String] {
    phraseViolations(text) + sentences(text).flatMap(sentenceViolations)
  }

  private static func phraseViolations(_ text: String) -> [String] {
    let words = " " + words(text.lowercased()).joined(separator: " ") + " "
    return phrases.filter { words.contains(" \($0) ") }.map { "phrase “\($0)”" }
  }

  private static func sentenceViolations(_ sentence: String) -> [String] {
    var found: [String] = []
    let words = sentence.split(whereSeparator: \.isWhitespace)
    if let first = words.first.map({ String($0.filter(\.isLetter)) }), subjects.contains(first) {
      found.append("subject “\(first)”: \(sentence.prefix(60))")
    }
    if words.count > longestSentence {
      found.append("\(words.count) words: \(sentence.prefix(60))…")
    }
    return found
  }

  /// The words, without punctuation.
  private static func words(_ text: String) -> [Substring] {
    text.split { !$0.isLetter && !$0.isNumber && $0 != "-" && $0 != "'" && $0 != "’" }
  }

  /// Cuts text at full stops that a capital or a code span follows, and at blank lines.
  static func sentences(_ text: String) -> [String] {
    var sentences: [String] = []
    var current = ""
    let characters = Array(withoutCode(text))
    for (index, character) in characters.enumerated() {
      current.append(character)
      let following = characters[(index + 1)...].drop { $0.isWhitespace }
      let isSpaced = index + 1 < characters.count && characters[index + 1].isWhitespace
      let isBlankLine = character == "\n" && characters[index...].dropFirst().first == "\n"
      let isEnd =
        ".!?".contains(character) && isSpaced
        && (following.first.map { $0.isUppercase || $0 == "(" || $0 == "`" } ?? true)
      if isEnd || isBlankLine {
        sentences.append(current)
        current = ""
      }
    }
    return (sentences + [current]).map { $0.trimmed }.filter { !$0.isEmpty }
  }

  /// Code spans count as one word.
  private static func withoutCode(_ text: String) -> String {
    text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .map { $0.isMultiple(of: 2) ? String($1) : "x" }.joined()
  }

  /// Requirement codes such as `R3` in the text.
  static func codes(in text: String) -> [String] {
    text.split { !$0.isLetter && !$0.isNumber && $0 != "_" && $0 != "-" }.map(String.init).filter {
      guard let letter = $0.first, codeLetters.contains(letter) else { return false }
      let digits = $0.dropFirst()
      return (1...2).contains(digits.count) && digits.first != "0"
        && digits.allSatisfy { $0.isASCII && $0.isNumber }
    }
  }

  /// The codes that docs/Requirements.md defines, in bullets that begin with `- **R3**`.
  static func definedCodes(_ requirements: String) -> Set<String> {
    Set(
      requirements.split(separator: "\n").compactMap { line in
        line.hasPrefix("- **")
          ? codes(in: String(line.dropFirst(4).prefix { $0 != "*" })).first : nil
      })
  }
}

extension String {
  fileprivate var trimmed: String {
    String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
  }
}
