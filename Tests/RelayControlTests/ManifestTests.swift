import Credentials
import FamilyModel
import Foundation
import Testing

@Suite struct ManifestTests {
  private func read(_ text: String) throws -> AppManifest {
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("mf-\(UUID().uuidString.prefix(8)).json")
    defer { try? FileManager.default.removeItem(at: file) }
    try text.write(to: file, atomically: true, encoding: .utf8)
    return try AppManifest(file: file)
  }

  private func failure(_ text: String) -> String {
    do {
      _ = try read(text)
      return ""
    } catch { return "\(error)" }
  }

  @Test("D3: reads the declared use, the rating and the name; an absent member is not declared")
  func valid() throws {
    #expect(try read("{}") == AppManifest())
    #expect(
      try read(#"{"name": "Landmarks", "usesDeclaredAgeRange": true, "ageRating": 9}"#)
        == AppManifest(usesDeclaredAgeRange: true, ageRating: .nine, name: "Landmarks"))
    #expect(try read(#"{"webhook": "https://example.com/hook"}"#) == AppManifest())
  }

  @Test(
    "D3: an error of a manifest names the file, the line and the cause",
    arguments: [
      ("{\n\"ageRatin\": 9}", ["line 2: 'ageRatin' is not a key", "'ageRating'?"]),
      (#"{"ageRating": 12}"#, ["line 1: the age rating must be 4, 9, 13, 16 or 18."]),
      (#"{"ageRating": "9"}"#, ["'ageRating' is 4, 9, 13, 16 or 18."]),
      (#"{"ageRating": 999}"#, ["the age rating must be"]),
      (#"{"usesDeclaredAgeRange": "yes"}"#, ["'usesDeclaredAgeRange' is true or false."]),
      (#"{"webhook": 1}"#, ["'webhook' is a URL."]),
      (#"{"name": ""}"#, ["a name has 1 to 256 bytes."]),
      ("[1]", ["not a JSON object"]), ("{", ["not valid JSON"]),
    ])
  func invalid(_ text: String, _ words: [String]) {
    let said = failure(text)
    for word in words + ["The manifest '", "mf-"] { #expect(said.contains(word), "\(said)") }
    #expect(!said.contains("Error Domain") && !said.contains("DecodingError"))
  }

  @Test("a manifest without its app is refused with the nearest identifier")
  func withoutApp() async throws {
    let said = try await RelayControlFixture.run(
      "child-agent",
      [
        "--credential", "/nowhere", "--directory", "/nowhere", "--interactive",
        "--app", "my.chat=/bin/true", "--manifest", "mychat=/nowhere",
      ])
    #expect(said.code == 64 && said.error.contains("Did you mean 'my.chat'?"), "\(said.error)")
  }
}

/// Options of the agents with a fixed set of values.
@Suite struct AgentOptionTests {
  @Test(
    "an unknown language or log level is refused with the known ones, without the usage",
    arguments: [
      ("--language", "de", "en, fr, es, pt-BR, ja or zh-Hans"),
      ("--log-level", "loud", "error or critical"),
    ])
  func values(_ option: String, _ value: String, _ known: String) async throws {
    let said = try await RelayControlFixture.run(
      "child-agent",
      ["--credential", "/nowhere", "--directory", "/nowhere", "--interactive", option, value])
    #expect(said.code == 64 && said.error.contains("'\(value)'") && said.error.contains(known))
    #expect(!said.error.contains("Usage:"))
  }
}
