import Testing

/// Holds comments, messages, titles and documents to the language rules of CONTRIBUTING.md.
@Suite struct ProseTests {
  private static let folders = ["Sources", "Verification", "Tests"]

  @Test("comments obey the language rules", arguments: folders)
  func comments(_ folder: String) throws {
    let files = try Repository.files(below: folder)
    #expect(files.count > 80)
    for file in files where !isQuotingRules(file) {
      for paragraph in SwiftSource(file.text).paragraphs {
        let found = ProseRules.violations(in: paragraph.text)
        #expect(found == [], "\(file.path):\(paragraph.line)")
      }
    }
  }

  @Test("messages, help texts and test titles obey the language rules", arguments: folders)
  func messages(_ folder: String) throws {
    for file in try Repository.files(below: folder) where !isQuotingRules(file) {
      for string in SwiftSource(file.text).strings {
        // Lines of a longer literal may be a table, a query or a page, so each stands for itself.
        for line in string.text.split(separator: "\n") where line.split(separator: " ").count > 2 {
          let found = ProseRules.violations(in: String(line))
          #expect(found == [], "\(file.path):\(string.line)")
        }
      }
    }
  }

  @Test("documents obey the language rules") func documents() throws {
    let files = try Repository.documents()
    #expect(files.count > 10)
    for file in files {
      for paragraph in Markdown.paragraphs(of: file.text) {
        #expect(ProseRules.violations(in: paragraph) == [], "\(file.path): \(paragraph.prefix(60))")
      }
    }
  }

  @Test("scripts and protocol files obey the language rules") func scripts() throws {
    let files =
      try Repository.files(below: "tools", [""])
      + Repository.files(below: "Sources/Wire", ["proto"])
    #expect(files.count > 6)
    for file in files {
      for paragraph in Markdown.comments(of: file.text) {
        #expect(ProseRules.violations(in: paragraph) == [], "\(file.path): \(paragraph.prefix(60))")
      }
    }
  }

  @Test(
    "shipped and verification code names no requirement code",
    arguments: ["Sources", "Verification"])
  func codesInCode(_ folder: String) throws {
    for file in try Repository.files(below: folder) {
      let source = SwiftSource(file.text)
      for part in source.paragraphs + source.strings {
        #expect(ProseRules.codes(in: part.text) == [], "\(file.path):\(part.line)")
      }
    }
  }

  @Test("every requirement code in a test or document is defined") func definedCodes() throws {
    let requirements = try #require(
      Repository.documents().first { $0.path == "docs/Requirements.md" })
    let defined = ProseRules.definedCodes(requirements.text)
    #expect(defined.count > 90)
    for file in try Repository.files(below: "Tests") where !isQuotingRules(file) {
      for string in SwiftSource(file.text).strings where string.text.contains(":") {
        let title = string.text.prefix { $0 != ":" }
        guard title.count < 40 else { continue }
        for code in ProseRules.codes(in: String(title)) {
          #expect(defined.contains(code), "\(file.path):\(string.line): \(code)")
        }
      }
    }
    for file in try Repository.documents() {
      for paragraph in Markdown.paragraphs(of: file.text) {
        for code in ProseRules.codes(in: paragraph) {
          #expect(defined.contains(code), "\(file.path): \(code)")
        }
      }
    }
  }

  /// These tests hold examples of what the rules forbid.
  private func isQuotingRules(_ file: Repository.File) -> Bool {
    file.path.hasPrefix("Tests/ArchitectureTests/")
  }
}

/// Each rule finds a sentence that breaks it.
@Suite struct ProseRuleTests {
  @Test("a sentence without a subject is found", arguments: ProseRules.subjects.sorted())
  func subject(_ word: String) {
    #expect(ProseRules.violations(in: "The relay stops. \(word) fails.").count == 1)
    #expect(ProseRules.violations(in: "The relay stops when \(word.lowercased()) fails.") == [])
  }

  @Test("a translated phrase is found, also across lines", arguments: ProseRules.phrases)
  func phrase(_ phrase: String) {
    let broken = phrase.split(separator: " ").joined(separator: "\n")
    #expect(ProseRules.violations(in: "The relay \(broken), then stops.").count == 1)
  }

  @Test("a sentence over the limit is found, and code spans count once") func length() {
    let words = Array(repeating: "word", count: ProseRules.longestSentence).joined(separator: " ")
    #expect(ProseRules.violations(in: words) == [])
    #expect(ProseRules.violations(in: words + " more").count == 1)
    #expect(ProseRules.violations(in: words + "`a b c d`") == [])
    #expect(ProseRules.violations(in: words + ". Then \(words.dropFirst(4))") == [])
  }

  @Test("requirement codes are found, other names are not") func codes() {
    #expect(ProseRules.codes(in: "shown at once (R3, D12)") == ["R3", "D12"])
    #expect(ProseRules.codes(in: "SHA256, X25519, AES-256, A, F, R123, x3") == [])
  }

  @Test("defined codes are the bullets of the requirements") func defined() {
    #expect(ProseRules.definedCodes("- **R3** first\n- R4 second\ntext **R5**") == ["R3"])
  }

  @Test("a source is cut into comments, strings and code") func scanner() {
    let source = SwiftSource("/// One\n/// two.\nlet a = \"b \\(c(\"d\")) e\" // f\n")
    #expect(source.paragraphs.map(\.text) == ["One\ntwo.", "f"])
    #expect(source.strings.map(\.text) == ["d", "b x e"])
  }
}
