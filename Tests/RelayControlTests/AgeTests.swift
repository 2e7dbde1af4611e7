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
      #expect(texan.contains("required: age range, parental consent; "))
      #expect(!texan.contains("if shared"))
      let none = try await fixture.must("sandbox", "no-birthdate", "--as", rosa).output
      #expect(none.contains("notAvailable"))
      let settings = try await fixture.must("settings", "--as", rosa, "--json").objects
      #expect(settings[0]["birthdate"] is NSNull)
      try await fixture.mustFail(
        "sandbox", "teen-14-revoked", "--as", rosa, expecting: ["--app"])
      try await fixture.mustFail(
        "sandbox", "teen", "--as", rosa, expecting: ["child-9", "adult-42-id", "under-13"])
    }
  }

  @Test("D15: a case of Apple's sandbox answers until it is off", .timeLimit(.minutes(10)))
  func appleSandbox() async throws {
    try await RelayControlFixture.with { fixture in
      let rosa = fixture.file("Rosa")
      let child = try await fixture.must("sandbox", "16-17", "--as", rosa).output
      #expect(
        child
          == "Emily: requestAgeRange → sharing 16 to 17, guardianPaymentChecked, "
          + "communicationLimits, significantAppChangeApprovalRequired; required: age range, "
          + "parental consent; PermissionKit → denial\n")
      let adult = try await fixture.must("sandbox", "18-self-declared", "--as", rosa).output
      #expect(
        adult
          == "Emily: requestAgeRange → sharing 18 or older, selfDeclared; required: age range; "
          + "PermissionKit → AskError.systemError\n")
      var settings = try await fixture.must("settings", "--as", rosa, "--json").objects
      #expect(settings[0]["sandbox"] as? String == "18-self-declared")
      let off = try await fixture.must("sandbox", "off", "--as", rosa).output
      #expect(off == "Emily: the account answers again.\n")
      settings = try await fixture.must("settings", "--as", rosa, "--json").objects
      #expect(settings[0]["sandbox"] is NSNull)
    }
  }

  @Test("D12: regions shows what applies on a day and what changes when", .timeLimit(.minutes(10)))
  func regions() async throws {
    try await RelayControlFixture.with { fixture in
      let table = try await fixture.must("regions", "US-UT", "--on", "2027-05-06").output
      #expect(table.contains("age range, parental consent, adult notification"))
      #expect(table.contains("No lawyer has checked this."))
      let before = try await fixture.must(
        "regions", "US-UT", "US-PR", "--on", "2027-05-05", "--made", "2027-05-06", "--json"
      ).objects
      #expect(before[0]["duties"] as? [String] == [] && before[1]["majority"] as? Int == 21)
      let changes = before[0]["changes"] as? [[String: String]]
      #expect(
        changes == [
          [
            "on": "2027-05-06", "accounts": "this",
            "what": "begins: age range, parental consent, adult notification",
          ]
        ])
      // Without a day of the account, later accounts count, too.
      let later = try await fixture.must("regions", "US-AL", "--on", "2026-11-22").output
      #expect(later.contains("2027-01-01, new accounts: begins: age range"))
      let both = try await fixture.must("regions", "US-AL", "--on", "2026-11-22", "--json").objects
      let accounts = both[0]["changes"] as? [[String: String]]
      #expect(accounts?.map { $0["accounts"] } == ["new", "this"])
      #expect(try await fixture.must("regions", "--json").objects.count > 40)
      let file = fixture.folder.appendingPathComponent("regions.csv")
      try Data("region\n".utf8).write(to: file)
      try await fixture.mustFail(
        "regions", "--regions", file.path, expecting: ["line 1", "columns"])
      try await fixture.mustFail("regions", "--regions", "/none", expecting: ["Cannot read"])
      try await fixture.mustFail("regions", "--on", "today", expecting: ["2027-05-06"])
      try await fixture.mustFail("regions", "usa", expecting: ["'usa' is no region"])
    }
  }
}
