import Foundation
import ProcessCluster
import Synchronization

/// Searches the logs and the process arguments of a run for personal data.
final class LeakCheck: Sendable {
  static let interval = Duration.milliseconds(100)

  private let layout: Layout
  private let personal: PersonalWords
  private let argumentLists: Mutex<Set<[String]>> = Mutex([])

  init(_ layout: Layout, _ file: ClusterFamilies) {
    self.layout = layout
    personal = PersonalWords(file, and: Workload.marks)
  }

  /// Collects the arguments of the run's processes until the task is cancelled.
  func watch() async {
    while !Task.isCancelled {
      for pid in OrphanReaper.processes(of: layout.root.path) {
        let data = FileManager.default.contents(atPath: "/proc/\(pid)/cmdline") ?? Data()
        let arguments = data.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        addArguments(arguments)
      }
      try? await Task.sleep(for: Self.interval)
    }
  }

  /// Adds the arguments of a process.
  func addArguments(_ arguments: [String]) {
    // Text that a person types into an app is no leak, and file names may contain names of people.
    guard !arguments.isEmpty, arguments.dropFirst().first != "ask" else { return }
    _ = argumentLists.withLock { $0.insert(arguments.filter { !$0.contains("/") }) }
  }

  /// Searches all logs and the collected arguments.
  ///
  /// - Returns: A description of each leak, and of missing logs or arguments.
  func findings(agents: Int) throws -> [String] {
    let (leaks, logs) = try personal.found(inLogsBelow: layout.root)
    let argumentLists = argumentLists.withLock { $0 }
    let arguments = personal.found(in: Data(argumentLists.joined().joined(separator: "\n").utf8))
    var findings = leaks + arguments.map { "\($0) in a process's arguments" }
    // Expect one log per agent, the relay's, and at least one of an app.
    if logs < agents + 2 { findings.append("only \(logs) logs were searched") }
    if argumentLists.count < 2 { findings.append("only \(argumentLists.count) commands were seen") }
    return findings
  }
}
