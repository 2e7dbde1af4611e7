import FamilyModel
import Foundation
import Testing

/// Removals that cannot be undone, and the exit codes of failed commands.
@Suite struct RemovalTests {
  @Test(
    "F9: the organizer's last device stays, and a guardian removes the own device only on request",
    .timeLimit(.minutes(10)))
  func lastDevice() async throws {
    try await RelayControlFixture.with { fixture in
      let (rosa, alex) = (fixture.file("Rosa"), fixture.file("Alex"))
      for arguments in [["remove-device", "1"], ["remove-device", "1", "--yes"]] {
        let said = try await fixture.run(arguments + ["--as", rosa])
        #expect(said.code == 3)
        #expect(said.error.contains("problem 413") && said.error.contains("relayctl invite 'Rosa'"))
      }
      try await fixture.mustFail(
        "remove-member", "Rosa", "--as", alex, expecting: ["problem 308", "organizer"], code: 3)
      try await fixture.mustFail(
        "remove-device", "2", "--as", alex, expecting: ["the one of --as", "--yes"], code: 1)
      try await fixture.mustFail(
        "remove-member", "Alex", "--as", alex, expecting: ["the owner of --as", "--yes"], code: 1)
      let before = try await fixture.must("family", "--as", rosa)
      #expect(before.words.contains { $0.first == "Rosa" && $0.last == "1" })
      try await fixture.must("remove-device", "2", "--yes", "--as", alex)
      try await fixture.mustFail(
        "family", "--as", alex, expecting: ["problem 200", "relayctl invite"], code: 3)
    }
  }

  @Test("X2: exit codes distinguish usage, no relay and a refusal", .timeLimit(.minutes(10)))
  func codes() async throws {
    try await RelayControlFixture.with { fixture in
      let rosa = fixture.file("Rosa")
      try await fixture.mustFail("--as", rosa, expecting: ["Error: "], code: 64)
      try await fixture.mustFail("birthdate", "soon", "--as", rosa, expecting: ["soon"], code: 64)
      try await fixture.mustFail("pending", "--as", "/nowhere", expecting: ["Cannot read"], code: 1)
      let id = try fixture.ask(.init("ada", .custom))
      try await fixture.must("answer", id, "approve", "--as", rosa)
      try await fixture.mustFail(
        "answer", id, "decline", "--as", rosa, expecting: ["problem 401"], code: 3)
      await fixture.stopRelay()
      try await fixture.mustFail("pending", "--as", rosa, expecting: ["No relay answers"], code: 2)
    }
  }

  @Test("an invalid value is reported without the usage, a missing argument with it")
  func usage() async throws {
    let value = try await RelayControlFixture.run("relayctl", ["birthdate", "soon", "--as", "x"])
    #expect(value.error.hasPrefix("Error: 'soon' is not a day."))
    #expect(!value.error.contains("Usage:") && value.error.contains("birthdate --help'"))
    let kind = try await RelayControlFixture.run(
      "relayctl", ["contact", "add", "--kind", "fax", "1", "--as", "x"])
    #expect(kind.error.contains("'phone', 'email'") && !kind.error.contains("Usage:"))
    let missing = try await RelayControlFixture.run("relayctl", ["birthdate"])
    #expect(missing.error.contains("Missing expected argument"))
    #expect(missing.error.lowercased().contains("usage:"))
    #expect([value, kind, missing].allSatisfy { $0.code == 64 })
    let help = try await RelayControlFixture.run("relayctl", ["--help"])
    #expect(
      help.isSuccess && help.output.lowercased().contains("guardian action") && help.error == "")
  }

  @Test("X6: explain prints a problem's cause and next step") func explain() async throws {
    let said = try await RelayControlFixture.run("relayctl", ["explain", "411"])
    #expect(said.output.hasPrefix("problem 411: the app is rated above the child's ceiling.\n"))
    #expect(said.output.contains("relayctl ceiling"))
    let all = try await RelayControlFixture.run("relayctl", ["explain", "all"])
    #expect(all.words.contains { $0.first == "503" } && all.words.count > 40)
    let unknown = try await RelayControlFixture.run("relayctl", ["explain", "999"])
    #expect(unknown.code == 64 && unknown.error.contains("'999'"))
  }

  @Test("init refuses one endpoint for both sockets, and names a folder that cannot be made")
  func start() async throws {
    let folder = "/tmp/ff-\(UUID().uuidString.prefix(8))"
    let same = try await RelayControlFixture.run(
      "relayctl",
      ["init", "--directory", folder, "--requests", "tcp://127.0.0.1:1", "--broadcasts"]
        + ["tcp://127.0.0.1:1"])
    #expect(same.code == 64 && same.error.contains("Give each its own port"))
    #expect(!FileManager.default.fileExists(atPath: folder))
    let file = try await RelayControlFixture.run(
      "relayctl", ["init", "--directory", "/dev/null/relay"])
    #expect(file.code == 1 && file.error.contains("Cannot create the folder '/dev/null/relay'"))
    #expect(!file.error.contains("Error Domain"))
  }
}
