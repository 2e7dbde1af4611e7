import Credentials
import Foundation
import RelayClient
import Subprocess
import SystemPackage
import Testing

@Suite(.serialized, .timeLimit(.minutes(10))) struct JoinTests {
  @Test(
    "F3: a device joins with a guardian's code, and another guardian removes the device"
  )
  func join() async throws {
    try await RelayControlFixture.with { fixture in
      let terminal = try Terminal()
      let holder = try terminal.open()
      let inviting = Task {
        try await fixture.run(["invite", "emily", "--as", fixture.file("Rosa")], at: terminal)
      }
      var screen = ""
      while !screen.contains("Waiting"), let text = terminal.read() { screen += text }
      #expect(screen.contains("█▀▀▀▀▀█"))
      let code = try #require(
        screen.split { $0.isWhitespace }.first { $0.count > 150 && $0.contains("-") })
      let file = fixture.folder.appendingPathComponent("phone.json")
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

      let before = try await fixture.must("family", "--json", "--as", fixture.file("Alex"))
      #expect(before.objects.contains { $0["device"] as? Int == Int(number) })
      try await fixture.must("remove-device", "\(number)", "--as", fixture.file("Alex"))
      let after = try await fixture.must("family", "--json", "--as", fixture.file("Alex"))
      #expect(after.objects.count == before.objects.count - 1)
      #expect(throws: (any Error).self) { _ = try visit.family() }
    }
  }

  @Test("F1: a guardian adds and removes members; a child's credential is rejected")
  func members() async throws {
    try await RelayControlFixture.with { fixture in
      try await fixture.must("add-member", "guardian", "Nora", "--as", fixture.file("Alex"))
      let family = try await fixture.must("family", "--as", fixture.file("Rosa"))
      #expect(family.words.contains { $0.prefix(2) == ["Nora", "guardian"] })
      try await fixture.mustFail(
        "remove-member", "Nora", "--as", fixture.file("Emily"), expecting: ["guardian"])
      try await fixture.must("remove-member", "nora", "--as", fixture.file("Alex"))
      let after = try await fixture.must("family", "--as", fixture.file("Rosa"))
      #expect(!after.output.contains("Nora"))
      try await fixture.mustFail(
        "remove-device", "99", "--as", fixture.file("Rosa"), expecting: ["relayctl family"])
      try await fixture.mustFail(
        "invite", "Nobody", "--as", fixture.file("Rosa"), expecting: ["relayctl family"])
    }
  }
}
