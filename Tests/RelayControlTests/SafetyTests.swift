import Foundation
import Testing

@Suite struct SafetyTests {
  @Test(
    "S2, S3: a guardian chooses how pictures are treated, and the last choice counts",
    .timeLimit(.minutes(10)))
  func safety() async throws {
    try await RelayControlFixture.with { fixture in
      let rosa = fixture.file("Rosa")
      func setting() async throws -> String? {
        let rows = try await fixture.must("settings", "--as", rosa, "--json").objects
        return rows.first { $0["child"] as? String == "Emily" }?["communicationSafety"] as? String
      }
      #expect(try await setting() == "off")
      for value in ["descriptive", "off", "simple"] {
        let output = try await fixture.must("communication-safety", value, "--as", rosa).output
        #expect(output == "Emily's communication safety is '\(value)'.\n")
        #expect(try await setting() == value)
      }
      let again = try await fixture.must("communication-safety", "simple", "--as", rosa).output
      #expect(again == "Emily's communication safety is already 'simple'.\n")
      try await fixture.mustFail(
        "communication-safety", "on", "--as", rosa, expecting: ["'off', 'simple' or 'descriptive'"])
      let history = try await fixture.must("history", "--as", rosa).output
      #expect(history.contains("set the check of sensitive pictures to simple"))
    }
  }
}
