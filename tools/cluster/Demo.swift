import ArgumentParser
import Foundation
import ProcessCluster
import Subprocess
import SystemPackage

extension Cluster {
  /// Two families' approvals through real processes, as a transcript that checks itself.
  struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show approvals through real processes; fails if anything differs from the text.")
    @OptionGroup var options: ClusterOptions

    func run() async throws {
      let layout = Layout(options.directory)
      try? FileManager.default.removeItem(at: layout.root)
      let cluster = try RunningCluster(layout, .example(2))
      do {
        try await Transcript(cluster: cluster).play()
      } catch {
        await cluster.stop()
        throw error
      }
      await cluster.stop()
      print("\nEverything was as it says above.")
    }
  }
}

/// The demonstration's steps. Each says what happens, does it, and checks it.
struct Transcript {
  let cluster: RunningCluster
  private var layout: Layout { cluster.layout }

  func play() async throws {
    title("Two families: Rosa and Alex are Emily's guardians, Wei and Alex are Lian's")
    try await cluster.start { say($0) }
    say("one relay and \(cluster.agents.count) agents are up, each a process")
    try await hiddenUntilKnown()
    try await approved()
    try await declined()
    try await custom()
    try await relayDiesBeforeTheAnswer()
    try await relayDiesBeforeTheApp()
    try finalTable()
  }

  private func hiddenUntilKnown() async throws {
    title("1. Landmarks hides what comes from people whom nobody approved")
    try await show(1, "Emily", known: [])
  }

  private func approved() async throws {
    title("2. Emily asks, her mother approves, the app is not running")
    try script(1, "rosa", [["handle": "dragonslayer42", "choose": "approve", "review": true]])
    let id = try await ask(1, "Emily", "dragonslayer42", name: "Ada")
    try await decision(1, id, "approve", by: "Rosa")
    try await knows(1, ["dragonslayer42"])
    try await show(1, "Emily", known: ["dragonslayer42"])
  }

  private func declined() async throws {
    title("3. Lian asks, his mother declines right from the bubble")
    try script(2, "wei", [["handle": "dragonslayer42", "choose": "decline"]])
    let id = try await ask(2, "Lian", "dragonslayer42", name: "Ada")
    try await decision(2, id, "decline", by: "Wei")
    try await show(2, "Lian", known: [])
  }

  private func custom() async throws {
    title("4. Emily asks with choices of the app: one hour, all day, always")
    try script(1, "rosa", [["handle": "+15550100", "choose": "day", "review": true]])
    let id = try await ask(
      1, "Emily", "+15550100", kind: "phone", name: "Grandpa",
      choices: "hour=One hour:approve,day=All day:approve,always=Always:approve,no=No:decline")
    try await decision(1, id, "day", by: "Rosa")
    try await knows(1, ["+15550100", "dragonslayer42"])
  }

  private func relayDiesBeforeTheAnswer() async throws {
    title("5. The relay is killed between the question and the answer")
    let gate = layout.scripts.appendingPathComponent("gate-5")
    try script(
      1, "rosa", [["handle": "maria", "choose": "approve", "review": true, "after": "gate-5"]])
    let id = try await ask(1, "Emily", "maria", name: "Maria")
    try await until("Rosa sees the bubble") { question(id, of: "Rosa", in: 1)?.state == "open" }
    try await killRelay()
    try Data().write(to: gate)
    say("Rosa approves while the relay is down, or just back")
    try await decision(1, id, "approve", by: "Rosa")
    try await knows(1, ["+15550100", "dragonslayer42", "maria"])
  }

  private func relayDiesBeforeTheApp() async throws {
    title("6. The relay is killed between the answer and the app")
    let child = cluster.agent("child-agent-1")
    let gate = layout.scripts.appendingPathComponent("gate-6")
    try script(
      1, "rosa", [["handle": "tomas", "choose": "approve", "review": true, "after": "gate-6"]])
    let id = try await ask(1, "Emily", "tomas", name: "Tomás")
    try await until("Rosa sees the bubble") { question(id, of: "Rosa", in: 1)?.state == "open" }
    child.signal(SIGSTOP)
    say("Emily's device hears nothing (SIGSTOP)")
    try Data().write(to: gate)
    try await until("Rosa's decision is durable") {
      question(id, of: "Rosa", in: 1)?.state == "approve"
    }
    say("Rosa approved, and the relay has it on disk")
    try await killRelay()
    child.signal(SIGCONT)
    say("Emily's device goes on (SIGCONT)")
    try await decision(1, id, "approve", by: "Rosa")
    try await knows(1, ["+15550100", "dragonslayer42", "maria", "tomas"])
    try await show(1, "Emily", known: ["dragonslayer42", "maria"])
  }

  private func finalTable() throws {
    title("What each device knows")
    let devices = Status.all(layout)
    print(Status.table(devices))
    for family: UInt64 in [1, 2] {
      let views = devices.filter { $0.family == family }.map { $0.questions.map(\.line) }
      try check(Set(views).count == 1, "all devices of family \(family) see the same questions")
    }
    let state = layout.agent("child-agent-1")
      .appendingPathComponent("app-1-3-\(RunningCluster.app)")
    let journal = try Self.journal(in: state)
    try check(
      journal.count == 4 && Set(journal).count == 4,
      "Landmarks handled four answers, each once")
    try check(cluster.relay.restarts == 2, "the relay was killed twice")
  }

  /// The questions that Landmarks handled, a line for each time.
  static func journal(in folder: URL) throws -> [String] {
    let file = folder.appendingPathComponent("landmarks.journal")
    return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
  }

  // MARK: what people do

  private func script(_ family: Int, _ member: String, _ rules: [[String: Any]]) throws {
    let file = layout.scripts.appendingPathComponent("parent-agent-\(family)-\(member).json")
    try JSONSerialization.data(withJSONObject: ["rules": rules]).write(to: file, options: .atomic)
  }

  private func ask(
    _ family: Int, _ child: String, _ handle: String, kind: String = "custom", name: String,
    choices: String? = nil
  ) async throws -> String {
    let id = UUID().uuidString
    say("\(child) taps “Ask to chat with \(name)” (\(handle)) and sends the message")
    var arguments = [
      "ask", "--handle", handle, "--kind", kind, "--name", name, "--question-id", id,
    ]
    if let choices { arguments += ["--choices", choices] }
    _ = try await landmarks(family, arguments)
    return id
  }

  private func show(_ family: Int, _ child: String, known: [String]) async throws {
    let output = try await landmarks(family, ["show"])
    print(output.split(separator: "\n").map { "      \($0)" }.joined(separator: "\n"))
    for handle in ["dragonslayer42", "maria"] {
      let isHidden = !output.contains(handle)
      try check(
        isHidden != known.contains(handle),
        "\(child)'s chat with \(handle) is \(known.contains(handle) ? "open" : "hidden")")
    }
  }

  private func landmarks(_ family: Int, _ arguments: [String]) async throws -> String {
    let credential = layout.agent("child-agent-\(family)")
      .appendingPathComponent("app-\(family)-3-\(RunningCluster.app).json")
    let result = try await run(
      .path(FilePath(Layout.program("app-agent"))), arguments: Arguments(arguments),
      environment: .inherit.updating(["PERMISSION_RELAY_DEVICE": credential.path]),
      output: .string(limit: 1 << 20), error: .string(limit: 1 << 20))
    guard result.terminationStatus.isSuccess else {
      throw ClusterError(
        "app-agent failed: \(result.standardError)\(result.standardOutput)")
    }
    return result.standardOutput
  }

  private func killRelay() async throws {
    let before = cluster.relay.restarts
    let pid = cluster.relay.pid ?? 0
    cluster.relay.signal(SIGKILL)
    try await until("the cluster starts the relay again") {
      cluster.relay.restarts > before && cluster.relay.pid != nil
    }
    say("kill -9 \(pid); the relay is now process \(cluster.relay.pid ?? 0)")
  }

  // MARK: what must be so

  private func question(_ id: String, of name: String, in family: UInt64) -> Status.Question? {
    Status.all(layout).first { $0.family == family && $0.name == name }?
      .questions.first { $0.id == id }
  }

  private func decision(_ family: UInt64, _ id: String, _ choice: String, by: String) async throws {
    let names = Status.all(layout).filter { $0.family == family }.map(\.name)
    try await until("everybody in the family sees “\(choice)” by \(by)") {
      names.allSatisfy {
        let question = question(id, of: $0, in: family)
        return question?.state == choice && question?.by == by
      }
    }
    let folder = layout.agent("child-agent-\(family)")
      .appendingPathComponent("app-\(family)-3-\(RunningCluster.app)")
    try await until("Landmarks was woken in the background, handled the answer, and sleeps again") {
      let handled = (try? Self.journal(in: folder))?.contains { $0.contains(id) } ?? false
      return handled
    }
  }

  private func knows(_ family: UInt64, _ handles: [String]) async throws {
    try await until("Emily's device knows \(handles.joined(separator: ", "))") {
      Status.all(layout).first { $0.family == family && $0.role == "child" }?
        .known[RunningCluster.app]?.sorted() == handles
    }
  }

  private func until(_ what: String, _ isSo: () throws -> Bool) async throws {
    try await cluster.wait(what, seconds: 20, isSo)
    print("   ✓ \(what)")
  }

  private func check(_ isSo: Bool, _ what: String) throws {
    guard isSo else { throw ClusterError("This is not so: \(what).") }
    print("   ✓ \(what)")
  }

  private func title(_ text: String) {
    print(isatty(STDOUT_FILENO) == 1 ? "\n\u{1B}[1m\(text)\u{1B}[0m" : "\n\(text)")
  }
  private func say(_ text: String) { print("   \(text)") }
}
