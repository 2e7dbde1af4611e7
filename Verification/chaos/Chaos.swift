import ArgumentParser
import Foundation
import ProcessCluster
import Processes

/// Injects faults into a cluster of real processes under a workload and checks the results.
@main
struct Chaos: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "chaos",
    abstract: "Inject faults into real processes under a workload and check the results.",
    usage: "chaos [--minutes <n>] [--seed <n>] [--faults <kinds>] …",
    discussion: "Build everything first: swift build -c release. All options: chaos run --help",
    subcommands: [Run.self, CrowdWorker.self, OrphanReaper.self],
    defaultSubcommand: Run.self)
}

struct Run: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run chaos once. The exit code is 1 after a violation.")
  @Option(help: "Minutes of faults; afterwards the system must converge.")
  var minutes = 5.0
  @Option(help: "The seed of the faults and of the people's actions.") var seed: UInt64 = 1
  @Option(help: "Number of families, each with two guardians and a child.") var families = 3
  @Option(help: "Number of further families that keep the relay busy, hosted by a few processes.")
  var crowd = 0
  @Option(help: "Actions per second of the crowd's people.") var rate = 1_500.0
  @Option(help: "Commands per second of the crowd; half of all seconds must have as many.")
  var floor = 0.0
  @Option(help: "Number of processes that host the crowd.") var workers = 2
  @Option(help: "Kinds of faults to inject, comma-separated (default: all but restored-copy).")
  var faults: String?
  @Option(help: "The mean seconds between the starts of two faults.") var pause = FaultPlan.pause
  @Option(help: "The folder for the cluster's files; an earlier cluster in it is removed.")
  var directory = "/tmp/permission-relay-chaos"
  @Option(help: "The folder for the report (default: `report` in the cluster's folder).")
  var report: String?
  @Option(
    help: "Inject a deliberate defect: \(Mutant.allCases.map(\.rawValue).joined(separator: ", ")).")
  var mutant: Mutant?
  @Option(
    help: "A folder with an earlier version's programs, which run in every second start.")
  var previous: String?
  @Option(help: "Seconds within which each recovery and the final convergence must end.")
  var patience = 120.0
  @Flag(help: "Print only the result, as JSON, on standard output.") var json = false

  func validate() throws {
    guard minutes > 0, families > 0 else {
      throw ValidationError("--minutes and --families must be above 0.")
    }
    guard crowd >= 0, floor >= 0, rate > 0, workers > 0, pause > 0 else {
      throw ValidationError(
        "--crowd and --floor must be 0 or more; --rate, --workers and --pause above 0.")
    }
    guard floor == 0 || crowd > 0 else { throw ValidationError("--floor needs --crowd.") }
    for name in faults?.split(separator: ",") ?? [] where Fault.Kind(rawValue: String(name)) == nil
    {
      throw ValidationError(
        "Unknown fault “\(name)”. Choose from \(Fault.Kind.allCases.map(\.rawValue).joined(separator: ", "))."
      )
    }
    for program in ["relay", "child-agent", "parent-agent"] {
      guard let folder = previous.map({ URL(fileURLWithPath: $0) }) else { break }
      let path = folder.appendingPathComponent(program).path
      guard FileManager.default.isExecutableFile(atPath: path) else {
        throw ValidationError("--previous: \(path) is no program. Build the earlier version there.")
      }
    }
    for program in ["relay", "relayctl", "child-agent", "parent-agent", "app-agent"]
      + ["libChaosShim.so"]
    {
      guard FileManager.default.fileExists(atPath: Layout.program(program)) else {
        throw ValidationError(
          "\(program) is not built. Build it in the same configuration: swift build [-c release].")
      }
    }
  }

  func run() async throws {
    let skipped = wantsNetem ? Netem.enter() : "not selected by --faults"
    let kinds = self.kinds.filter { $0 != .netem || Netem.isOn }
    let layout = Layout(directory)
    let plan = CrowdPlan(seed: seed, families: crowd, workers: workers)
    let run = ChaosRun(
      seed: seed, seconds: minutes * 60, families: families,
      crowd: crowd > 0 ? Crowd(plan: plan, rate: rate, layout: layout) : nil, kinds: kinds,
      pause: pause, layout: layout, mutant: mutant,
      versions: previous.map { Versions(previous: URL(fileURLWithPath: $0), seed: seed) },
      isQuiet: json, patience: patience, floor: floor)
    let work = Task { try await run.play() }
    let signals = Interrupts.handle { _ in work.cancel() }
    let ended: RunResult?
    do { ended = try await work.value } catch is CancellationError { ended = nil }
    guard var result = ended else {
      FileHandle.standardError.write(Data("Interrupted. All processes are stopped.\n".utf8))
      throw ExitCode(130)
    }
    withExtendedLifetime(signals) {}
    result.command = command
    if let skipped, wantsNetem { result.skipped = ["netem": skipped] }
    let folder = URL(fileURLWithPath: report ?? "\(directory)/report")
    try Report(result).write(to: folder)
    print(json ? try result.json() : Report(result).summary(folder))
    if result.hasFailed { throw ExitCode(1) }
  }

  private var kinds: [Fault.Kind] {
    faults?.split(separator: ",").compactMap { Fault.Kind(rawValue: String($0)) }
      ?? Fault.Kind.standard
  }

  private var wantsNetem: Bool { kinds.contains(.netem) }

  /// The command that repeats the run.
  private var command: String {
    var parts = ["swift run -c release chaos"]
    parts.append("--minutes \(minutes.formatted()) --seed \(seed) --families \(families)")
    if crowd > 0 {
      parts.append("--crowd \(crowd) --rate \(rate.formatted()) --workers \(workers)")
    }
    if floor > 0 { parts.append("--floor \(floor.formatted())") }
    if pause != FaultPlan.pause { parts.append("--pause \(pause.formatted())") }
    if patience != 120 { parts.append("--patience \(patience.formatted())") }
    if let faults { parts.append("--faults \(faults)") }
    if let previous { parts.append("--previous \(previous)") }
    if let mutant { parts.append("--mutant \(mutant.rawValue)") }
    return parts.joined(separator: " ")
  }
}

extension Double {
  fileprivate func formatted() -> String {
    self == rounded() ? "\(Int(self))" : "\(self)"
  }
}
