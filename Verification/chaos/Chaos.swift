import ArgumentParser
import Foundation
import ProcessCluster
import Processes

/// Breaks a cluster of real processes under a workload, and checks what comes of it.
@main
struct Chaos: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "chaos",
    abstract: "Real processes, real faults, and checkers that read what happened.",
    usage: "chaos [--minutes <n>] [--seed <n>] [--faults <kinds>] …",
    discussion: "Build everything first: swift build -c release. All options: chaos run --help",
    subcommands: [Run.self, OrphanReaper.self],
    defaultSubcommand: Run.self)
}

struct Run: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "One run. It ends with 1 when a checker finds a violation.")
  @Option(help: "Minutes of faults; then everything is healed, and has to converge.")
  var minutes = 5.0
  @Option(help: "What draws the faults and what people do.") var seed: UInt64 = 1
  @Option(help: "How many families; each has two guardians and a child.") var families = 3
  @Option(help: "Only these kinds of faults, with commas between them.") var faults: String?
  @Option(help: "The folder of the cluster's files; it is made anew.")
  var directory = "/tmp/permission-relay-chaos"
  @Option(help: "The folder of the report; by default `report` in the cluster's.")
  var report: String?
  @Option(help: "Make the system worse on purpose: \(Mutant.allCases.map(\.rawValue)).")
  var mutant: Mutant?
  @Option(help: "Seconds that a recovery, and at the end everything, may take.")
  var patience = 120.0
  @Flag(help: "Print the result as JSON, and nothing else on standard output.") var json = false

  func validate() throws {
    guard minutes > 0, families > 0 else {
      throw ValidationError("--minutes and --families are more than zero.")
    }
    for name in faults?.split(separator: ",") ?? [] where Fault.Kind(rawValue: String(name)) == nil
    {
      throw ValidationError(
        "There is no fault “\(name)”: \(Fault.Kind.allCases.map(\.rawValue).joined(separator: ", "))."
      )
    }
    for program in ["relay", "relayctl", "child-agent", "parent-agent", "app-agent"]
      + ["libChaosShim.so"]
    {
      guard FileManager.default.fileExists(atPath: Layout.program(program)) else {
        throw ValidationError(
          "\(program) is not built: swift build -c release (or without -c release, as this is).")
      }
    }
  }

  func run() async throws {
    let skipped = wantsNetem ? Netem.enter() : "not among --faults"
    let kinds = self.kinds.filter { $0 != .netem || Netem.isOn }
    let run = ChaosRun(
      seed: seed, seconds: minutes * 60, families: families, kinds: kinds,
      layout: Layout(directory), mutant: mutant, isQuiet: json, patience: patience)
    let work = Task { try await run.play() }
    let signals = Interrupts.handle { _ in work.cancel() }
    let ended: RunResult?
    do { ended = try await work.value } catch is CancellationError { ended = nil }
    guard var result = ended else {
      FileHandle.standardError.write(Data("Interrupted; everything is stopped.\n".utf8))
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
      ?? Fault.Kind.allCases
  }

  private var wantsNetem: Bool { kinds.contains(.netem) }

  /// What repeats the run.
  private var command: String {
    var words = ["swift run -c release chaos"]
    words.append("--minutes \(minutes.formatted()) --seed \(seed) --families \(families)")
    if let faults { words.append("--faults \(faults)") }
    if let mutant { words.append("--mutant \(mutant.rawValue)") }
    return words.joined(separator: " ")
  }
}

extension Double {
  fileprivate func formatted() -> String {
    self == rounded() ? "\(Int(self))" : "\(self)"
  }
}
