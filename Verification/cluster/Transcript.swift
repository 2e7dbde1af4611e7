import Foundation
import ProcessCluster
import Subprocess
import SystemPackage

/// The actions of the demonstration's people, and the checks of their results.
extension Transcript {
  /// The lines of Landmarks' journal, one for each handled response.
  static func journal(in folder: URL) throws -> [String] {
    let file = folder.appendingPathComponent("landmarks.journal")
    return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
  }

  // MARK: actions

  func script(_ family: Int, _ member: String, _ rules: [[String: Any]]) throws {
    try script("parent-agent-\(family)-\(member)", rules)
  }

  func script(_ agent: String, _ rules: [[String: Any]]) throws {
    let file = layout.scripts.appendingPathComponent("\(agent).json")
    try JSONSerialization.data(withJSONObject: ["rules": rules]).write(to: file, options: .atomic)
  }

  func ask(
    _ family: Int, _ child: String, _ handle: String, kind: String = "custom", name: String,
    choices: String? = nil, how: String = "and sends the message"
  ) async throws -> String {
    let id = UUID().uuidString
    say("\(child) taps “Ask to chat with \(name)” (\(handle)) \(how)")
    var arguments = [
      "ask", "--handle", handle, "--kind", kind, "--name", name, "--question-id", id,
    ]
    if let choices { arguments += ["--choices", choices] }
    _ = try await landmarks(family, arguments)
    return id
  }

  func show(_ family: Int, _ child: String, known: [String]) async throws {
    // The app may learn the handle shortly after its device.
    var output = ""
    try await cluster.wait("Landmarks to show \(known.joined(separator: ", "))") {
      output = try await landmarks(family, ["show"])
      return ["dragonslayer42", "maria"].allSatisfy { output.contains($0) == known.contains($0) }
    }
    print(output.split(separator: "\n").map { "      \($0)" }.joined(separator: "\n"))
    for handle in ["dragonslayer42", "maria"] {
      let isHidden = !output.contains(handle)
      try check(
        isHidden != known.contains(handle),
        "\(child)'s chat with \(handle) is \(known.contains(handle) ? "open" : "hidden")")
    }
  }

  func landmarks(_ family: Int, _ arguments: [String], device: Int = 3) async throws -> String {
    let credential = layout.appCredential(family: UInt64(family), device: UInt32(device))
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

  /// Whether Landmarks accepts a reply in the chat.
  func replies(_ family: Int, _ chat: String, _ text: String) async -> Bool {
    (try? await landmarks(family, ["reply", chat, text])) == "replied to \(chat)\n"
  }

  func killRelay() async throws {
    let before = cluster.relay.restarts
    let pid = cluster.relay.pid ?? 0
    cluster.relay.signal(SIGKILL)
    try await until("the cluster restarts the relay") {
      cluster.relay.restarts > before && cluster.relay.pid != nil
    }
    say("kill -9 \(pid); the relay is now process \(cluster.relay.pid ?? 0)")
  }

  /// Kills the device of family 1's child; returns when it is connected again.
  func killChildAgent() async throws {
    let agent = cluster.agent("child-agent-1")
    let before = agent.starts
    let pid = agent.pid ?? 0
    agent.signal(SIGKILL)
    try await until("the cluster restarts Emily's device after kill -9") {
      agent.starts > before && agent.pid.map { $0 != pid } ?? false
        && Status.read(layout, agent.name)?.devices.allSatisfy { $0.relay == "connected" } ?? false
    }
  }

  /// The number of background launches by the agent of the family's child.
  func launches(_ family: Int) throws -> Int {
    try String(contentsOf: layout.log("child-agent-\(family)"), encoding: .utf8)
      .split(separator: "\n").count { $0.contains("\"launch\"") }
  }

  // MARK: checks

  func question(_ id: String, of name: String, in family: UInt64) -> Status.Question? {
    Status.all(layout).first { $0.family == family && $0.name == name }?
      .questions.first { $0.id == id }
  }

  func decision(
    _ family: UInt64, _ id: String, _ choice: String, by: String, inPerson: Bool = false
  )
    async throws
  {
    let names = Status.all(layout).filter { $0.family == family }.map(\.name)
    try await until(
      "all devices of the family show “\(choice)” \(inPerson ? "on \(by)'s device" : "by \(by)")"
    ) {
      names.allSatisfy {
        let question = question(id, of: $0, in: family)
        return question?.state == choice && question?.by == by
      }
    }
    let folder = layout.appFolder(family: UInt64(family), device: 3)
    try await until("Landmarks was launched in the background, handled the response, and ended") {
      let handled = (try? Self.journal(in: folder))?.contains { $0.contains(id) } ?? false
      let device = cluster.agent("child-agent-\(family)").pid
      return handled && AppProcesses.children(of: [device].compactMap { $0 }).isEmpty
    }
  }

  func knows(_ family: UInt64, _ handles: [String]) async throws {
    try await until("Emily's device knows \(handles.joined(separator: ", "))") {
      Status.all(layout).first { $0.family == family && $0.role == "child" }?
        .known[RunningCluster.app]?.sorted() == handles
    }
  }

  func until(_ effect: String, _ condition: () async throws -> Bool) async throws {
    try await cluster.wait(effect, condition)
    print("   ✓ \(effect)")
  }

  func check(_ condition: Bool, _ what: String) throws {
    guard condition else { throw ClusterError("Check failed: \(what).") }
    print("   ✓ \(what)")
  }

  func title(_ text: String) {
    print(isatty(STDOUT_FILENO) == 1 ? "\n\u{1B}[1m\(text)\u{1B}[0m" : "\n\(text)")
  }
  func say(_ text: String) { print("   \(text)") }
}
