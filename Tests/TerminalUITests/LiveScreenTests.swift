@testable import DeviceScreen
import Foundation
import Synchronization
import Testing

/// The window of the app as a process, and the lines that it has written.
private final class AppWindow: Sendable {
  private let process = Process()
  private let input = Pipe()
  private let output = Mutex("")

  init(credential: String) throws {
    process.executableURL = URL(fileURLWithPath: Programs.path("app-agent"))
    process.arguments = ["window"]
    process.environment = ProcessInfo.processInfo.environment.merging(
      ["PERMISSION_RELAY_DEVICE": credential]
    ) { $1 }
    let lines = Pipe()
    process.standardInput = input
    process.standardOutput = lines
    try process.run()
    Thread { [self] in
      while true {
        let bytes = lines.fileHandleForReading.availableData
        guard !bytes.isEmpty else { return }
        output.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
      }
    }.start()
  }

  /// Everything that the window has written.
  var text: String { output.withLock { $0 } }

  func send(_ line: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
  }

  /// The first line that contains all parts.
  @discardableResult
  func line(after start: Int = 0, with parts: String...) async throws -> String {
    for _ in 0..<6_000 {
      let lines = text.split(separator: "\n").map(String.init).dropFirst(start)
      if let line = lines.first(where: { line in parts.allSatisfy { line.contains($0) } }) {
        return line
      }
      try await Task.sleep(for: .milliseconds(20))
    }
    throw ScreenClient.Failure(description: "the window does not write \(parts): \(text)")
  }

  var lines: Int { text.split(separator: "\n").count }

  /// Waits for the end of the process.
  func end() -> Int32 {
    process.waitUntilExit()
    return process.terminationStatus
  }
}

/// Devices with screens for programs, the window of the app, and a relay that traces its commits.
@Suite(.serialized, .timeLimit(.minutes(10))) struct LiveScreenTests {
  /// Answers Emily's prompt of this kind.
  private func answer(
    _ emily: ScreenClient, _ kind: String, _ choice: String, names: String = "[]"
  ) async throws {
    let prompt = try await emily.screen(3, kind) { $0.prompts.first?.kind == kind }.prompts[0]
    let act = #"{"prompt":\#(prompt.id),"choice":"\#(choice)","names":\#(names)}"#
    #expect(try await emily.act(3, #"{"answerPrompt":\#(act)}"#).problem == nil)
  }

  private func lines(_ file: String) throws -> [[String: Any]] {
    try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").compactMap {
      $0.hasPrefix("{")
        ? try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] : nil
    }
  }

  @Test("X4, A1, A2, M2, R1, K4: a question passes from the window to the guardian and back")
  func approval() async throws {
    let family = try LiveFamily()
    defer { family.stop() }
    let emily = try family.screen("Emily")
    let rosa = try family.screen("Rosa", language: "fr")
    _ = try await emily.screen(3, "connection") { $0.relay == "connected" && $0.role == "child" }
    _ = try await rosa.screen(1, "children") { $0.relay == "connected" && $0.children.count == 1 }
    let window = try AppWindow(credential: family.file("Emily/app-1-3-example.landmarks.json"))
    try await window.line(with: #"{"window":"#)
    try window.send(#"{"ask":{"chat":0}}"#)
    try await answer(emily, "permission", "askByMessage")
    try await answer(emily, "compose", "send", names: #"["Ada"]"#)
    let asked = try await window.line(with: #"{"asked":{"chat":0"#, #""mono":"#)
    // No line has revealed anything about the chats.
    for secret in ["lighthouse", "Have you", "\"Ada\"", "Maria", "Explorers", "Saturday"] {
      #expect(!window.text.contains(secret), "\(secret)")
    }
    let open = try await rosa.screen(1, "question") { $0.children[0].entries.last?.question != nil }
    let question = try #require(open.children[0].entries.last?.question)
    #expect(asked.contains(question.id) && question.state == "open")
    #expect(question.people.map(\.name) == ["Ada"] && question.sentence.contains("Ada"))
    let decide = #"{"question":"\#(question.id)","choice":"approve","reviewed":true}"#
    #expect(try await rosa.act(1, #"{"decide":\#(decide)}"#).problem == nil)
    let answered = try await emily.screen(3, "answer") {
      $0.children[0].entries.first?.question?.state == "answered"
    }
    #expect(answered.children[0].entries[0].question?.outcome == "Rosa chose “Approve”.")
    #expect(answered.children[0].entries[0].delivery == "answered")
    _ = try await emily.screen(3, "notice") {
      $0.notices.map(\.kind) == ["decided"] && $0.outbox == 0
    }
    try await window.line(with: #"{"handled":{"#, question.id, #""choice":"approve""#)
    try await window.line(with: #""chat":0"#, #""isOpen":true"#, "Have you seen the lighthouse?")
    // The answer is in the past for every device.
    let late = try await rosa.act(1, #"{"decide":\#(decide)}"#)
    #expect(late.problem?.code == 401 && late.problem?.text.contains("Rosa") ?? false)
    let handle = #""handle":"dragonslayer42","handleKind":"custom""#
    let contact = #"{"child":3,\#(handle),"app":"example.landmarks"}"#
    let explained = try await rosa.act(1, #"{"explain":\#(contact)}"#)
    #expect(explained.result?.explanations?.count == 1)
    try window.send(#"{"reply":{"chat":0,"text":"Yes!"}}"#)
    try await window.line(with: #""replies":["Yes!"]"#)
    let before = window.lines
    #expect(try await rosa.act(1, #"{"withdraw":\#(contact)}"#).problem == nil)
    let closed = try await window.line(after: before, with: #"{"window":"#)
    #expect(!closed.contains("lighthouse") && !closed.contains("Yes!"))
    try window.send(#"{"close":{}}"#)
    #expect(window.end() == 0)
    try checkTraces(family, question.id)
  }

  /// Checks that traces of the relay and of the agents have both clocks and no content.
  private func checkTraces(_ family: LiveFamily, _ question: String) throws {
    let log = try String(contentsOfFile: family.file("log"), encoding: .utf8)
    for secret in ["Ada", "dragonslayer42", "Emily", "Yes!"] { #expect(!log.contains(secret)) }
    let committed = try lines(family.file("log")).filter { $0["step"] as? String == "committed" }
    let about = committed.filter { $0["question"] as? String == question }
    #expect(about.compactMap { $0["kind"] as? String } == ["asked", "decided"])
    #expect(about.allSatisfy { ($0["family"] as? Int, $0["person"] as? Int) == (1, 3) })
    #expect(about.compactMap { $0["device"] as? Int } == [3, 1])
    #expect(committed.contains { $0["kind"] as? String == "withdrawn" })
    let seqs = committed.compactMap { $0["seq"] as? Int }
    #expect(seqs == seqs.sorted() && Set(seqs).count == seqs.count)
    let emily = try lines(family.file("Emily.log"))
    #expect(emily.allSatisfy { $0["mono"] is Int && $0["at"] is Int })
    let prompt = emily.first { $0["step"] as? String == "prompt" }?["mono"] as? Int
    let asked = about.first?["mono"] as? Int
    #expect(try #require(prompt) < #require(asked))
  }

  @Test("X2, X4: a prompt appears again after a kill of its agent") func kill() async throws {
    let family = try LiveFamily()
    defer { family.stop() }
    var emily = try family.screen("Emily")
    _ = try await emily.screen(3, "connection") { $0.relay == "connected" }
    let window = try AppWindow(credential: family.file("Emily/app-1-3-example.landmarks.json"))
    try await window.line(with: #"{"window":"#)
    try window.send(#"{"ask":{"chat":1}}"#)
    let first = try await emily.screen(3, "prompt") { !$0.prompts.isEmpty }.prompts[0]
    family.kill("Emily")
    emily = try family.screen("Emily")
    let second = try await emily.screen(3, "prompt") { !$0.prompts.isEmpty }.prompts[0]
    #expect(second.kind == first.kind && second.id > first.id)
    let act = #"{"answerPrompt":{"prompt":\#(first.id),"choice":"askByMessage"}}"#
    #expect(try await emily.act(3, act).problem?.code == 400)
    try await answer(emily, "permission", "cancel")
    _ = try await emily.screen(3, "no prompt") { $0.prompts.isEmpty }
    try window.send(#"{"close":{}}"#)
    #expect(window.end() == 0)
  }
}
