import Credentials
import FamilyModel
import Foundation
import Testing

/// What the operator sees of families, and what not.
@Suite struct OperatorTests {
  @Test("F1, F3: families, members and devices, as tables and as JSON", .timeLimit(.minutes(10)))
  func families() async throws {
    try await RelayControlFixture.with { home in
      let directory = ["--directory", home.relayFolder]
      let all = try await home.run(["families", "--families", "1-9"] + directory)
      #expect(
        all.words == [
          ["family", "members", "children", "devices"], ["1", "3", "1", "4"], ["4", "4", "2", "4"],
        ])
      let folder = home.folder.appendingPathComponent("credentials").path
      let same = try await home.run(["families", "--credentials", folder] + directory)
      #expect(same.output == all.output)

      let members = try await home.run(["members", "1"] + directory)
      #expect(members.words[1] == ["1", "Rosa", "organizer", "1"])
      #expect(members.words[3] == ["3", "Emily", "child", "3,", "4"])
      let json = try await home.run(["members", "1", "--json"] + directory)
      #expect(json.objects.last?["devices"] as? [Int] == [3, 4])
      #expect(json.objects.last?["role"] as? String == "child")

      let devices = try await home.run(["devices", "1"] + directory)
      let key = try home.credential("Rosa").keys.publicKey.z85
      #expect(devices.words[1] == ["1", "Rosa", String(key.prefix(8))])
      #expect(!devices.output.contains(key))
      let objects = try await home.run(["devices", "1", "--json"] + directory).objects
      #expect(objects.map { $0["person"] as? Int } == [1, 2, 3, 3])
      #expect(objects[0]["key"] as? String == String(key.prefix(8)))
    }
  }

  @Test("init says the command that starts the relay where devices look for it")
  func start() async throws {
    try await RelayControlFixture.with { home in
      let folder = home.folder.appendingPathComponent("other").path
      let endpoints = "--requests tcp://127.0.0.1:1 --broadcasts tcp://127.0.0.1:2"
      let said = try await home.run(
        ["init", "--directory", folder] + endpoints.split(separator: " ").map(String.init))
      #expect(said.output.hasSuffix("relay --directory \(folder) \(endpoints)\n"))
      // Again, without them: what the keys are for is kept, and said.
      let again = try await home.must("init", "--directory", folder)
      #expect(again.output == said.output)
      let other = try await home.run([
        "init", "--directory", folder, "--requests", "tcp://127.0.0.1:3",
      ])
      #expect(!other.isSuccess && other.error.contains("tcp://127.0.0.1:1"))
    }
  }

  @Test(
    "init refuses what is no endpoint",
    arguments: [
      "127.0.0.1:7711", "tcp://127.0.0.1", "tcp://127.0.0.1:80x", "tcp://127.0.0.1:70000",
      "ipc://", "ipc:///\(String(repeating: "a", count: 107))",
    ])
  func endpoint(_ text: String) async throws {
    try await RelayControlFixture.with { home in
      let folder = home.folder.appendingPathComponent("other").path
      let said = try await home.run(["init", "--directory", folder, "--requests", text])
      #expect(!said.isSuccess && said.error.contains("tcp://ADDRESS:PORT"))
      #expect(!FileManager.default.fileExists(atPath: folder))
    }
  }

  @Test(
    "F3: applying a file again changes nothing; who is not in it stays, or is named and goes with --prune",
    .timeLimit(.minutes(10)))
  func again() async throws {
    try await RelayControlFixture.with { home in
      let file = home.folder.appendingPathComponent("families.yaml")
      let apply = [
        "apply", file.path, "--directory", home.relayFolder, "--credentials",
        home.folder.appendingPathComponent("credentials").path,
      ]
      func members() async throws -> String {
        try await home.must("members", "4", "--directory", home.relayFolder).output
      }
      #expect(try await !home.run(apply).output.contains("not in the file"))
      // A guardian adds somebody: the same file again takes nobody out.
      try await home.must("add-member", "guardian", "Nora", "--as", home.file("Rosa"))
      let family = try await home.must("family", "--as", home.file("Rosa")).output
      let again = try await home.run(apply)
      #expect(again.isSuccess && again.output.contains("kept, but not in the file: Nora."))
      #expect(try await home.must("family", "--as", home.file("Rosa")).output == family)
      let text = try String(contentsOf: file, encoding: .utf8)
      let rest = text.split(separator: "\n").filter { !$0.contains("Ines") }
      try rest.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
      #expect(
        try await home.run(apply).output.contains("Family 4: kept, but not in the file: Ines."))
      #expect(try await members().contains("Ines"))
      let said = try await home.run(apply + ["--prune"])
      #expect(said.isSuccess)
      #expect(said.output.contains("Family 4: removed, not in the file: Ines's device 4."))
      #expect(try await !members().contains("Ines"))
      #expect(try await !home.must("family", "--as", home.file("Rosa")).output.contains("Nora"))
    }
  }

  @Test(
    "errors say what to do, and nothing is printed as if all were well", .timeLimit(.minutes(10)))
  func mistakes() async throws {
    try await RelayControlFixture.with { home in
      try await home.mustFail(
        "members", "7", "--directory", home.relayFolder,
        saying: ["no family 7", "relayctl families"])
      try await home.mustFail(
        "members", "1", "--directory", home.folder.path, saying: ["administrator.json"])
      try await home.mustFail(
        "families", "--directory", home.relayFolder, saying: ["--families", "--credentials"])
      try await home.mustFail(
        "families", "--directory", home.relayFolder, "--families", "9-1", saying: ["1-500"])
      try await home.mustFail(
        "families", "--directory", home.relayFolder, "--credentials", "/nowhere",
        saying: ["Cannot read the folder '/nowhere'"])
    }
  }

  @Test("M1: the administrator reads no conversation, however it asks", .timeLimit(.minutes(10)))
  func noConversation() async throws {
    try await RelayControlFixture.with { home in
      try home.ask(Handle("dragonslayer42", .custom))
      try await home.must("post", "the secret plan", "--as", home.file("Rosa"))
      let own = home.relayFolder + "/administrator.json"
      try await home.mustFail("history", "--as", own, saying: ["administrator's", "guardian's"])
      // The administrator's keys in the form of a guardian's file: device zero, and Rosa's device.
      let administrator = try AdministratorCredential.read(from: URL(fileURLWithPath: own))
      for (device, problem) in [(0, "problem 201"), (1, "problem 200")] {
        var forged = try home.credential("Rosa")
        forged.keys = administrator.keys
        forged.address.device = DeviceID(UInt32(device))
        let file = home.folder.appendingPathComponent("forged-\(device).json")
        try forged.write(to: file)
        for command in ["history", "pending", "known", "settings"] {
          try await home.mustFail(command, "--as", file.path, saying: [problem])
        }
        try await home.mustFail("post", "hello", "--as", file.path, saying: [problem])
      }
    }
  }

  @Test("a relay that does not run is said to be unreachable", .timeLimit(.minutes(10)))
  func unreachable() async throws {
    try await RelayControlFixture.with { home in
      var credential = try home.credential("Rosa")
      credential.requests = "ipc://\(home.folder.path)/nobody.ipc"
      let file = home.folder.appendingPathComponent("elsewhere.json")
      try credential.write(to: file)
      try await home.mustFail(
        "pending", "--as", file.path, saying: ["No relay answers", "nobody.ipc"])
    }
  }
}
