import Simulation
import Testing

/// Without a safeguard something is violated, and it is found. `docs/Simulation.md` has the table.
@Suite struct MutantTests {
  /// The first of the seeds at which this checker finds the mutant.
  private func firstSeed(_ mutant: Mutant, _ checker: String, in seeds: ClosedRange<UInt64>)
    -> UInt64?
  {
    seeds.first { seed in
      Simulation.run(seed: seed, without: mutant).violations.contains { $0.name == checker }
    }
  }

  @Test(
    "every safeguard is missed when it is off",
    arguments: [
      (Mutant.fsync, "nothing acknowledged is lost", UInt64(24)...60),
      (.dedupe, "nothing is applied twice", 1...20),
      (.cursorTransaction, "one order for everybody", 20...60),
      (.firstAnswer, "one decision per question", 4...30),
      (.subscriptionCheck, "no event outside its audience", 1...60),
      (.deviceFsync, "nothing is applied twice", 30...100),
      (.outbox, "everything arrives after the healing", 7...60),
    ])
  func mutants(_ mutant: Mutant, _ checker: String, _ seeds: ClosedRange<UInt64>) {
    #expect(firstSeed(mutant, checker, in: seeds) != nil, "\(mutant)")
  }
}
