import History
import Simulation
import TestThreads
import Testing

/// Tests that a dishonest member achieves no more than its rights permit.
@Suite(.ownThread) struct MemberTests {
  @Test(
    "X2: no act of a dishonest member violates a checker",
    arguments: [Adversary.child, .guardian, .organizer, .adult, .removed])
  func seeds(_ adversary: Adversary) {
    var kinds: Set<String> = []
    for seed: UInt64 in 1...3 {
      let result = Simulation.run(seed: seed, adversary: adversary)
      #expect(
        result.violations.isEmpty,
        "\(result.violations); replay: simulate --seed \(seed) --byzantine \(adversary)")
      for entry in result.history.entries { kinds.insert(entry.fact.kind) }
    }
    #expect(kinds.isSuperset(of: ["dishonest", "forged", "verified"]))
  }

  @Test("the same seed and adversary give the same run")
  func deterministic() {
    let run = Simulation.run(seed: 3, adversary: .guardian)
    #expect(run.trace == Simulation.run(seed: 3, adversary: .guardian).trace)
    #expect(run.trace != Simulation.run(seed: 3, adversary: .child).trace)
  }
}

extension Fact {
  /// The name of the enum case.
  fileprivate var kind: String { String("\(self)".prefix { $0 != "(" }) }
}
