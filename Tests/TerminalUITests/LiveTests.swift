@testable import TerminalUI
import Credentials
import Crypto
import Foundation
import RelayClient
import Testing

/// A child and a guardian at pseudoterminals, with a real relay between them.
@Suite(.serialized) struct LiveTests {
  private func play(
    _ columns: Int, _ body: (LiveFamily, PseudoTerminal, PseudoTerminal) async throws -> Void
  )
    async throws
  {
    let family = try LiveFamily()
    defer { family.stop() }
    let emily = try await family.device("Emily", columns: columns)
    let rosa = try await family.device("Rosa", columns: columns)
    try await emily.wait(for: "Connected")
    try await rosa.wait(for: "Connected")
    try await rosa.wait(for: "Rosa → Emily ›")
    try await body(family, emily, rosa)
    for terminal in [emily, rosa] {
      for line in terminal.lines { #expect(line.cells <= columns, "\(line)") }
    }
  }

  @Test(
    "A1, A2, M2, M4, M6, R1, R2, R3, R5, X6: two terminals show a question up to its answer",
    .timeLimit(.minutes(10)), arguments: [80, 50])
  func approval(_ columns: Int) async throws {
    try await play(columns) { family, emily, rosa in
      try family.ask("--handle", "dragonslayer42", "--name", "Ada")
      try await emily.wait(
        for: "You need permission from a parent or guardian to communicate with Ada")
      try await emily.wait(for: "[1] Ask by Message")
      emily.type("1")
      try await emily.wait(for: "To: Rosa and Alex")
      emily.type("3")
      try await emily.wait(for: "Add a name for dragonslayer42 ›")
      emily.type("Ada Lovelace")
      try await emily.wait(for: "Ada Lovelace (dragonslayer42)")
      emily.type("1")
      try await rosa.wait(
        for: "Emily would like to send messages to Ada Lovelace in example.landmarks.")
      let number = try await rosa.number()
      try await rosa.wait(for: "#\(number) · Emily")
      try await rosa.wait(for: "[d\(number)] Decline [r\(number)] Review")
      try await emily.wait(for: "#\(number) · Delivered")
      rosa.type("r\(number)")
      try await emily.wait(for: "Read")
      try await rosa.wait(for: "[1] Approve [2] Decline [3] Not Now")
      rosa.type("1")
      try await emily.wait(for: "#\(number) · Rosa chose “Approve”.")
      try await emily.wait(for: "#\(number) · Rosa answered your request: “Approve”.")
      try await emily.wait(for: "#\(number) · Answered")
      try await rosa.wait(for: "#\(number) · Rosa chose “Approve”.")
      rosa.type("r\(number)")
      try await rosa.wait(for: "Rosa has already answered: “Approve”.")
      emily.type("notices")
      try await emily.wait(for: "Notifications")
      try await emily.wait(for: "Rosa answered your request: “Approve”.", times: 2)
      emily.type("dismiss 1")
      try await emily.wait(for: "There are no notifications.")
      emily.type("explain dragonslayer42")
      try await emily.wait(for: "#\(number) · Rosa approved it")
      rosa.type("explain Dragonslayer42 in example.landmarks")
      try await rosa.wait(for: "“dragonslayer42” is known")
    }
  }

  @Test(
    "A4: a passcode is set and typed without echo, and a wrong one is rejected",
    .timeLimit(.minutes(10)), arguments: [80, 50])
  func passcode(_ columns: Int) async throws {
    try await play(columns) { family, emily, rosa in
      rosa.type("passcode")
      try await rosa.wait(for: "Enter the Screen Time passcode ›")
      rosa.type("731950")
      try await rosa.wait(for: "Enter the passcode again ›")
      rosa.type("731950")
      try await rosa.wait(for: "The Screen Time passcode has been set.")
      try family.ask("--handle", "maria")
      try await emily.wait(for: "[2] Approve in Person")
      emily.type("2")
      try await emily.wait(for: "Enter the Screen Time passcode ›")
      #expect(!emily.echoes)
      emily.type("842060")
      try await emily.wait(for: "Incorrect passcode")
      try await emily.wait(for: "Enter the Screen Time passcode ›", times: 2)
      emily.type("731950")
      for terminal in [emily, rosa] {
        try await terminal.wait(for: "Decided in person on Emily’s device: “Approve”.")
        #expect(!terminal.raw.contains("731950") && !terminal.raw.contains("842060"))
      }
    }
  }

  @Test(
    "M1, M4, A6, R1, R8, R9: messages, a reminder, declining, cancelling and withdrawing",
    .timeLimit(.minutes(10)), arguments: [40])
  func conversation(_ columns: Int) async throws {
    try await play(columns) { family, emily, rosa in
      emily.type("say Hello 你好 from the \u{9B}2Jlighthouse")
      try await rosa.wait(for: "Hello 你好 from the �2Jlighthouse")
      rosa.type("say Hi")
      try await emily.wait(for: "Hi")
      try await emily.wait(for: "Read")
      try family.ask("--handle", "ada")
      try await emily.wait(for: "[1] Ask by Message")
      emily.type("1")
      try await emily.wait(for: "[1] Send")
      emily.type("1")
      let first = try await rosa.number(ofQuestion: 1)
      try family.ask("--handle", "ada")
      try await emily.wait(for: "You’ve already asked about ada")
      emily.type("1")
      rosa.type("d")
      try await emily.wait(for: "#\(first) · Rosa chose “Decline”.")
      try family.ask("--handle", "bob")
      try await emily.wait(for: "[1] Ask by Message", times: 2)
      emily.type("1")
      try await emily.wait(for: "[1] Send", times: 2)
      emily.type("1")
      let second = try await rosa.number(ofQuestion: 2)
      emily.type("cancel \(second)")
      try await rosa.wait(for: "#\(second) · Emily cancelled the request.")
      rosa.type("contact add email ada@example.com")
      try await emily.wait(for: "New known contact: ada@example.com")
      rosa.type("withdraw")
      try await rosa.wait(for: "[2] Cancel")
      rosa.type("1")
      try await emily.wait(for: "No longer a known contact: ada@example.com")
      rosa.type("limits off")
      try await emily.wait(for: "Communication limits are off for Emily.")
      rosa.type("quit")
      for _ in 0..<3_000 where rosa.isRunning { try await Task.sleep(for: .milliseconds(20)) }
      #expect(!rosa.isRunning)
      #expect(rosa.stop() == 0)
      #expect(rosa.echoes)
    }
  }

  @Test(
    "S2: each picture has a warning, which a clean verdict removes and a flagged one keeps",
    .timeLimit(.minutes(10)))
  func pictures() async throws {
    let family = try LiveFamily()
    defer { family.stop() }
    let flagged = Data(dot(7))
    let hash = SHA256.hash(data: flagged).map { String(format: "%02x", $0) }.joined()
    try await family.checkContent(against: [hash])
    let emily = try await family.device("Emily", columns: 80)
    let rosa = try await family.device("Rosa", columns: 80)
    try await rosa.wait(for: "Rosa → Emily ›")
    let pictures = ["clean": Data(dot(8)), "flagged": flagged]
    var numbers: [String] = []
    for (index, name) in ["clean", "flagged"].enumerated() {
      let file = family.folder.appendingPathComponent("\(name).png")
      try pictures[name]!.write(to: file)
      try family.ask("--handle", name, "--picture", file.path)
      try await emily.wait(for: "[1] Ask by Message", times: index + 1)
      emily.type("1")
      try await emily.wait(for: "[1] Send", times: index + 1)
      emily.type("1")
      numbers.append(try await rosa.number(ofQuestion: index + 1))
      try await rosa.wait(for: "[p\(numbers[index])] Show Picture")
    }
    try await rosa.wait(for: "#\(numbers[0]) · Picture: image/png, 68 B")
    rosa.type("p\(numbers[1])")
    try await rosa.wait(for: "Rosa/pictures/\(numbers[1])-1.png")
    let warnings = rosa.text.ranges(of: "This picture is hidden because it may be sensitive.").count
    #expect(warnings >= 3, "in both bubbles, and with the file of the flagged one")
    #expect(!rosa.text.contains("#\(numbers[1]) · Picture"))
    let file = URL(fileURLWithPath: family.file("Rosa/pictures/\(numbers[1])-1.png"))
    #expect(try Data(contentsOf: file) == flagged)
    let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
    #expect(mode as? Int == 0o600)
  }

  @Test(
    "F3: a device joins with a code from a guardian's terminal, and the guardian removes a device",
    .timeLimit(.minutes(10)))
  func invitation() async throws {
    try await play(80) { family, emily, rosa in
      rosa.type("invite emily")
      try await rosa.wait(for: "child-agent join")
      let groups = rosa.lines.filter { line in
        line.contains("-") && line.allSatisfy { $0.isUppercase || $0.isNumber || $0 == "-" }
      }
      var joining = try Joining(try JoinCode(text: groups.joined()))
      var credential = try joining.credential()
      for _ in 0..<400 where credential == nil {
        try await Task.sleep(for: .milliseconds(50))
        credential = try joining.credential()
      }
      #expect(credential?.name == "Emily" && credential?.role == .child)
      try await rosa.wait(for: "Emily’s new device is joining.")
      rosa.type("family")
      try await rosa.wait(for: "child, devices: 3, 4")
      rosa.type("remove device 4")
      var isOut = false
      for _ in 0..<400 where !isOut {
        try await Task.sleep(for: .milliseconds(50))
        do { _ = try joining.credential() } catch { isOut = true }
      }
      #expect(isOut)
    }
  }

  /// A PNG of one pixel; the trailing byte makes each picture different.
  private func dot(_ number: UInt8) -> [UInt8] {
    [
      0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 0,
      1, 0, 0, 0, 1, 8, 0, 0, 0, 0, 0x3A, 0x7E, 0x9B, 0x55, 0, 0, 0, 10, 0x49, 0x44, 0x41, 0x54,
      0x78, 0x9C, 0x63, 0xF8, 0x0F, 0, 1, 1, 1, 0, 0xB1, 0x38, 0xF6, 0x14, 0, 0, 0, 0, 0x49, 0x45,
      0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82, number,
    ]
  }

  @Test(
    "without a terminal or a script, an agent names the missing option", .timeLimit(.minutes(10)))
  func missingInput() throws {
    let log = URL(fileURLWithPath: "/tmp/pr-\(UUID().uuidString.prefix(8)).log")
    defer { try? FileManager.default.removeItem(at: log) }
    let missing = ["--credential", "/nowhere", "--directory", "/nowhere"]
    for (arguments, words) in [
      ([], "Give --script FILE"),
      (["--script", "x", "--interactive"], "exclude each other"),
    ] as [([String], String)] {
      let process = try Programs.start("parent-agent", missing + arguments, log: log)
      process.waitUntilExit()
      #expect(process.terminationStatus != 0)
      #expect(try String(contentsOf: log, encoding: .utf8).contains(words))
    }
  }
}
