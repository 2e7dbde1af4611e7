import Foundation

/// A relay and a family's devices, each as a process; the devices run in pseudoterminals.
final class LiveFamily {
  let folder: URL
  private var processes: [Process] = []
  private var terminals: [PseudoTerminal] = []
  /// The agents without a terminal, by the name of their device's owner.
  private var agents: [String: Process] = [:]

  init() throws {
    folder = URL(fileURLWithPath: "/tmp/pr-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let relay = file("relay")
    try run("relayctl", "init", "--directory", relay)
    processes.append(
      try Programs.start(
        "relay", ["--directory", relay, "--trace"], log: folder.appendingPathComponent("log")))
    let family = """
      {"families": [{"id": 1, "members": [
        {"name": "Rosa", "role": "organizer"}, {"name": "Alex", "role": "guardian"},
        {"name": "Emily", "role": "child", "birthdate": "2014-05-17"}]}]}
      """
    try Data(family.utf8).write(to: folder.appendingPathComponent("family.json"))
    try run(
      "relayctl", "apply", file("family.json"), "--directory", relay, "--credentials", file("keys"))
  }

  /// Starts a content-worker that flags pictures with these hashes, and waits until it is ready.
  func checkContent(against hashes: [String]) async throws {
    try Data(hashes.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: file("hashes")))
    let log = folder.appendingPathComponent("worker.log")
    processes.append(
      try Programs.start(
        "content-worker", ["--directory", file("content"), "--hashes", file("hashes")], log: log))
    for _ in 0..<3_000
    where !((try? String(contentsOf: log, encoding: .utf8)) ?? "").contains("ready") {
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  /// Ends the relay, which is the first process.
  func stopRelay() {
    processes[0].terminate()
    processes[0].waitUntilExit()
  }

  func file(_ name: String) -> String { folder.appendingPathComponent(name).path }

  /// Runs a program to its end.
  func run(_ program: String, _ arguments: String...) throws {
    let log = folder.appendingPathComponent("\(program).log")
    let process = try Programs.start(program, arguments, log: log)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw PseudoTerminal.Failure(
        description: (try? String(contentsOf: log, encoding: .utf8)) ?? program)
    }
  }

  /// Starts the device of this member in a pseudoterminal.
  ///
  /// - Parameter credential: The credential file (default: the member's first one).
  func device(
    _ name: String, columns: Int, environment: [String: String] = [:], credential: String? = nil,
    isChild: Bool? = nil, declaresAges: Bool = false
  ) async throws -> PseudoTerminal {
    let worker = file("content")
    let isChild = isChild ?? (name == "Emily")
    let manifest = Programs.path("permission-relay_app-agent.resources/manifest.json")
    let terminal = try PseudoTerminal(
      isChild ? "child-agent" : "parent-agent",
      [
        "--interactive", "--credential", credential ?? file("keys/family-1-\(name)-1.json"),
        "--directory", file(name), "--no-desktop-notifications",
      ] + (FileManager.default.fileExists(atPath: worker) ? ["--content-worker", worker] : [])
        + (isChild ? ["--app", "example.landmarks=\(Programs.path("app-agent"))"] : [])
        + (declaresAges ? ["--manifest", "example.landmarks=\(manifest)"] : []),
      columns: columns, environment: environment)
    terminals.append(terminal)
    return terminal
  }

  /// Starts or restarts the agent of this member, which serves its screen to the client.
  func screen(_ name: String, language: String = "en") throws -> ScreenClient {
    let isChild = name == "Emily"
    let arguments =
      ["--screen", "--trace-all", "--credential", file("keys/family-1-\(name)-1.json")]
      + ["--directory", file(name)]
      + (isChild ? ["--app", "example.landmarks=\(Programs.path("app-agent"))"] : [])
    agents[name] = try Programs.start(
      isChild ? "child-agent" : "parent-agent", arguments,
      log: folder.appendingPathComponent("\(name).log"))
    return try ScreenClient(file(name), language: language)
  }

  /// Kills the agent of this member.
  func kill(_ name: String) {
    guard let agent = agents[name] else { return }
    Foundation.kill(agent.processIdentifier, SIGKILL)
    agent.waitUntilExit()
  }

  /// Starts the app on Emily's device with a question.
  func ask(_ arguments: String...) throws {
    let credential = file("Emily/app-1-3-example.landmarks.json")
    processes.append(
      try Programs.start(
        "app-agent", ["ask"] + arguments, environment: ["PERMISSION_RELAY_DEVICE": credential],
        log: folder.appendingPathComponent("app-\(processes.count).log")))
  }

  /// Runs the app's command on the device of a folder to its end.
  ///
  /// - Returns: The output.
  func app(_ arguments: [String], credential: String) throws -> String {
    let log = folder.appendingPathComponent("app-\(UUID().uuidString).log")
    let process = try Programs.start(
      "app-agent", arguments, environment: ["PERMISSION_RELAY_DEVICE": credential], log: log)
    process.waitUntilExit()
    return try String(contentsOf: log, encoding: .utf8)
  }

  func stop() {
    for terminal in terminals { terminal.stop() }
    for process in processes.reversed() + agents.values {
      if process.isRunning { process.terminate() }
      process.waitUntilExit()
    }
    try? FileManager.default.removeItem(at: folder)
  }
}
