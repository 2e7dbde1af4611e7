import Foundation
import Testing

@Suite struct AgeTests {
  @Test("D6, D7, D13: a guardian sets age sharing and the ceiling", .timeLimit(.minutes(10)))
  func settings() async throws {
    try await RelayControlFixture.with { fixture in
      let rosa = fixture.file("Rosa")
      try await fixture.must("age-sharing", "never", "--as", rosa)
      try await fixture.must("age-sharing", "always", "--app", "example.landmarks", "--as", rosa)
      try await fixture.must("ceiling", "13", "--as", rosa)
      var settings = try await fixture.must("settings", "--as", rosa, "--json").objects
      #expect(settings[0]["ageSharing"] as? String == "never")
      let apps = settings[0]["ageSharingOfApps"] as? [String: String]
      #expect(apps == ["example.landmarks": "always"])
      #expect(settings[0]["ceiling"] as? Int == 13)
      try await fixture.must("ceiling", "off", "--as", rosa)
      settings = try await fixture.must("settings", "--as", rosa, "--json").objects
      #expect(settings[0]["ceiling"] is NSNull)
      try await fixture.mustFail("ceiling", "12", "--as", rosa, expecting: ["13", "off"])
      #expect(
        try await fixture.must("ages", "--as", rosa).output
          == "No app has received an age answer yet.\n")
      try await fixture.mustFail(
        "forget-age", "example.landmarks", "--as", rosa,
        expecting: ["'example.landmarks' has no answers", "relayctl ages"])
    }
  }

  @Test("a sandbox case prints both frameworks' answers in one line", .timeLimit(.minutes(10)))
  func sandbox() async throws {
    try await RelayControlFixture.with { fixture in
      let rosa = fixture.file("Rosa")
      let teen = try await fixture.must("sandbox", "teen-14", "--as", rosa).output
      #expect(
        teen
          == "Emily: requestAgeRange(13, 16, 18) → sharing 13 to 15, guardianDeclared, "
          + "communicationLimits, if shared; required: nothing; PermissionKit → approval\n")
      let texan = try await fixture.must("sandbox", "teen-14-texas", "--as", rosa).output
      #expect(texan.contains("required: age range, parental consent, adult notification"))
      #expect(!texan.contains("if shared"))
      let none = try await fixture.must("sandbox", "no-birthdate", "--as", rosa).output
      #expect(none.contains("notAvailable"))
      let settings = try await fixture.must("settings", "--as", rosa, "--json").objects
      #expect(settings[0]["birthdate"] is NSNull)
      try await fixture.mustFail(
        "sandbox", "teen-14-revoked", "--as", rosa, expecting: ["--app"])
      try await fixture.mustFail(
        "sandbox", "teen", "--as", rosa, expecting: ["child-9", "adult-42-id"])
    }
  }
}
