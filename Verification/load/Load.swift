import ArgumentParser
import Foundation
import Processes

/// Loads a relay with the approvals of many families.
@main
struct Load: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "load",
    abstract: "Load a relay with many families; measure and check the results.",
    usage: "load [--families <n>] [--rate <n>] [--seconds <n>] [--html <file>] …",
    discussion: "All options: load run --help",
    subcommands: [LoadCommand.self, WorkerCommand.self], defaultSubcommand: LoadCommand.self)
}

/// One load, from the set-up to the report.
struct LoadCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Run a load.",
    discussion: """
      Build everything first: swift build -c release. The load starts a relay, creates families, and starts \
      worker processes that host their devices. The seed fixes the time of each question; every latency \
      begins at that time. At the end checkers compare the devices' histories with the relay's store.

      Exit codes: 0 for success; 1 for an error, a loss or a wrong result; 2 if the objective was missed.
      """)

  @Option(help: "Number of families.") var families: UInt64 = 1_000
  @Option(help: "Guardians in each family: 1 or 2.") var guardians = 2
  @Option(help: "Questions per second of all families; with --ramp the first rate.")
  var rate: Double?
  @Option(help: "Seconds of load; with --ramp seconds at each rate.") var seconds: Double?
  @Option(help: "Hours of load instead of --seconds, with one progress line per minute.")
  var soak: Double?
  @Option(help: "The latency objective for approvals, for example p99=50ms.", transform: objective)
  var objective: Objective?
  @Flag(help: "Search for the highest rate that holds the objective.") var ramp = false
  @Option(
    help: "Weights of the question kinds \(Kind.allCases.map(\.rawValue).joined(separator: ", ")).",
    transform: mix)
  var mix = Mix(Mix.standard)!
  @Option(help: "Worker processes (default: one per core).") var workers: Int?
  @Option(help: "The seed of the plan: times, families and kinds of all questions.")
  var seed: UInt64 = 1
  @Option(help: "Families whose devices of one role share a connection.")
  var familiesPerConnection: UInt64 = 1_000
  @Option(help: "Families hosted by one thread of a worker.") var familiesPerHost: UInt64 = 2_500
  @Option(
    help:
      "Check the complete history of every n-th family (default: about 2 million facts in all).")
  var checkEvery: UInt64?
  @Option(help: "Write a report with charts to this HTML file.") var html: String?
  @Flag(help: "Print JSON instead of tables.") var json = false
  @Option(help: "A new folder that keeps the run's files (default: a temporary one, removed).")
  var directory: String?

  private static func objective(_ text: String) throws -> Objective {
    guard let objective = Objective(text) else {
      throw ValidationError("Invalid objective. Example: p99=50ms.")
    }
    return objective
  }

  private static func mix(_ text: String) throws -> Mix {
    guard let mix = Mix(text) else {
      throw ValidationError("Invalid mix. Example: \(Mix.standard).")
    }
    return mix
  }

  func validate() throws {
    guard families >= 1, families <= 10_000_000 else {
      throw ValidationError("--families is 1 to 10000000.")
    }
    guard (1...2).contains(guardians) else { throw ValidationError("--guardians is 1 or 2.") }
    guard (rate ?? 1) > 0, (rate ?? 1) <= 1_000_000 else {
      throw ValidationError("--rate is above 0, up to 1000000.")
    }
    guard (seconds ?? 1) > 0, (soak ?? 1) > 0 else {
      throw ValidationError("--seconds and --soak are above 0.")
    }
    guard seconds == nil || soak == nil, !ramp || soak == nil else {
      throw ValidationError("--soak excludes --seconds and --ramp.")
    }
    guard !ramp || objective != nil else {
      throw ValidationError("--ramp needs --objective, for example p99=50ms.")
    }
    guard (workers ?? 1) >= 1, familiesPerConnection >= 1, familiesPerHost >= 1,
      (checkEvery ?? 1) >= 1
    else {
      throw ValidationError("--workers, --check-every and the numbers of families are 1 or more.")
    }
    if let directory, FileManager.default.fileExists(atPath: directory) {
      throw ValidationError("\(directory) exists: choose a new folder.")
    }
    if let html { try checkWritable(html) }
  }

  /// Fails before the load if the report cannot be written after it.
  private func checkWritable(_ path: String) throws {
    let file = URL(fileURLWithPath: path)
    var isFolder: ObjCBool = false
    let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
    let target = exists ? file : file.deletingLastPathComponent()
    guard !isFolder.boolValue, access(target.path, W_OK) == 0 else {
      throw ValidationError(
        "--html: cannot write \(file.path). Choose a file in a writable folder.")
    }
  }

  func run() async throws {
    let folder = try RunFolder(
      directory ?? "/tmp/pr-load-\(getpid())", isKept: directory != nil)
    defer { folder.remove() }
    // Writing to an ended worker must not end this process. Its report stream signals the end.
    signal(SIGPIPE, SIG_IGN)

    let display = Display(interval: soak == nil ? 5 : 60)
    let load = LoadRun(settings, folder: folder.url, progress: display)
    let results: Results
    do {
      try await load.setUp()
      if ramp {
        try await load.ramp(from: settings.rate, seconds: settings.seconds)
      } else {
        try await load.run(rate: settings.rate, seconds: settings.seconds)
      }
      results = try await load.finish()
    } catch {
      display.clear()
      // Workers would wait for further orders.
      ChildProcesses.stopAll()
      await load.stop()
      throw error
    }
    try report(results)
  }

  private var settings: Results.Settings {
    let rate = rate ?? 100
    let seconds = soak.map { $0 * 3_600 } ?? seconds ?? (ramp ? 5 : 10)
    // A ramp doubles the rate several times; the factor is an estimate.
    let approvals = ramp ? rate * seconds * 64 : rate * seconds
    let facts =
      approvals * HistoryRecorder.factsPerApproval + Double(families)
      * HistoryRecorder.factsPerFamily
    let every = checkEvery ?? max(1, UInt64((facts / HistoryRecorder.facts).rounded(.up)))
    let cores = ProcessInfo.processInfo.activeProcessorCount
    return Results.Settings(
      families: families, guardians: guardians, rate: rate, seconds: seconds,
      workers: min(workers ?? cores, Int(families)), seed: seed, mix: mix, objective: objective,
      familiesPerConnection: min(
        familiesPerConnection, max(1, families / UInt64(workers ?? cores))),
      familiesPerHost: familiesPerHost, checkedEvery: every)
  }

  /// Prints the tables or the JSON, and writes the HTML.
  ///
  /// - Throws: The exit code of a failed load.
  private func report(_ results: Results) throws {
    if let html {
      try Data(HTMLReport(results, at: Date()).text.utf8).write(to: URL(fileURLWithPath: html))
    }
    if json {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
      print(String(decoding: try encoder.encode(results), as: UTF8.self))
    } else {
      print(TextReport.text(results))
      if let html { print("\nreport with charts: \(html)") }
    }
    if results.hasErrors { throw ExitCode(1) }
    if results.missesObjective { throw ExitCode(2) }
  }
}
