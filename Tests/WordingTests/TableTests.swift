import Foundation
import Testing

@testable import Wording

/// A language's file from the sources, so that no fallback hides a missing key.
private func table(_ language: Language) throws -> [String: String] {
  let plist = try PropertyListSerialization.propertyList(
    from: Data(contentsOf: file(language)), format: nil)
  return try #require(plist as? [String: String])
}

private func file(_ language: Language) -> URL {
  URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
    .appendingPathComponent("Sources/Terminal/Wording/Resources/\(language.rawValue).lproj")
    .appendingPathComponent("Localizable.strings")
}

private func placeholders(_ text: String) -> [String] {
  text.matches(of: /%[^%]*?@/).map { String($0.0) }.sorted()
}

@Suite struct TableTests {
  @Test("Q6: each language has exactly the keys of English", arguments: Language.allCases)
  func keys(_ language: Language) throws {
    let english = try Set(table(.english).keys)
    let keys = try Set(table(language).keys)
    #expect(english.subtracting(keys) == [])
    #expect(keys.subtracting(english) == [])
  }

  @Test("Q6: no key occurs twice in a file", arguments: Language.allCases)
  func once(_ language: Language) throws {
    let text = try String(contentsOf: file(language), encoding: .utf8)
    let lines = text.split(separator: "\n").count { $0.hasPrefix("\"") }
    #expect(try table(language).count == lines)
  }

  @Test("Q6: each phrase has a text", arguments: Language.allCases)
  func phrases(_ language: Language) throws {
    let texts = try table(language)
    for phrase in Phrase.allCases { #expect(texts[phrase.rawValue]?.isEmpty == false, "\(phrase)") }
  }

  @Test("Q6: each text has the placeholders of its English text", arguments: Language.allCases)
  func positions(_ language: Language) throws {
    let texts = try table(language)
    for (key, english) in try table(.english) {
      #expect(try placeholders(#require(texts[key])) == placeholders(english), "\(key)")
    }
    for (key, text) in texts {
      let expected = (0..<placeholders(text).count).map { "%\($0 + 1)$@" }
      #expect(placeholders(text) == expected, "\(key): numbered from 1, each once")
      #expect(text.count { $0 == "%" } == expected.count, "\(key): no other format")
    }
  }

  @Test("Q6: the bundle contains the texts of the files", arguments: Language.allCases)
  func resources(_ language: Language) throws {
    for (key, text) in try table(language) { #expect(Wording(language).text(key) == text) }
  }

  @Test(
    "Q6: each text differs from English",
    arguments: Language.allCases.filter { $0 != .english })
  func translated(_ language: Language) throws {
    let texts = try table(language)
    for (key, english) in try table(.english) where key != "person.inQuestion" {
      if english.contains(/[a-z]/) || key.hasPrefix("question") {
        #expect(texts[key] != english, "\(key)")
      }
    }
  }
}
