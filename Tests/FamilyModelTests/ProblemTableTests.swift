import FamilyModel
import Foundation
import Testing

/// Compares the table of problems with the problems' declarations and with the document.
@Suite struct ProblemTableTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  private func text(_ path: String) throws -> String {
    try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
  }

  @Test("Q10: each declared problem has exactly one line with a cause and a next step")
  func complete() throws {
    let source = try text("Sources/Core/FamilyModel/Problem.swift")
    let declared =
      source.matches(of: /= Problem\(([0-9]{3})\)/).map { String($0.1) }
      + source.matches(of: /Problem\(code: ([0-9]{3}),/).map { String($0.1) }
    #expect(declared.count > 40 && Set(declared).count == declared.count)
    #expect(Problem.table.map { "\($0.code)" } == declared.sorted())
    for entry in Problem.table {
      for text in [entry.cause, entry.nextStep] { #expect(text.hasSuffix("."), "\(entry.code)") }
      #expect(!entry.name.isEmpty && Problem(code: entry.code).entry == entry)
    }
    #expect(Problem(code: 999).entry == nil && "\(Problem(code: 999))" == "problem 999")
    #expect("\(Problem.ratedAbove)" == "problem 411: the app is rated above the child's ceiling")
  }

  @Test("the document of problems shows the same lines") func document() throws {
    let lines = try text("docs/Problems.md").split(separator: "\n").map(String.init)
    let rows = lines.filter { $0.firstMatch(of: /^\| [0-9]{3} \|/) != nil }
    #expect(
      rows == Problem.table.map { "| \($0.code) | \($0.name) | \($0.cause) | \($0.nextStep) |" })
  }
}
