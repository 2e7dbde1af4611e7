import Simulation
import Testing

/// Without a safeguard something is violated, and it is found. `docs/Simulation.md` has the table.
@Suite struct MutantTests {
  /// The first seed at which this checker finds the mutant, if one of the first so many does.
  private func firstSeed(_ mutant: Mutant, _ checker: String, most: UInt64) -> UInt64? {
    (1...most).first { seed in
      Simulation.run(seed: seed, without: mutant).violations.contains { $0.name == checker }
    }
  }

  @Test(
    "every safeguard is missed when it is off",
    arguments: [
      (Mutant.fsync, "nothing acknowledged is lost", UInt64(200)),
      (.dedupe, "nothing is applied twice", 60),
      (.cursorTransaction, "one order for everybody", 100),
      (.firstAnswer, "one decision per question", 60),
      (.subscriptionCheck, "no event outside its audience", 200),
      (.deviceFsync, "everything arrives after the healing", 200),
      (.outbox, "everything arrives after the healing", 200),
    ])
  func mutants(_ mutant: Mutant, _ checker: String, _ most: UInt64) {
    #expect(firstSeed(mutant, checker, most: most) != nil, "\(mutant)")
  }

  @Test("a violation shrinks to fewer steps, which violate the same") func shrinks() throws {
    let seed = try #require(
      firstSeed(.firstAnswer, "one decision per question", most: 60))
    let whole = Simulation.run(seed: seed, without: .firstAnswer)
    let shrunk = Simulation.shrink(whole, without: .firstAnswer)
    #expect(shrunk.steps < whole.steps)
    #expect(shrunk.steps <= 12)
    let again = Simulation.run(seed: seed, keeping: shrunk.kept, without: .firstAnswer)
    #expect(again.trace == shrunk.trace)
    #expect(!again.violations.isEmpty)
  }
}
