import Testing

/// Keeps files and functions short enough to read at once.
@Suite struct SizeTests {
  /// Lines of the longest file, of nine files in ten, and of the longest function.
  private static let (longestFile, ninetiethPercentile, longestFunction) = (400, 200, 70)

  private func files() throws -> [Repository.File] {
    try ["Sources", "Verification", "Tests"].flatMap { try Repository.files(below: $0) }
  }

  @Test("no file has more than 400 lines, and nine in ten at most 200") func fileLengths() throws {
    let lengths = try files().map { (path: $0.path, lines: lineCount($0.text)) }
      .sorted { $0.lines < $1.lines }
    #expect(lengths.count > 400)
    for file in lengths { #expect(file.lines <= Self.longestFile, "\(file.path)") }
    let percentile = lengths[lengths.count * 9 / 10]
    #expect(percentile.lines <= Self.ninetiethPercentile, "\(percentile.path)")
  }

  @Test("no function has more than 70 lines") func functionLengths() throws {
    for file in try files() {
      for function in FunctionLength.all(in: file.text) {
        #expect(
          function.lines <= Self.longestFunction, "\(file.path):\(function.line) \(function.name)")
      }
    }
  }

  @Test("the length of a function is counted to its closing brace") func canFail() {
    let text = "struct A {\n  func long() {\n    if true {\n    }\n  }\n\n  func short() {}\n}\n"
    #expect(
      FunctionLength.all(in: text) == [
        FunctionLength(name: "long", line: 2, lines: 4),
        FunctionLength(name: "short", line: 7, lines: 1),
      ])
  }

  private func lineCount(_ text: String) -> Int {
    text.split(separator: "\n", omittingEmptySubsequences: false).count - 1
  }
}

/// The lines of one function, from its `func` to the closing brace.
struct FunctionLength: Equatable {
  var name: String
  var line: Int
  var lines: Int

  static func all(in text: String) -> [FunctionLength] {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    return lines.indices.compactMap { index in
      guard let name = functionName(lines[index]) else { return nil }
      let indent = lines[index].prefix { $0 == " " }
      // The formatter puts the closing brace under the declaration; short functions end on their line.
      let closing = "\(indent)}"
      let end =
        lines[index].hasSuffix("}")
        ? index : lines[index...].dropFirst().firstIndex { $0 == closing || $0 == closing + "()" }
      return FunctionLength(name: name, line: index + 1, lines: (end ?? index) - index + 1)
    }
  }

  private static func functionName(_ line: Substring) -> String? {
    let words = line.split(separator: " ")
    guard let position = words.firstIndex(of: "func"), position + 1 < words.count,
      words[..<position].allSatisfy({ $0.allSatisfy { $0.isLetter || "@()_".contains($0) } })
    else { return nil }
    return String(words[position + 1].prefix { $0.isLetter || $0.isNumber || $0 == "_" })
  }
}
