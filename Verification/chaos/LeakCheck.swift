import Foundation
import ProcessCluster
import Synchronization

/// Searches what a run leaves for others to read, its logs and its processes' arguments, for its people.
final class LeakCheck: Sendable {
  static let interval = Duration.milliseconds(100)

  private let layout: Layout
  private let personal: PersonalWords
  private let seen: Mutex<Set<[String]>> = Mutex([])

  init(_ layout: Layout, _ file: ClusterFamilies) {
    self.layout = layout
    personal = PersonalWords(file, and: Workload.marks)
  }

  /// Looks at the arguments of the run's processes.
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

  /// A process with these arguments was seen.
  func addArguments(_ arguments: [String]) {
    // What a person types into an app is the person's own; and files may be called as people are.
    guard !arguments.isEmpty, arguments.dropFirst().first != "ask" else { return }
    _ = seen.withLock { $0.insert(arguments.filter { !$0.contains("/") }) }
  }

  /// Who is told of in a log or an argument, in words; also when there was too little to search.
  func findings(agents: Int) throws -> [String] {
    let (leaks, logs) = try personal.found(inLogsBelow: layout.root)
    let seen = seen.withLock { $0 }
    let arguments = personal.found(in: Data(seen.joined().joined(separator: "\n").utf8))
    var findings = leaks + arguments.map { "\($0) in a process's arguments" }
    // Each agent's, the relay's, and at least one of an app.
    if logs < agents + 2 { findings.append("only \(logs) logs were searched") }
    if seen.count < 2 { findings.append("only \(seen.count) commands were seen") }
    return findings
  }
}
