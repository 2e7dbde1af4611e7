public import FamilyModel
public import History

/// Runs the whole system on virtual time. A seed determines its run.
public enum Simulation {
  /// The outcome of a run.
  public struct Result: Sendable {
    /// The seed of the run.
    public var seed: UInt64
    /// The indices of the steps that ran; `nil` for all.
    public var kept: [Int]?
    /// The dishonest participant, if any.
    public var adversary: Adversary?
    /// The limit that the scenario reached; `nil` for none.
    public var scale: Scale?
    /// A hash of the run: equal for repeated runs.
    public var trace: TraceHash
    /// Each checker's verdict, by the checker's name.
    public var verdicts: [(name: String, verdict: Verdict)]
    /// All recorded facts.
    public var history: History
    /// The number of families times the days until healing.
    public var familyDays: Double
    /// The number of steps that ran.
    public var steps: Int
    /// The number of these steps that are faults.
    public var faults: Int
    /// The number of events in the relay's logs at the end.
    public var events: Int
    /// The number of dispatched events: messages, timers, starts.
    public var dispatchedEvents: Int
    /// The rare paths that the run reached.
    public var probes: Set<Probe>
    /// Virtual time from the healing to convergence.
    public var recovery: Milliseconds

    /// Whether the run reached its event limit. Without the steps that take devices offline a run
    /// may become too long; its violations then prove nothing.
    public var isCutShort: Bool

    /// The verdicts other than `ok`, by checker.
    public var violations: [(name: String, verdict: Verdict)] {
      verdicts.filter { if case .ok = $0.verdict { false } else { true } }
    }
  }

  /// Runs the seed's scenario.
  ///
  /// - Parameters:
  ///   - kept: The indices of the steps to run; `nil` for all.
  ///   - mutant: The safeguard to disable.
  ///   - adversary: The dishonest participant; `nil` for none.
  ///   - scale: The limit that the scenario reaches; `nil` for none.
  public static func run(
    seed: UInt64, keeping kept: [Int]? = nil, without mutant: Mutant? = nil,
    adversary: Adversary? = nil, scale: Scale? = nil
  ) -> Result {
    var scenario = Scenario(seed: seed, adversary: adversary, scale: scale)
    if let kept {
      scenario.steps = kept.filter(scenario.steps.indices.contains).map { scenario.steps[$0] }
    }
    let world = World(scenario, mutant: mutant, adversary: adversary)
    world.run()
    return Result(
      seed: seed, kept: kept, adversary: adversary, scale: scale, trace: world.trace,
      verdicts: world.history.verdicts(
        of: (adversary?.checkers
          ?? History.checkers + History.truthCheckers + History.orderCheckers
          + [PromisesKept()])
          // Ages are judged by the time, which is years off here.
          .filter { scale != .years || !($0 is AgesDeclared) }),
      history: world.history,
      familyDays: Double(scenario.families) * Double(scenario.healing.count)
        / Double(Milliseconds.days(1).count),
      steps: scenario.steps.count, faults: scenario.steps.count(where: \.act.isFault),
      events: world.relay.disk.families.values.reduce(0) { $0 + $1.events.count },
      dispatchedEvents: world.dispatchedEvents, probes: world.probes,
      recovery: (world.end ?? .zero) - scenario.healing,
      isCutShort: world.dispatchedEvents >= world.maxEvents)
  }

  /// Shrinks a violating run: removes halves, quarters, … and single steps while one of the
  /// violated checkers still fails.
  ///
  /// - Returns: The smallest run found.
  public static func shrink(_ result: Result, without mutant: Mutant? = nil) -> Result {
    let names = Set(result.violations.map(\.name))
    var best = result
    var kept =
      result.kept
      ?? Array(
        Scenario(
          seed: result.seed, adversary: result.adversary, scale: result.scale
        ).steps.indices)
    var size = max(1, kept.count / 2)
    while true {
      var start = 0
      var isSmaller = false
      while start < kept.count {
        let fewer = Array(kept[..<start] + kept[min(kept.count, start + size)...])
        let next = run(
          seed: result.seed, keeping: fewer, without: mutant, adversary: result.adversary,
          scale: result.scale)
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

  /// Describes the steps of a scenario, one per line.
  ///
  /// - Parameters:
  ///   - kept: The indices of the steps; `nil` for all.
  ///   - adversary: The dishonest participant; `nil` for none.
  ///   - scale: The limit that the scenario reaches; `nil` for none.
  public static func describe(
    seed: UInt64, keeping kept: [Int]?, adversary: Adversary? = nil, scale: Scale? = nil
  ) -> [String] {
    let scenario = Scenario(seed: seed, adversary: adversary, scale: scale)
    return (kept ?? Array(scenario.steps.indices)).filter(scenario.steps.indices.contains).map {
      let step = scenario.steps[$0]
      return "\(step.at) ms: \(step.act)"
    }
  }
}
