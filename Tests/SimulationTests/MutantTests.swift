import Simulation
import TestThreads
import Testing

/// Tests that a checker finds each mutant. `docs/Simulation.md` lists them.
@Suite(.ownThread) struct MutantTests {
  /// The first run from seed 1 in which this checker finds the mutant; `nil` without one.
  private func first(_ mutant: Mutant, _ checker: String, within seeds: UInt64)
    -> Simulation.Result?
  {
    for seed in 1...seeds {
      let result = Simulation.run(seed: seed, without: mutant)
      if result.violations.contains(where: { $0.name == checker }) { return result }
    }
    return nil
  }

  @Test(
    "a checker finds each disabled safeguard",
    arguments: [
      (Mutant.fsync, "nothing acknowledged is lost", UInt64(60)),
      (.syncError, "nothing acknowledged is lost", 200),
      (.dedupe, "nothing is applied twice", 20),
      (.snapshotTail, "nothing acknowledged is lost", 20),
      (.cursorTransaction, "one order for everybody", 60),
      (.firstAnswer, "one decision per question", 60),
      (.subscriptionCheck, "no event outside its audience", 60),
      (.deviceFsync, "nothing is applied twice", 100),
      (.outbox, "everything arrives after the healing", 60),
      (.clockSetBack, "everything arrives after the healing", 100),
      (.settings, "one truth at rest", 60), (.settings, "no promise is broken", 60),
      (.acknowledgement, "no promise is broken", 60),
      (.deviceSnapshot, "no promise is broken", 60),
      (.eviction, "no promise is broken", 60),
      (.guessCount, "guesses of the passcode are bounded", 60),
      (.ageConsent, "no age but what was declared", 20),
      (.webMessages, "no promise is broken", 60),
      (.activityMoments, "no promise is broken", 60),
    ])
  func mutants(_ mutant: Mutant, _ checker: String, _ seeds: UInt64) {
    #expect(first(mutant, checker, within: seeds) != nil, "\(mutant)")
  }

  @Test(
    "shrinks a violating run to a minimal set of steps with the same violation"
  )
  func shrink() throws {
    let checker = "no event outside its audience"
    let found = try #require(first(.subscriptionCheck, checker, within: 60))
    let small = Simulation.shrink(found, without: .subscriptionCheck)
    let kept = try #require(small.kept)
    #expect(kept.count < found.steps)
    func isViolated(_ steps: [Int]) -> Bool {
      let run = Simulation.run(seed: found.seed, keeping: steps, without: .subscriptionCheck)
      return !run.isCutShort
        && run.violations.contains { violation in
          found.violations.contains { $0.name == violation.name }
        }
    }
    #expect(isViolated(kept))
    for index in kept.indices {
      var fewer = kept
      fewer.remove(at: index)
      #expect(!isViolated(fewer))
    }
    #expect(Simulation.describe(seed: found.seed, keeping: kept).count == kept.count)
  }
}
