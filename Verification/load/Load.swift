import ArgumentParser
import Foundation
import Processes

/// Many families at once, against a relay of its own.
@main
struct Load: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "load", abstract: "Lets many families ask at once, and measures and checks it.",
    usage: "load [--families <n>] [--rate <n>] [--seconds <n>] [--html <file>] …",
    discussion: "All options: load run --help",
    subcommands: [LoadCommand.self, WorkerCommand.self], defaultSubcommand: LoadCommand.self)
}

/// One load, from the set-up to the report.
struct LoadCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Run a load.",
    discussion: """
      Build everything first: swift build -c release. A relay is started, families are made, and worker \
      processes host their devices. Questions are asked at times that the seed fixes beforehand; every \
      latency begins there. At the end checkers compare what everybody saw with the relay's store.

      Ends with 0; with 1 when something went wrong, was lost, or was not right; with 2 when the objective \
      was not held.
      """)

  @Option(help: "How many families.") var families: UInt64 = 1_000
  @Option(help: "Guardians in each family, 1 or 2.") var guardians = 2
  @Option(help: "Questions a second, of all families; with --ramp the first rate.")
  var rate: Double?
  @Option(help: "Seconds of load; with --ramp at each rate.") var seconds: Double?
  @Option(help: "Hours of load instead, with a line a minute.") var soak: Double?
  @Option(help: "What the latency of approvals must be, as p99=50ms.", transform: objective)
  var objective: Objective?
  @Flag(help: "Look for the highest rate that holds the objective.") var ramp = false
  @Option(
    help: "Weights of what happens, of \(Kind.allCases.map(\.rawValue).joined(separator: ", ")).",
    transform: mix)
  var mix = Mix(Mix.standard)!
  @Option(help: "Worker processes; by default one a core.") var workers: Int?
  @Option(help: "Fixes when who asks what.") var seed: UInt64 = 1
  @Option(help: "Families whose devices of one role share a connection.")
  var familiesPerConnection: UInt64 = 1_000
  @Option(help: "Families that one thread of a worker hosts.") var familiesPerHost: UInt64 = 2_500
  @Option(
    help:
      "Check the whole history of every n-th family; by default of as many as fit 2 million facts.")
  var checkEvery: UInt64?
  @Option(help: "Writes the report with its pictures to this HTML file.") var html: String?
  @Flag(help: "JSON instead of tables.") var json = false
  @Option(help: "A new folder for the run's files, which are kept; by default they are removed.")
  var directory: String?

  private static func objective(_ text: String) throws -> Objective {
    guard let objective = Objective(text) else {
      throw ValidationError("An objective looks like p99=50ms.")
    }
    return objective
  }

  private static func mix(_ text: String) throws -> Mix {
    guard let mix = Mix(text) else {
      throw ValidationError("A mix looks like \(Mix.standard).")
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
      throw ValidationError("--soak says how long already.")
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

  /// What cannot be written is said before the load, and not after it.
  private func checkWritable(_ path: String) throws {
    let file = URL(fileURLWithPath: path)
    var isFolder: ObjCBool = false
    let isThere = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
    let place = isThere ? file : file.deletingLastPathComponent()
    guard !isFolder.boolValue, access(place.path, W_OK) == 0 else {
      throw ValidationError("--html: cannot write \(file.path). Name a file in a folder of yours.")
    }
  }

  func run() async throws {
    let folder = try RunFolder(
      directory ?? "/tmp/pr-load-\(getpid())", isKept: directory != nil)
    defer { folder.remove() }
    // A worker that has ended is told of by its notes.
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
      // Workers would wait for what does not come any more.
      ChildProcesses.end()
      await load.stop()
      throw error
    }
    try report(results)
  }

  private var settings: Results.Settings {
    let rate = rate ?? 100
    let seconds = soak.map { $0 * 3_600 } ?? seconds ?? (ramp ? 5 : 10)
    // A ramp doubles the rate some times: what it will find is not known yet.
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
  /// - Throws: the exit code of a load that fails.
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
      if let html { print("\nWith pictures: \(html)") }
    }
    if results.isWrong { throw ExitCode(1) }
    if results.missesObjective { throw ExitCode(2) }
  }
}
