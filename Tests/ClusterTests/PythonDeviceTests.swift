import Foundation
import ProcessCluster
import Subprocess
import SystemPackage
import Testing

/// A device that is written from docs/Protocol.md in another language, beside this package's agents.
@Suite(.serialized, .timeLimit(.minutes(20))) struct PythonDeviceTests {
  @Test(
    "X5: a device in Python refuses forgeries, and shares conversations with agents and a killed relay"
  )
  func conversation() async throws {
    guard let device = try await PythonDevice.prepare() else { return }
    defer { device.remove() }
    let tests = try await device.run(["-m", "unittest"])
    #expect(tests.steps.last == "OK")

    let folder = "/tmp/pr-\(UUID().uuidString.prefix(8))"
    var configuration = RunningCluster.Configuration()
    configuration.answer = "approve"
    let cluster = try RunningCluster(Layout(folder), Self.family(), configuration)
    try await cluster.stopping {
      try await cluster.start()
      try await PythonConversation(device: device, cluster: cluster).play()
    }
    // After a failure the folder stays, because the error names its logs.
    try FileManager.default.removeItem(atPath: folder)
  }

  /// Rosa, Alex with two devices, and the children Emily and Luca.
  private static func family() -> ClusterFamilies {
    var families = ClusterFamilies.example(1)
    families.families[0].members[1].devices = 2
    var luca = families.families[0].members[2]
    luca.name = "Luca"
    families.families[0].members.append(luca)
    return families
  }
}

/// Alex's second device runs in Python.
private struct PythonConversation {
  let device: PythonDevice
  let cluster: RunningCluster

  private static let (emily, luca): (UInt64, UInt64) = (3, 4)

  private var rosa: String { cluster.layout.credential(1, "Rosa").path }
  private var credential: String {
    cluster.layout.credentials.appendingPathComponent("family-1-Alex-2.json").path
  }
  private var directory: String { cluster.layout.root.appendingPathComponent("python").path }

  func play() async throws {
    try await approve()
    try await cluster.relayctl("post", "How was school?", "--child", "Emily", "--as", rosa)
    let first = try await run("read")
    try await expectSameConversations(first)
    #expect(Set(first.lines.map(\.kind)) == ["question", "decision", "text"])

    let second = try await run("post", "Fine, thanks 🌻", "--child", "\(Self.emily)")
    #expect(second.cursors.first == first.cursors.last, "the second run resumes")
    #expect(
      second.steps.filter { $0.hasPrefix("page") && $0.contains(" after 0 ") } == [],
      "the second run reads no page again")
    try await expectLine("Fine, thanks 🌻", of: Self.emily)
    try await expectAgentsHaveRead(second)

    // No device has made a key of Luca's conversation.
    let third = try await run("post", "Good night, Luca.", "--child", "\(Self.luca)")
    #expect(third.steps.contains { $0.hasPrefix("send keys_shared") })
    try await expectLine("Good night, Luca.", of: Self.luca)
    try await expectAgentsHaveRead(third)
    try await follow()
    try await tamper()
  }

  /// Emily's app asks, and a guardian's agent approves.
  private func approve() async throws {
    let app = try #require(cluster.appCredentials.first { $0.contains("app-1-") })
    let result = try await Subprocess.run(
      .path(FilePath(Layout.program("app-agent"))), arguments: ["ask", "--handle", "ada"],
      environment: .inherit.updating(["PERMISSION_RELAY_DEVICE": app]), output: .discarded,
      error: .string(limit: 1 << 20))
    try #require(result.terminationStatus.isSuccess, "\(result.standardError)")
    try await cluster.wait("a guardian's answer") {
      Status.all(cluster.layout).filter { $0.role == "child" }
        .contains { $0.questions.contains { $0.state == "approve" } }
    }
  }

  /// New lines arrive as broadcasts, and after the relay was killed.
  private func follow() async throws {
    let log = cluster.layout.log("python").path
    async let following = device.run(arguments("follow", "--lines", "2"), errors: log)
    func steps() -> [Substring] {
      ((try? String(contentsOfFile: log, encoding: .utf8)) ?? "").split(separator: "\n")
    }
    try await cluster.wait("the device in Python to follow") { steps().contains("following") }
    try await cluster.relayctl("post", "One.", "--child", "Emily", "--as", rosa)
    let conversation = (1 << 32) + Self.emily
    try await cluster.wait("a broadcast") { steps().contains("broadcast \(conversation)") }
    let starts = cluster.relay.starts
    cluster.relay.signal(SIGKILL)
    try await cluster.wait("the relay's restart") { cluster.relay.starts > starts }
    try await cluster.relayctl("post", "Two.", "--child", "Emily", "--as", rosa)
    let run = try await following
    #expect(run.lines.suffix(2).map(\.text) == ["One.", "Two."])
    try await expectSameConversations(run)
  }

  /// No changed byte of any event that the relay sent is read.
  private func tamper() async throws {
    _ = try await device.run(["tamper.py", credential, directory])
  }

  // MARK: helpers

  private func arguments(_ words: String...) -> [String] {
    ["device.py", credential, "--directory", directory] + words
  }

  private func run(_ words: String...) async throws -> PythonDevice.Run {
    let run = try await device.run(
      ["device.py", credential, "--directory", directory] + words)
    #expect(run.steps.filter { $0.hasPrefix("rejected") } == [])
    #expect(run.steps.contains("deferred 0"), "\(run.steps)")
    return run
  }

  /// The lines of the conversations as one of this package's devices reads them, by their number.
  private func history() async throws -> [UInt64: PythonDevice.Line] {
    let text = try await cluster.relayctl("history", "--json", "--as", rosa)
    let lines = try JSONDecoder().decode([HistoryLine].self, from: Data(text.utf8))
      .compactMap { line -> PythonDevice.Line? in
        guard let child = line.childID, ["text", "question", "decision"].contains(line.kind)
        else { return nil }
        // The device in Python shows a decision by its choice, and a question by its handles.
        let text = line.kind == "decision" ? line.choice ?? "" : line.text
        return PythonDevice.Line(
          seq: line.seq, childID: child, by: line.by, kind: line.kind, text: text)
      }
    return Dictionary(uniqueKeysWithValues: lines.map { ($0.seq, $0) })
  }

  private struct HistoryLine: Decodable {
    var seq: UInt64
    var childID: UInt64?
    var by: String
    var kind: String
    var text: String
    var choice: String?
  }

  private func expectSameConversations(_ run: PythonDevice.Run) async throws {
    let history = try await history()
    #expect(Set(history.keys) == Set(run.lines.map(\.seq)))
    for line in run.lines {
      var known = try #require(history[line.seq])
      if line.kind == "question" { known.text = line.text }
      #expect(line == known)
    }
  }

  /// Expects that this package's devices show the text as Alex's.
  private func expectLine(_ text: String, of child: UInt64) async throws {
    let lines = try await history().values
    #expect(
      lines.contains {
        $0.text == text && $0.by == "Alex" && $0.kind == "text" && $0.childID == child
      })
  }

  /// Waits until agents have verified and opened what the device in Python has read.
  private func expectAgentsHaveRead(_ run: PythonDevice.Run) async throws {
    let cursors = run.cursors.last
    // Alex's first device reads what the second one reads, and Emily's device a part of it.
    let emily = [0, (1 << 32) + Self.emily, (2 << 32) + Self.emily].compactMap { cursors[$0] }
    let expected = ["Alex": cursors.values.reduce(0, +), "Emily": emily.reduce(0, +)]
    try await cluster.wait("the agents to read the text") {
      let devices = Status.all(cluster.layout)
      return expected.allSatisfy { name, position in
        devices.contains { $0.name == name && $0.position >= position && $0.unopened == 0 }
      }
    }
    #expect(Status.all(cluster.layout).allSatisfy { $0.disbelieved == 0 })
  }
}
