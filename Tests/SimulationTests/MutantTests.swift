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
      (.cursorTransaction, "one order for everybody", 1...60),
      (.firstAnswer, "one decision per question", 1...30),
      (.subscriptionCheck, "no event outside its audience", 1...60),
      (.deviceFsync, "nothing is applied twice", 1...100),
      (.outbox, "everything arrives after the healing", 1...60),
    ])
  func mutants(_ mutant: Mutant, _ checker: String, _ seeds: ClosedRange<UInt64>) {
    #expect(firstSeed(mutant, checker, in: seeds) != nil, "\(mutant)")
  }

  @Test("a violation shrinks to fewer steps, which violate the same") func shrinks() throws {
    let seed = try #require(
      firstSeed(.firstAnswer, "one decision per question", in: 1...60))
    let whole = Simulation.run(seed: seed, without: .firstAnswer)
    let shrunk = Simulation.shrink(whole, without: .firstAnswer)
    #expect(shrunk.steps < whole.steps)
    #expect(shrunk.steps <= 12)
    let again = Simulation.run(seed: seed, keeping: shrunk.kept, without: .firstAnswer)
    #expect(again.trace == shrunk.trace)
    #expect(!again.violations.isEmpty)
  }
}
