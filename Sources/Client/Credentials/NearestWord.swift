/// Suggestions for misspelt words, such as keys of a file.
package enum NearestWord {
  /// The largest number of edits between a word and its suggestion.
  private static let farthest = 3

  /// The choice with the fewest edits of letters from the word. An edit inserts, deletes or replaces
  /// a letter.
  ///
  /// - Returns: `nil` if each choice needs more than three edits, or edits in half of the word.
  package static func find(_ word: String, in choices: some Sequence<String>) -> String? {
    let limit = min(farthest, max(1, word.count / 2))
    return choices.map { ($0, distance(word.lowercased(), $0.lowercased())) }
      .filter { $0.1 <= limit }.min { $0.1 < $1.1 }?.0
  }

  /// The sentence about an unknown word: a suggestion, or the list of choices.
  package static func advice(_ word: String, in choices: [String]) -> String {
    if let nearest = find(word, in: choices) { return "Did you mean '\(nearest)'?" }
    guard let last = choices.last else { return "None is allowed here." }
    let others = choices.dropLast().joined(separator: ", ")
    return "Choose \(others.isEmpty ? last : "\(others) or \(last)")."
  }

  private static func distance(_ a: String, _ b: String) -> Int {
    let b = Array(b)
    var row = Array(0...b.count)
    for (i, letter) in a.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for j in b.indices {
        let substitution = diagonal + (letter == b[j] ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(substitution, row[j] + 1, diagonal + 1)
      }
    }
    return row[b.count]
  }
}
