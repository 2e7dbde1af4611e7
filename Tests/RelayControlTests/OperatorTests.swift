import Credentials
import FamilyModel
import Foundation
import Testing

/// The operator's view of families, which excludes conversations.
@Suite struct OperatorTests {
  @Test(
    "F1, F3: lists families, members and devices as tables and as JSON", .timeLimit(.minutes(10)))
  func families() async throws {
    try await RelayControlFixture.with { fixture in
      let directory = ["--directory", fixture.relayFolder]
      let all = try await fixture.run(["families", "--families", "1-9"] + directory)
      #expect(
        all.words == [
          ["family", "members", "children", "devices"], ["1", "3", "1", "4"], ["4", "4", "2", "4"],
        ])
      let folder = fixture.folder.appendingPathComponent("credentials").path
      let same = try await fixture.run(["families", "--credentials", folder] + directory)
      #expect(same.output == all.output)

      let members = try await fixture.run(["members", "1"] + directory)
      #expect(members.words[1] == ["1", "Rosa", "organizer", "1"])
      #expect(members.words[3] == ["3", "Emily", "child", "3,", "4"])
      let json = try await fixture.run(["members", "1", "--json"] + directory)
      #expect(json.objects.last?["devices"] as? [Int] == [3, 4])
      #expect(json.objects.last?["role"] as? String == "child")

      let devices = try await fixture.run(["devices", "1"] + directory)
      let key = try fixture.credential("Rosa").keys.publicKey.z85
      #expect(devices.words[1] == ["1", "Rosa", String(key.prefix(8))])
      #expect(!devices.output.contains(key))
      let objects = try await fixture.run(["devices", "1", "--json"] + directory).objects
      #expect(objects.map { $0["person"] as? Int } == [1, 2, 3, 3])
      #expect(objects[0]["key"] as? String == String(key.prefix(8)))
    }
  }

  @Test("init prints the command that starts the relay at the credentials' endpoints")
  func start() async throws {
    try await RelayControlFixture.with { fixture in
      let folder = fixture.folder.appendingPathComponent("other").path
      let endpoints = "--requests tcp://127.0.0.1:1 --broadcasts tcp://127.0.0.1:2"
      let said = try await fixture.run(
        ["init", "--directory", folder] + endpoints.split(separator: " ").map(String.init))
      #expect(said.output.hasSuffix("relay --directory \(folder) \(endpoints)\n"))
      // Without endpoints, init keeps and prints those of the existing keys.
      let again = try await fixture.must("init", "--directory", folder)
      #expect(again.output == said.output)
      let other = try await fixture.run([
        "init", "--directory", folder, "--requests", "tcp://127.0.0.1:3",
      ])
      #expect(!other.isSuccess && other.error.contains("tcp://127.0.0.1:1"))
    }
  }

  @Test(
    "init rejects an invalid endpoint",
    arguments: [
      "127.0.0.1:7711", "tcp://127.0.0.1", "tcp://127.0.0.1:80x", "tcp://127.0.0.1:70000",
      "ipc://", "ipc:///\(String(repeating: "a", count: 107))",
    ])
  func endpoint(_ text: String) async throws {
    try await RelayControlFixture.with { fixture in
      let folder = fixture.folder.appendingPathComponent("other").path
      let said = try await fixture.run(["init", "--directory", folder, "--requests", text])
      #expect(!said.isSuccess && said.error.contains("tcp://ADDRESS:PORT"))
      #expect(!FileManager.default.fileExists(atPath: folder))
    }
  }

  @Test(
    "F3: applying a file again changes nothing; members missing from it are removed only with --prune",
    .timeLimit(.minutes(10)))
  func again() async throws {
    try await RelayControlFixture.with { fixture in
      let file = fixture.folder.appendingPathComponent("families.yaml")
      let apply = [
        "apply", file.path, "--directory", fixture.relayFolder, "--credentials",
        fixture.folder.appendingPathComponent("credentials").path,
      ]
      func members() async throws -> String {
        try await fixture.must("members", "4", "--directory", fixture.relayFolder).output
      }
      #expect(try await !fixture.run(apply).output.contains("not in the file"))
      // After a guardian adds a member, applying the same file again removes no member.
      try await fixture.must("add-member", "guardian", "Nora", "--as", fixture.file("Rosa"))
      let family = try await fixture.must("family", "--as", fixture.file("Rosa")).output
      let again = try await fixture.run(apply)
      #expect(again.isSuccess && again.output.contains("kept, but not in the file: Nora."))
      #expect(try await fixture.must("family", "--as", fixture.file("Rosa")).output == family)
      let text = try String(contentsOf: file, encoding: .utf8)
      let remaining = text.split(separator: "\n").filter { !$0.contains("Ines") }
      try remaining.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
      #expect(
        try await fixture.run(apply).output.contains("Family 4: kept, but not in the file: Ines."))
      #expect(try await members().contains("Ines"))
      // One command makes two changes: the removed device reads nothing about the new member.
      let added = remaining.joined(separator: "\n") + "\n  - {name: Ola, role: adult}\n"
      try added.write(to: file, atomically: true, encoding: .utf8)
      let said = try await fixture.run(apply + ["--prune"])
      #expect(said.isSuccess)
      #expect(try await members().contains("Ola"))
      #expect(said.output.contains("Family 4: removed, not in the file: Ines's device 4."))
      #expect(try await !members().contains("Ines"))
      #expect(
        try await !fixture.must("family", "--as", fixture.file("Rosa")).output.contains("Nora"))
    }
  }

  @Test(
    "T1, F3: applying a file sets limits when the file changes, and keeps later choices",
    .timeLimit(.minutes(10)))
  func limits() async throws {
    try await RelayControlFixture.with { fixture in
      let file = fixture.folder.appendingPathComponent("families.yaml")
      let text = try String(contentsOf: file, encoding: .utf8)
      func apply(_ limits: Bool) async throws -> Bool? {
        try text.replacingOccurrences(of: "devices: 2", with: "devices: 2, limits: \(limits)")
          .write(to: file, atomically: true, encoding: .utf8)
        try await fixture.must(
          "apply", file.path, "--directory", fixture.relayFolder, "--credentials",
          fixture.folder.appendingPathComponent("credentials").path)
        return try await fixture.must("settings", "--json", "--as", fixture.file("Rosa"))
          .objects.first?["limits"] as? Bool
      }
      #expect(try await apply(false) == false)
      #expect(try await apply(true) == true)
      #expect(try await apply(false) == false)
      try await fixture.must("limits", "on", "--as", fixture.file("Rosa"))
      #expect(try await apply(false) == true)
      #expect(try await apply(true) == true)
    }
  }

  @Test(
    "T4, F9: applying a file brings back no removed member and no removed device",
    .timeLimit(.minutes(10)))
  func removed() async throws {
    try await RelayControlFixture.with { fixture in
      let file = fixture.folder.appendingPathComponent("families.yaml")
      let rosa = fixture.file("Rosa")
      let apply = [
        "apply", file.path, "--directory", fixture.relayFolder, "--credentials",
        fixture.folder.appendingPathComponent("credentials").path,
      ]
      try await fixture.must("remove-device", "4", "--as", rosa)
      try await fixture.must("remove-member", "Alex", "--as", rosa)
      let before = try await fixture.must("family", "--as", rosa).output
      #expect(!before.contains("Alex"))
      for arguments in [apply, apply + ["--prune"]] {
        let said = try await fixture.run(arguments)
        #expect(said.isSuccess)
        #expect(said.output.contains("not added again: Alex, Emily's device 4."))
        #expect(try await fixture.must("family", "--as", rosa).output == before)
      }
    }
  }

  @Test(
    "errors name the next step, and a failed command prints no output", .timeLimit(.minutes(10)))
  func mistakes() async throws {
    try await RelayControlFixture.with { fixture in
      try await fixture.mustFail(
        "members", "7", "--directory", fixture.relayFolder,
        expecting: ["no family 7", "relayctl families"])
      try await fixture.mustFail(
        "members", "1", "--directory", fixture.folder.path, expecting: ["administrator.json"])
      try await fixture.mustFail(
        "families", "--directory", fixture.relayFolder, expecting: ["--families", "--credentials"])
      try await fixture.mustFail(
        "families", "--directory", fixture.relayFolder, "--families", "9-1", expecting: ["1-500"])
      try await fixture.mustFail(
        "families", "--directory", fixture.relayFolder, "--credentials", "/nowhere",
        expecting: ["Cannot read the folder '/nowhere'"])
    }
  }

  @Test(
    "M1: the administrator's credential reads no conversation, even in a guardian's form",
    .timeLimit(.minutes(10)))
  func noConversation() async throws {
    try await RelayControlFixture.with { fixture in
      try fixture.ask(Handle("dragonslayer42", .custom))
      try await fixture.must("post", "the secret plan", "--as", fixture.file("Rosa"))
      let own = fixture.relayFolder + "/administrator.json"
      try await fixture.mustFail(
        "history", "--as", own, expecting: ["administrator's", "guardian's"])
      // A guardian's file with the administrator's keys, for device zero and for Rosa's device.
      let administrator = try AdministratorCredential.read(from: URL(fileURLWithPath: own))
      for (device, problem) in [(0, "problem 201"), (1, "problem 200")] {
        var forged = try fixture.credential("Rosa")
        forged.keys = administrator.keys
        forged.address.device = DeviceID(UInt32(device))
        let file = fixture.folder.appendingPathComponent("forged-\(device).json")
        try forged.write(to: file)
        for command in ["history", "pending", "known", "settings"] {
          try await fixture.mustFail(command, "--as", file.path, expecting: [problem])
        }
        try await fixture.mustFail("post", "hello", "--as", file.path, expecting: [problem])
      }
    }
  }

  @Test("a command reports an unreachable relay with its endpoint", .timeLimit(.minutes(10)))
  func unreachable() async throws {
    try await RelayControlFixture.with { fixture in
      var credential = try fixture.credential("Rosa")
      credential.requests = "ipc://\(fixture.folder.path)/nobody.ipc"
      let file = fixture.folder.appendingPathComponent("elsewhere.json")
      try credential.write(to: file)
      try await fixture.mustFail(
        "pending", "--as", file.path, expecting: ["No relay answers", "nobody.ipc"])
    }
  }
}
