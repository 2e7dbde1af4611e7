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

  @Test(
    "S5: a guardian chooses the report of the web, lists it and deletes it",
    .timeLimit(.minutes(10)))
  func report() async throws {
    try await RelayControlFixture.with { fixture in
      let rosa = fixture.file("Rosa")
      let sites = try await fixture.must("web-reporting", "sites", "--as", rosa).output
      #expect(sites == "Emily's report of the web is 'sites'.\n")
      let again = try await fixture.must("web-reporting", "sites", "--as", rosa).output
      #expect(again == "Emily's report of the web is already 'sites'.\n")
      let table = try await fixture.must("web-report", "--as", rosa).output
      #expect(table == "No device of a child has reported use of the web.\n")
      #expect(try await fixture.must("web-report", "--as", rosa, "--json").objects.isEmpty)
      let deleted = try await fixture.must(
        "delete-web-report", "--site", "www.example.co.uk", "--as", rosa)
      #expect(deleted.output == "The reports of Emily's use of example.co.uk are deleted.\n")
      try await fixture.mustFail(
        "web-reporting", "all", "--as", rosa, expecting: ["'off', 'days' or 'sites'"])
      try await fixture.mustFail(
        "delete-web-report", "--site", "a..b", "--as", rosa, expecting: ["no host of a site"])
    }
  }
}
