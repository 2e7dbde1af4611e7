import ArgumentParser
import Foundation
import ProcessCluster
import Subprocess
import SystemPackage
import TextTable

extension Cluster {
  /// Kills every kind of process at every step of an approval and checks the results.
  struct Kills: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract:
        "Kill each process at each step of an approval. Fails if a response is lost or duplicated."
    )
    @OptionGroup var options: ClusterOptions

    func run() async throws {
      let layout = Layout(options.directory)
      try layout.clear()
      let cluster = try RunningCluster(layout, .example(1))
      try await cluster.stopping {
        try await cluster.start { FileHandle.standardError.write(Data("\($0)\n".utf8)) }
        let table = KillTable(cluster: cluster)
        var rows = [["step", "killed", "recovery, ms"]]
        for step in KillTable.Step.allCases {
          for victim in KillTable.Victim.allCases {
            let time = try await table.run(step, victim)
            rows.append([step.rawValue, victim.rawValue, "\(time)"])
          }
          let done = "\(rows.count - 1) kills done, the last at step “\(step.rawValue)”\n"
          FileHandle.standardError.write(Data(done.utf8))
        }
        print(Table.render(rows))
      }
      print(
        "\(KillTable.Step.allCases.count * KillTable.Victim.allCases.count) kills: no response lost or duplicated"
      )
    }
  }
}

/// Runs one approval for each step and process, and kills the process at the step.
struct KillTable {
  /// The steps of an approval, as the agents' traces name them; `sent` is read from status files.
  enum Step: String, CaseIterable {
    case prompt, compose, sent, bubble, review, answer, decided, launch
    case attached = "app-attached"
    case acknowledged = "app-acknowledged"

    /// Whether the step precedes the guardian's answer.
    var isBeforeAnswer: Bool { [.prompt, .compose, .sent, .bubble].contains(self) }
  }
  /// The process to kill.
  enum Victim: String, CaseIterable {
    case relay
    case child = "child-agent"
    case guardian = "parent-agent"
    case app = "app-agent"
  }

  let cluster: RunningCluster
  private var layout: Layout { cluster.layout }
  private static let child = "child-agent-1"
  private static let guardian = "parent-agent-1-rosa"
  private var state: URL {
    layout.agent(Self.child).appendingPathComponent("app-1-3-\(RunningCluster.app)")
  }

  func run(_ step: Step, _ victim: Victim) async throws -> Int {
    let name = "\(step.rawValue)-\(victim.rawValue)"
    let id = UUID().uuidString
    // A running app would receive the answer without a launch.
    try await cluster.wait("the app to sleep before \(name)") { appPIDs.isEmpty }
    let gate = layout.scripts.appendingPathComponent("gate-\(name)")
    try rules(
      [["handle": name, "choose": "approve", "review": true, "after": gate.lastPathComponent]],
      Self.guardian)
    try rules([["handle": name, "delay": 100]], Self.child)
    async let isAsked = ask(name, id)
    if step.isBeforeAnswer {
      try await reached(step, id)
      kill(victim)
    }
    let start = Date()
    // If the app was killed, the person repeats the same question. The relay accepts one.
    if try await !isAsked { _ = try await ask(name, id) }
    try await reached(.bubble, id)
    try Data().write(to: gate)
    if !step.isBeforeAnswer {
      try await reached(step, id)
      kill(victim)
    }
    try await cluster.wait("all devices to apply the answer after \(name)") {
      let devices = Status.all(layout)
      return handled(id) == 1 && devices.count == 3
        && devices.allSatisfy { device in
          device.questions.first { $0.id == id }?.state == "approve"
        }
        && devices.contains { $0.known[RunningCluster.app]?.contains(name) ?? false }
    }
    return Int(Date().timeIntervalSince(start) * 1_000)
  }

  private func kill(_ victim: Victim) {
    switch victim {
    case .relay: cluster.relay.signal(SIGKILL)
    case .child: cluster.agent(Self.child).signal(SIGKILL)
    case .guardian: cluster.agent(Self.guardian).signal(SIGKILL)
    case .app: for pid in appPIDs { Glibc.kill(pid, SIGKILL) }
    }
  }

  private var appPIDs: [pid_t] {
    AppProcesses.children(of: [cluster.agent(Self.child).pid, getpid()].compactMap { $0 })
  }

  private func rules(_ rules: [[String: Any]], _ agent: String) throws {
    let file = layout.scripts.appendingPathComponent("\(agent).json")
    try JSONSerialization.data(withJSONObject: ["rules": rules]).write(to: file, options: .atomic)
  }

  /// The number of times that the app handled the answer.
  private func handled(_ id: String) -> Int {
    ((try? Transcript.journal(in: state)) ?? []).count { $0.contains(id) }
  }

  /// Waits until the question has reached the step.
  private func reached(_ step: Step, _ id: String) async throws {
    try await cluster.wait("\(step.rawValue) of \(id)") {
      switch step {
      case .sent: Status.all(layout).contains { $0.questions.contains { $0.id == id } }
      case .launch:
        isTraced("decided", id, in: Self.child) && (!appPIDs.isEmpty || handled(id) > 0)
      // An app launched for another response may have attached earlier and received this answer.
      case .attached, .acknowledged:
        isTraced(step.rawValue, after: id, in: Self.child) || handled(id) > 0
      case .bubble, .review, .answer: isTraced(step.rawValue, id, in: Self.guardian)
      case .prompt, .compose, .decided: isTraced(step.rawValue, id, in: Self.child)
      }
    }
  }

  private func isTraced(_ step: String, _ id: String, in agent: String) -> Bool {
    lines(agent).contains { $0.contains("\"step\":\"\(step)\"") && $0.contains(id) }
  }

  /// Whether the step, whose trace names no question, followed the decision.
  private func isTraced(_ step: String, after id: String, in agent: String) -> Bool {
    let lines = lines(agent)
    guard
      let decided = lines.firstIndex(where: { $0.contains("\"decided\"") && $0.contains(id) })
    else { return false }
    return lines[decided...].contains { $0.contains("\"step\":\"\(step)\"") }
  }

  private func lines(_ agent: String) -> [Substring] {
    ((try? String(contentsOf: layout.log(agent), encoding: .utf8)) ?? "").split(separator: "\n")
  }

  /// Asks through the app, as a person would.
  ///
  /// - Returns: Whether the app succeeded.
  private func ask(_ handle: String, _ id: String) async throws -> Bool {
    let credential = layout.agent(Self.child)
      .appendingPathComponent("app-1-3-\(RunningCluster.app).json")
    let result = try await Subprocess.run(
      .path(FilePath(Layout.program("app-agent"))),
      arguments: ["ask", "--handle", handle, "--question-id", id],
      environment: .inherit.updating(["PERMISSION_RELAY_DEVICE": credential.path]),
      output: .string(limit: 1 << 16), error: .string(limit: 1 << 16))
    return result.terminationStatus.isSuccess
  }
}
