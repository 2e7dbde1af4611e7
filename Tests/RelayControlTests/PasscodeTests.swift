import Credentials
import FamilyModel
import FamilyTrust
import Foundation
import RelayClient
import SystemClock
import Testing

/// The family's passcode, set from a terminal or a pipe and never printed.
@Suite struct PasscodeTests {
  @Test(
    "A4: a passcode from a pipe works on children's devices and appears in no output",
    .timeLimit(.minutes(10)))
  func piped() async throws {
    try await RelayControlFixture.with { fixture in
      let rosa = fixture.file("Rosa")
      let secret = "tin whistle 2468"
      let set = try await fixture.must("passcode", "--as", rosa, input: secret + "\n")
      #expect(set.output == "The family's passcode is set.\n")
      var emily = try DeviceClient(try fixture.credential("Emily"))
      let passcode = try #require(try emily.machine().link.passcode)
      for (typed, isRight) in [(secret, true), (secret + "\n", false)] {
        let attempt = PasscodeCipher.blind(typed)
        let evaluation = try emily.evaluate(attempt, isNew: false)
        let proof = PasscodeCipher.sign([1], with: attempt, evaluation, of: passcode)
        #expect((proof != nil) == isRight)
      }

      var shown = set.output + set.error
      for command in ["settings", "history", "known", "pending"] {
        for form in [[], ["--json"]] {
          let outcome = try await fixture.run([command, "--as", rosa] + form)
          #expect(outcome.isSuccess)
          shown += outcome.output + outcome.error
        }
      }
      let short = try await fixture.run(["passcode", "--as", rosa], input: "1x3\n")
      #expect(!short.isSuccess && short.error.contains("problem 306"))
      shown += short.error
      let changed = try await fixture.must("passcode", "--as", rosa, input: "975397\n")
      #expect(changed.output.contains("changed"))
      shown += changed.output
      for secret in [secret, "1x3", "975397"] { #expect(!shown.contains(secret)) }
      let settings = try await fixture.must("settings", "--as", rosa, "--json").objects
      #expect(settings[0]["passcode"] as? Bool == true)
      try await fixture.mustFail("passcode", "--as", rosa, expecting: ["no passcode"])
      // Other users of the machine could read an argument.
      try await fixture.mustFail(
        "passcode", "246824", "--as", rosa, expecting: ["Unexpected argument"])
    }
  }

  @Test("A4: the history contains an in-person approval", .timeLimit(.minutes(10)))
  func inPerson() async throws {
    try await RelayControlFixture.with { fixture in
      let rosa = fixture.file("Rosa")
      try await fixture.must("passcode", "--as", rosa, input: "246824\n")
      let credential = try fixture.credential("Emily")
      var emily = try DeviceClient(credential)
      let passcode = try #require(try emily.machine().link.passcode)
      let question = Question(
        id: ID128(high: 1, low: 2),
        topic: .communication(
          people: [Subject(handle: Handle("maria", .custom))], actions: .chat))
      let header = QuestionHeader(
        id: question.id, child: credential.personID, app: AppID("example.landmarks"),
        subjects: [], choices: question.choices.map { ChoiceHeader(id: $0.id, answer: $0.answer) },
        expiration: nil)
      // The first command shares the key that the proof depends on.
      try emily.send(.post(child: credential.personID, .text("hello")))
      var ids = IDSource(seed: .random(in: .min ... .max))
      let id = ids.id(now: .now)
      func command(_ proof: [UInt8]) -> Command {
        .answerInPerson(header, .question(question), choice: "approve", proof: proof)
      }
      var machine = try emily.machine()
      let sealed = try machine.prepare(command([]), id: id, now: .now).last?.command
      guard case .answerInPerson(let sent, .sealed(let content), _, _)? = sealed else {
        Issue.record("not sealed")
        return
      }
      let attempt = PasscodeCipher.blind("246824")
      let evaluation = try emily.evaluate(attempt, isNew: false)
      let bytes = InPerson.signedBytes(
        family: credential.address.family, command: id, header: sent, choice: "approve",
        content: KeyVault.digest(content))
      let proof = try #require(
        PasscodeCipher.sign(bytes, with: attempt, evaluation, of: passcode))
      try emily.send(command(proof), id: id)
      let line =
        try await fixture.must("history", "--as", rosa, "--json")
        .conversation.first { $0["kind"] as? String == "inPerson" } ?? [:]
      #expect(line["kind"] as? String == "inPerson" && line["choice"] as? String == "approve")
      #expect(line["by"] as? String == "a guardian, with the passcode")
      #expect(try await fixture.must("known", "--as", rosa).output.contains("maria"))
    }
  }

  @Test("A4: a terminal asks for the passcode twice without echo", .timeLimit(.minutes(10)))
  func typed() async throws {
    try await RelayControlFixture.with { fixture in
      let rosa = fixture.file("Rosa")
      let wrong = try await type(["246824", "864286"], fixture, rosa)
      #expect(!wrong.isSuccess && wrong.screen.contains("passcodes differ"))
      let stopped = try await type(["24\u{3}"], fixture, rosa)
      #expect(!stopped.isSuccess && stopped.screen.contains("Nothing was changed"))
      let right = try await type(["246824", "246824"], fixture, rosa)
      #expect(right.isSuccess && right.screen.contains("The family's passcode is set."))
      for screen in [wrong.screen, stopped.screen, right.screen] {
        #expect(!screen.contains("24") && !screen.contains("864286"))
      }
    }
  }

  /// Runs `relayctl passcode` in a new terminal and types one line per prompt.
  ///
  /// - Returns: The terminal's output, and whether the command succeeded.
  private func type(_ lines: [String], _ fixture: RelayControlFixture, _ file: String) async throws
    -> (screen: String, isSuccess: Bool)
  {
    let terminal = try Terminal()
    async let screen = withCheckedContinuation { continuation in
      // Blocking reads need their own thread, so that they do not block the tasks' threads.
      Thread.detachNewThread { continuation.resume(returning: Self.converse(terminal, lines)) }
    }
    let isSuccess = try await fixture.run(["passcode", "--as", file], at: terminal)
    return (await screen, isSuccess)
  }

  private static func converse(_ terminal: Terminal, _ lines: [String]) -> String {
    var (screen, lines) = ("", lines[...])
    while let more = terminal.read() {
      screen += more
      guard screen.hasSuffix(": "), let line = lines.popFirst() else { continue }
      // Control-C ends the line without a newline.
      terminal.write(line.last == "\u{3}" ? line : line + "\n")
    }
    return screen
  }
}
