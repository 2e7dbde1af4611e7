import Foundation
import Testing

@Suite struct AgeTests {
  @Test("D6, D7, D13: guardians choose sharing and ceiling", .timeLimit(.minutes(10)))
  func settings() async throws {
    try await RelayControlFixture.with { home in
      let rosa = home.file("Rosa")
      try await home.must("age-sharing", "never", "--as", rosa)
      try await home.must("age-sharing", "always", "--app", "example.landmarks", "--as", rosa)
      try await home.must("ceiling", "13", "--as", rosa)
      var settings = try await home.must("settings", "--as", rosa, "--json").objects
      #expect(settings[0]["ageSharing"] as? String == "never")
      let apps = settings[0]["ageSharingOfApps"] as? [String: String]
      #expect(apps == ["example.landmarks": "always"])
      #expect(settings[0]["ceiling"] as? Int == 13)
      try await home.must("ceiling", "off", "--as", rosa)
      settings = try await home.must("settings", "--as", rosa, "--json").objects
      #expect(settings[0]["ceiling"] is NSNull)
      try await home.mustFail("ceiling", "12", "--as", rosa, saying: ["13", "off"])
      #expect(
        try await home.must("ages", "--as", rosa).output
          == "No app has received an age answer yet.\n")
      try await home.mustFail(
        "forget-age", "example.landmarks", "--as", rosa,
        saying: ["'example.landmarks' has no answers", "relayctl ages"])
    }
  }

  @Test("a named case says in one line what both frameworks answer", .timeLimit(.minutes(10)))
  func sandbox() async throws {
    try await RelayControlFixture.with { home in
      let rosa = home.file("Rosa")
      let teen = try await home.must("sandbox", "teen-14", "--as", rosa).output
      #expect(
        teen
          == "Emily: requestAgeRange(13, 16, 18) → sharing 13 to 15, guardianDeclared, "
          + "communicationLimits, if shared; required: nothing; PermissionKit → approval\n")
      let texan = try await home.must("sandbox", "teen-14-texas", "--as", rosa).output
      #expect(texan.contains("required: age range, parental consent, adult notification"))
      #expect(!texan.contains("if shared"))
      let none = try await home.must("sandbox", "no-birthdate", "--as", rosa).output
      #expect(none.contains("notAvailable"))
      let settings = try await home.must("settings", "--as", rosa, "--json").objects
      #expect(settings[0]["birthdate"] is NSNull)
      try await home.mustFail(
        "sandbox", "teen-14-revoked", "--as", rosa, saying: ["--app"])
      try await home.mustFail("sandbox", "teen", "--as", rosa, saying: ["child-9", "adult-42-id"])
    }
  }
}
