package import Foundation

/// Words that tell of people, and where they are written.
package struct PersonalWords: Sendable {
  package let words: [String]

  /// Names and birthdates of the families, and what else is said in a run.
  package init(_ file: ClusterFamilies, and said: [String]) {
    let members = file.families.flatMap(\.members)
    words = Set(members.map(\.name) + members.compactMap(\.birthdate) + said).sorted()
  }

  /// Those that stand in the text, and are not a part of a longer word.
  package func found(in text: Data) -> [String] {
    words.filter { Self.holds(text, Data($0.utf8)) }
  }

  /// What the logs below the folder hold, as “word in file”; and how many logs there are.
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

  /// A letter, or a part of one that is not ASCII.
  private static func isLetter(_ byte: UInt8) -> Bool {
    byte >= 0x80 || (0x61...0x7A).contains(byte | 0x20)
  }
}
