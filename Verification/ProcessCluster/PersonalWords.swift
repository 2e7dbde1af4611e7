package import Foundation

/// Personal words of a run, and a search for them in texts and logs.
package struct PersonalWords: Sendable {
  package let words: [String]

  /// Collects the names and birthdates of the families and further personal texts of a run.
  package init(_ file: ClusterFamilies, and said: [String]) {
    let members = file.families.flatMap(\.members)
    words = Set(members.map(\.name) + members.compactMap(\.birthdate) + said).sorted()
  }

  /// The personal words in the text, as whole words.
  package func found(in text: Data) -> [String] {
    words.filter { Self.holds(text, Data($0.utf8)) }
  }

  /// Searches all logs below the folder.
  ///
  /// - Returns: The leaks as “word in file”, and the number of logs.
  package func found(inLogsBelow folder: URL) throws -> (leaks: [String], logs: Int) {
    let files =
      FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?
      .allObjects as? [URL]
    let logs = (files ?? []).filter { $0.pathExtension == "log" }
    let leaks = try logs.flatMap { log in
      try found(in: Data(contentsOf: log)).map { "\($0) in \(log.lastPathComponent)" }
    }
    return (leaks, logs.count)
  }

  private static func holds(_ text: Data, _ word: Data) -> Bool {
    var rest = text.startIndex..<text.endIndex
    while let hit = text.range(of: word, in: rest) {
      let isPart =
        hit.lowerBound > text.startIndex && isLetter(text[hit.lowerBound - 1])
        || hit.upperBound < text.endIndex && isLetter(text[hit.upperBound])
      if !isPart { return true }
      rest = hit.upperBound..<text.endIndex
    }
    return false
  }

  /// Whether the byte is an ASCII letter or part of a non-ASCII character.
  private static func isLetter(_ byte: UInt8) -> Bool {
    byte >= 0x80 || (0x61...0x7A).contains(byte | 0x20)
  }
}
