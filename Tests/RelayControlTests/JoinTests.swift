import Credentials
import Foundation
import RelayClient
import Subprocess
import SystemPackage
import Testing

@Suite(.serialized, .timeLimit(.minutes(10))) struct JoinTests {
  @Test(
    "F3: a code on a guardian's screen brings a device into the family, and a guardian takes it out"
  )
  func join() async throws {
    try await RelayControlFixture.with { home in
      let terminal = try Terminal()
      let holder = try terminal.open()
      let inviting = Task {
        try await home.run(["invite", "emily", "--as", home.file("Rosa")], at: terminal)
      }
      var screen = ""
      while !screen.contains("Waiting"), let text = terminal.read() { screen += text }
      #expect(screen.contains("█▀▀▀▀▀█"))
      let code = try #require(
        screen.split { $0.isWhitespace }.first { $0.count > 150 && $0.contains("-") })
      let file = home.folder.appendingPathComponent("phone.json")
      let agent = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appendingPathComponent("child-agent").path
      let joined = try await Subprocess.run(
        .path(FilePath(agent)), arguments: ["join", "--credential", file.path],
        input: .string(code + "\n"), output: .string(limit: 1 << 16),
        error: .string(limit: 1 << 16))
      #expect(joined.terminationStatus.isSuccess, "\(joined.standardError)")
      #expect(joined.standardOutput.contains("Emily"))
      #expect(try await inviting.value)
      try holder.close()
      let credential = try Credential.read(from: file)
      #expect(credential.name == "Emily" && credential.role == .child)
      let number = credential.address.device.rawValue
      var visit = try DeviceClient(credential)
      #expect(try visit.family().link.roster.device(credential.address.device) != nil)

      let before = try await home.must("family", "--json", "--as", home.file("Alex"))
      #expect(before.objects.contains { $0["device"] as? Int == Int(number) })
      try await home.must("remove-device", "\(number)", "--as", home.file("Alex"))
      let after = try await home.must("family", "--json", "--as", home.file("Alex"))
      #expect(after.objects.count == before.objects.count - 1)
      #expect(throws: (any Error).self) { _ = try visit.family() }
    }
  }

  @Test("F1: a guardian adds and removes members; a child's credential does neither")
  func members() async throws {
    try await RelayControlFixture.with { home in
      try await home.must("add-member", "guardian", "Nora", "--as", home.file("Alex"))
      let family = try await home.must("family", "--as", home.file("Rosa"))
      #expect(family.words.contains { $0.prefix(2) == ["Nora", "guardian"] })
      try await home.mustFail(
        "remove-member", "Nora", "--as", home.file("Emily"), saying: ["guardian"])
      try await home.must("remove-member", "nora", "--as", home.file("Alex"))
      let after = try await home.must("family", "--as", home.file("Rosa"))
      #expect(!after.output.contains("Nora"))
      try await home.mustFail(
        "remove-device", "99", "--as", home.file("Rosa"), saying: ["relayctl family"])
      try await home.mustFail(
        "invite", "Nobody", "--as", home.file("Rosa"), saying: ["relayctl family"])
    }
  }
}
