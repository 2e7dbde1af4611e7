import Foundation
import Testing

@Suite struct WebRuleTests {
  @Test("S5: a guardian sets, lists and removes rules for sites", .timeLimit(.minutes(10)))
  func rules() async throws {
    try await RelayControlFixture.with { fixture in
      let rosa = fixture.file("Rosa")
      func listed() async throws -> [String: String] {
        let rows = try await fixture.must("web-rules", "--as", rosa, "--json").objects
        return Dictionary(
          uniqueKeysWithValues: rows.map {
            ($0["site"] as? String ?? "", $0["access"] as? String ?? "")
          })
      }
      #expect(try await listed() == ["": "allow"])
      let all = try await fixture.must("web-rule", "ask", "--as", rosa).output
      #expect(all == "Emily's rule for other sites is 'ask'.\n")
      let site = try await fixture.must(
        "web-rule", "block", "www.B\u{fc}cher.example", "--as", rosa)
      #expect(site.output == "Emily's rule for xn--bcher-kva.example is 'block'.\n")
      try await fixture.must("web-rule", "allow", "news.example.co.uk", "--as", rosa)
      #expect(
        try await listed()
          == ["": "ask", "xn--bcher-kva.example": "block", "example.co.uk": "allow"])
      try await fixture.must("web-rule", "none", "b\u{fc}cher.example", "--as", rosa)
      #expect(try await listed() == ["": "ask", "example.co.uk": "allow"])
      try await fixture.mustFail(
        "web-rule", "block", "http://x.example/", "--as", rosa, expecting: ["no host of a site"])
      try await fixture.mustFail("web-rule", "none", "--as", rosa, expecting: ["Name the site"])
    }
  }
}
