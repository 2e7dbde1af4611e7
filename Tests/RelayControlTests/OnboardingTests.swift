import Credentials
import FamilyModel
import Foundation
import Testing

/// The guided set-up of a child, the history of settings, and persons without a family.
@Suite struct OnboardingTests {
  @Test(
    "F8, F4: one command sets a child up, can be left after each step, and continues later",
    .timeLimit(.minutes(10)))
  func onboard() async throws {
    try await RelayControlFixture.with { fixture in
      let (rosa, alex) = (fixture.file("Rosa"), fixture.file("Alex"))
      // Without a terminal and without options, only the account is created.
      let first = try await fixture.must("onboard", "Luca", "--as", rosa)
      #expect(first.output.contains("Luca is now in the family, with communication limits on."))
      #expect(first.output.contains("and never learns the birthdate."))
      #expect(
        first.output.contains("Not done yet: the birthdate, age sharing, a device.")
          && first.output.contains("Next: relayctl onboard 'Luca' --as"))
      // Another guardian continues.
      let second = try await fixture.must(
        "onboard", "luca", "--birthdate", "2016-02-29", "--region", "FR", "--as", alex)
      #expect(second.output.contains("Not done yet: age sharing, a device."))
      let third = try await fixture.must(
        "onboard", "Luca", "--sharing", "never", "--no-invite", "--as", rosa)
      #expect(third.output.contains("Not done yet: a device."))
      let luca = try await fixture.must("settings", "--as", rosa, "--json").objects[1]
      #expect(luca["birthdate"] as? String == "2016-02-29" && luca["region"] as? String == "FR")
      #expect(luca["ageSharing"] as? String == "never" && luca["limits"] as? Bool == true)
      let family = try await fixture.must("family", "--as", rosa)
      #expect(family.words.count { $0.first == "Luca" } == 1, "the account is created once")
      try await fixture.mustFail(
        "onboard", "Alex", "--as", rosa, expecting: ["problem 407", "role guardian"], code: 3)
      try await fixture.mustFail(
        "onboard", "Mia", "--birthdate", "2035-01-01", "--as", rosa, expecting: ["in the future"],
        code: 64)
    }
  }

  @Test("F8: at a terminal, the command asks and confirms, and an empty line leaves")
  func guided() async throws {
    try await RelayControlFixture.with { fixture in
      let terminal = try Terminal()
      let holder = try terminal.open()
      let running = Task {
        try await fixture.run(["onboard", "Luca", "--as", fixture.file("Rosa")], at: terminal)
      }
      var screen = ""
      func wait(for text: String) {
        while !screen.contains(text), let more = terminal.read() { screen += more }
        screen = ""
      }
      wait(for: "When was Luca born")
      terminal.write("2035-01-01\n")
      wait(for: "in the future")
      terminal.write("2016-02-29\n")
      wait(for: "Is that right")
      terminal.write("yes\n")
      wait(for: "always, ask or never")
      terminal.write("\n")
      wait(for: "Not done yet: age sharing, a device.")
      #expect(try await running.value)
      try holder.close()
      let luca = try await fixture.must("settings", "--as", fixture.file("Rosa"), "--json").objects
      #expect(luca[1]["birthdate"] as? String == "2016-02-29")
    }
  }

  @Test(
    "F1, F5, F6, D7: history has the changes of members, devices, contacts, limits and ages",
    .timeLimit(.minutes(10)))
  func history() async throws {
    try await RelayControlFixture.with { fixture in
      let rosa = fixture.file("Rosa")
      try await fixture.must("limits", "off", "--as", rosa)
      try await fixture.must("contact", "add", "--kind", "email", "ada@example.org", "--as", rosa)
      try await fixture.must("ceiling", "9", "--as", rosa)
      try await fixture.must("age-sharing", "never", "--app", "my.chat", "--as", rosa)
      try await fixture.must("birthdate", "2014-05-18", "--as", rosa)
      try await fixture.must("passcode", "--as", rosa, input: "731950\n")
      try await fixture.must("add-member", "guardian", "Nora", "--as", fixture.file("Alex"))
      try await fixture.must("remove-device", "4", "--as", rosa)
      let lines = try await fixture.must("history", "--as", rosa, "--json").objects
      let texts = lines.compactMap { $0["text"] as? String }
      for text in [
        "added Rosa, role organizer", "added Emily's device 4",
        "turned communication limits off", "added the contact ada@example.org",
        "set the ceiling to 9+", "set age sharing with my.chat to never",
        "set the birthdate 2014-05-18, region US", "set the Screen Time passcode",
        "added Nora, role guardian", "removed Emily's device 4",
      ] { #expect(texts.contains(text), "\(text): \(texts)") }
      let added = lines.first { $0["text"] as? String == "added Nora, role guardian" }
      #expect(added?["by"] as? String == "Alex" && added?["child"] is NSNull)
      let seqs = lines.compactMap { $0["seq"] as? Int }
      #expect(seqs == seqs.sorted())
      #expect(!texts.joined().contains("731950"))
    }
  }

  @Test("F7: makes the credentials of persons without a family, without a relay")
  func alone() async throws {
    let folder = "/tmp/fp-\(UUID().uuidString.prefix(8))"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let said = try await RelayControlFixture.run(
      "relayctl", ["add-person", "adult", "Ann", "--credentials", folder])
    #expect(said.isSuccess && said.output.contains("Next: child-agent --interactive"))
    _ = try await RelayControlFixture.run(
      "relayctl", ["add-person", "child", "Kim", "--credentials", folder])
    func read(_ name: String) throws -> Credential {
      try Credential.read(from: URL(fileURLWithPath: "\(folder)/family-0-\(name)-1.json"))
    }
    let (ann, kim) = (try read("Ann"), try read("Kim"))
    #expect(!ann.isInFamily && ann.role == .adult && kim.role == .child)
    #expect(ann.address != kim.address, "one agent can host both")
    let again = try await RelayControlFixture.run(
      "relayctl", ["add-person", "adult", "Ann", "--credentials", folder])
    #expect(again.code == 1 && again.error.contains("already exists"))
  }
}
