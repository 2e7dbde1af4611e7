import FamilyModel
public import History

/// Runs of the whole system on virtual time. A seed stands for one run, and for always the same one.
public enum Simulation {
  /// What came of a run.
  public struct Result: Sendable {
    /// The run's seed.
    public var seed: UInt64
    /// The steps that were left in; `nil`: all.
    public var kept: [Int]?
    /// A number that stands for everything that happened.
    public var trace: TraceHash
    /// What the checkers say, by their names.
    public var verdicts: [(name: String, verdict: Verdict)]
    /// What happened, for those who want to look.
    public var history: History
    /// Families times days.
    public var familyDays: Double
    /// Steps of the scenario that were run.
    public var steps: Int
    /// Of these, faults.
    public var faults: Int
    /// Events in the relay's log at the end.
    public var events: Int
    /// How many things happened to processes: messages, timers, starts.
    public var happenings: Int
    /// Milliseconds of virtual time from the healing until everything was at rest.
    public var recovery: Int64

    /// Whether it was stopped before all was at rest. Without the steps that take devices off line a run may
    /// be too long, and what is violated then shows nothing.
    public var isCutShort: Bool { happenings >= World.mostHappenings }

    /// What is violated: the checker and what it says.
    public var violations: [(name: String, verdict: Verdict)] {
      verdicts.filter { if case .ok = $0.verdict { false } else { true } }
    }
  }

  /// Runs the seed's scenario.
  ///
  /// - Parameters:
  ///   - kept: The steps to run, by their places; `nil`: all.
  ///   - mutant: A safeguard to do without.
  public static func run(seed: UInt64, keeping kept: [Int]? = nil, without mutant: Mutant? = nil)
    -> Result
  {
    var scenario = Scenario(seed: seed)
    if let kept {
      scenario.steps = kept.filter(scenario.steps.indices.contains).map { scenario.steps[$0] }
    }
    let world = World(scenario, mutant: mutant)
    world.run()
    return Result(
      seed: seed, kept: kept, trace: world.trace, verdicts: world.history.verdicts(),
      history: world.history,
      familyDays: Double(scenario.families) * Double(scenario.healing) / Double(Scenario.day),
      steps: scenario.steps.count, faults: scenario.steps.count(where: \.act.isFault),
      events: world.relay.disk.families.values.reduce(0) { $0 + $1.events.count },
      happenings: world.happenings,
      recovery: (world.end ?? 0) - scenario.healing)
  }

  /// The same violation in fewer steps: leaves out halves, quarters, … and single ones, while one of the
  /// checkers that are violated still is.
  public static func shrink(_ result: Result, without mutant: Mutant? = nil) -> Result {
    let names = Set(result.violations.map(\.name))
    var best = result
    var kept = result.kept ?? Array(Scenario(seed: result.seed).steps.indices)
    var size = max(1, kept.count / 2)
    while true {
      var start = 0
      var isSmaller = false
      while start < kept.count {
        let fewer = Array(kept[..<start] + kept[min(kept.count, start + size)...])
        let next = run(seed: result.seed, keeping: fewer, without: mutant)
        if result.isCutShort || !next.isCutShort,
          next.violations.contains(where: { names.contains($0.name) })
        {
          (best, kept, isSmaller) = (next, fewer, true)
        } else {
          start += size
        }
      }
      if size == 1, !isSmaller { return best }
      size = max(1, size / 2)
    }
  }

  /// The scenario's steps in words, one a line: those that `kept` names.
  public static func describe(seed: UInt64, keeping kept: [Int]?) -> [String] {
    let scenario = Scenario(seed: seed)
    return (kept ?? Array(scenario.steps.indices)).filter(scenario.steps.indices.contains).map {
      let step = scenario.steps[$0]
      return "\(step.at) ms: \(step.act)"
    }
  }
}
