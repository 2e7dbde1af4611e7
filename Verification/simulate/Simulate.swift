public import ArgumentParser
import Foundation
import History
public import Simulation

/// Runs the whole system on virtual time under injected faults.
@main
struct Simulate: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run families, devices, apps and the relay on virtual time under injected faults.",
    discussion: """
      A seed determines its run. A violating run is shrunk to few steps, and the command that repeats it is \
      printed. The exit code is 1 if a checker finds a violation. With 10,000 seeds or more it is also 1 if no \
      run reaches one of the rare paths.
      """)

  /// Seeds of honest runs that must reach every rare path.
  private static let probedRuns = 10_000

  @Option(help: "Run this seed.") var seed: UInt64?
  @Option(help: "Run a range of seeds, for example 1-1000.") var seeds: SeedRange?
  @Option(help: "The number of parallel runs.") var jobs = 1
  @Option(help: "With --seed: run only these steps, for example 3,17,42.")
  var keep: StepList?
  @Option(help: "Disable a safeguard; a checker must find the defect.")
  var without: Mutant?
  @Option(help: "Make a participant dishonest until the healing.")
  var byzantine: Adversary?
  @Option(help: "Reach a limit.") var scale: Scale?
  @Flag(help: "Do not shrink violating runs.") var noShrink = false
  @Flag(help: "With --seed: print the history.") var history = false
  @Flag(help: "Print JSON.") var json = false

  func validate() throws {
    guard (seed == nil) != (seeds == nil) else {
      throw ValidationError("Pass either --seed or --seeds.")
    }
    guard jobs >= 1 else { throw ValidationError("--jobs is at least 1.") }
  }

  func run() async throws {
    if let seed { try runSeed(seed) } else { try await runRange(seeds!.range) }
  }

  private func runSeed(_ seed: UInt64) throws {
    let result = Simulation.run(
      seed: seed, keeping: keep?.steps, without: without, adversary: byzantine, scale: scale)
    if history {
      for entry in result.history.entries { print("\(entry.at.milliseconds) \(entry.fact)") }
    }
    var totals = Totals()
    totals.add(result)
    if json {
      print(try totals.json(trace: result.trace))
    } else {
      print(
        """
        seed \(seed): \(String(format: "%.1f", result.familyDays)) family-days, \(result.steps) steps including \
        \(result.faults) faults, \(result.events) events
        trace \(String(result.trace.value, radix: 16))
        """)
      if result.violations.isEmpty { print("No violations.") }
    }
    if !result.violations.isEmpty { report(result) }
    if totals.violated > 0 { throw ExitCode.failure }
  }

  private func runRange(_ range: Range<UInt64>) async throws {
    let clock = ContinuousClock()
    let start = clock.now
    var totals = Totals()
    var lastProgress = start
    let (mutant, adversary, scale, jobs) = (without, byzantine, scale, jobs)
    await withTaskGroup(of: Simulation.Result.self) { group in
      var next = range.lowerBound
      func add() {
        guard next < range.upperBound else { return }
        let seed = next
        next += 1
        group.addTask {
          var result = Simulation.run(
            seed: seed, without: mutant, adversary: adversary, scale: scale)
          // Drop the histories of good runs: a hundred thousand would fill the memory.
          if result.violations.isEmpty { result.history = History() }
          return result
        }
      }
      for _ in 0..<(2 * jobs) { add() }
      for await result in group {
        totals.add(result)
        if !result.violations.isEmpty, totals.violated <= 5 { report(result) }
        if clock.now - lastProgress > .seconds(10) {
          lastProgress = clock.now
          note("\(totals.runs) of \(range.count) runs, \(totals.violated) violated")
        }
        add()
      }
    }
    totals.seconds = (clock.now - start) / .seconds(1)
    print(json ? try totals.json(trace: nil) : totals.table)
    let mustReachAll =
      mutant == nil && adversary == nil && scale == nil
      && totals.runs >= Self.probedRuns
    for probe in mustReachAll ? totals.unreached : [] { note("NEVER REACHED: \(probe.rawValue)") }
    if totals.violated > 0 || mustReachAll && !totals.unreached.isEmpty { throw ExitCode.failure }
  }

  /// Prints the violations, shrunk to few steps, and the command that repeats them.
  private func report(_ result: Simulation.Result) {
    let shrunk = noShrink ? result : Simulation.shrink(result, without: without)
    note("VIOLATED, seed \(result.seed)")
    for (name, verdict) in shrunk.violations { note("  \(name): \(verdict)") }
    if !noShrink {
      for line in Simulation.describe(
        seed: result.seed, keeping: shrunk.kept, adversary: byzantine, scale: scale)
      { note("  \(line)") }
    }
    var line = "swift run -c release simulate --seed \(result.seed)"
    if let kept = shrunk.kept { line += " --keep \(StepList(steps: kept))" }
    if let without { line += " --without \(without.rawValue)" }
    if let byzantine { line += " --byzantine \(byzantine.rawValue)" }
    if let scale { line += " --scale \(scale.rawValue)" }
    note("  replay: \(line)")
  }

  private func note(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }
}

extension Mutant: ExpressibleByArgument {}
extension Adversary: ExpressibleByArgument {}
extension Scale: ExpressibleByArgument {}

/// A range of seeds in the form `first-last`, which needs no quoting in a shell.
struct SeedRange: ExpressibleByArgument {
  let range: Range<UInt64>
  init?(argument: String) {
    let parts = argument.split(separator: "-", omittingEmptySubsequences: false)
      .map { UInt64($0) }
    guard parts.count == 2, let first = parts[0], let last = parts[1], first <= last,
      last < .max
    else { return nil }
    range = first..<last + 1
  }
}

/// A comma-separated list of step indices.
struct StepList: ExpressibleByArgument, CustomStringConvertible {
  var steps: [Int]
  var description: String {
    steps.isEmpty ? "none" : steps.map(String.init).joined(separator: ",")
  }
  init(steps: [Int]) { self.steps = steps }
  init?(argument: String) {
    let numbers = argument.split(separator: ",").filter { $0 != "none" }.map { Int($0) }
    guard numbers.allSatisfy({ $0 != nil }) else { return nil }
    self.init(steps: numbers.compactMap { $0 })
  }
}
