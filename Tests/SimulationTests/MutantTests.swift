import Foundation
import Simulation
import TestThreads
import Testing

/// A disabled safeguard, and the checkers that find it within a number of seeds.
struct MutantRow {
  var mutant: Mutant
  var adversary: Adversary?
  var checkers: Set<String>
  var seeds: UInt64

  init(_ mutant: Mutant, by adversary: Adversary? = nil, _ checkers: [String], _ seeds: UInt64) {
    (self.mutant, self.adversary, self.seeds) = (mutant, adversary, seeds)
    self.checkers = Set(checkers)
  }

  /// The rows of the table in `docs/Simulation.md`.
  static let all: [MutantRow] = [
    MutantRow(.fsync, ["one order for everybody", "nothing acknowledged is lost"], 60),
    MutantRow(.syncError, ["nothing acknowledged is lost", "one order for everybody"], 200),
    MutantRow(.dedupe, ["nothing is applied twice"], 20),
    MutantRow(.snapshotTail, ["one order for everybody", "nothing acknowledged is lost"], 20),
    MutantRow(.cursorTransaction, ["one order for everybody"], 60),
    MutantRow(
      .firstAnswer, ["one decision per question", "nothing without the right to it"], 60),
    MutantRow(.subscriptionCheck, ["no event outside its audience"], 60),
    MutantRow(.deviceFsync, ["one order for everybody", "nothing is applied twice"], 100),
    MutantRow(.deviceSnapshot, ["no promise is broken"], 60),
    MutantRow(.outbox, ["everything arrives after the healing"], 60),
    MutantRow(.clockSetBack, ["everything arrives after the healing"], 100),
    MutantRow(
      .settings, ["one truth at rest", "one order for everybody", "no promise is broken"], 60),
    MutantRow(.eviction, ["no promise is broken"], 60),
    MutantRow(.acknowledgement, ["no promise is broken"], 60),
    MutantRow(.guessCount, ["guesses of the passcode are bounded"], 60),
    MutantRow(
      .signatures, by: .relay,
      ["no statement forged or repeated", "nobody returns, and no stranger enters"], 40),
    MutantRow(.ageConsent, ["no age but what was declared"], 20),
    MutantRow(.webMessages, ["no promise is broken"], 60),
    MutantRow(.activityMoments, ["no promise is broken"], 60),
    MutantRow(.signatures, by: .child, ["nothing dishonest counts"], 20),
    MutantRow(.seals, by: .child, ["nothing dishonest counts"], 20),
    MutantRow(.contents, by: .child, ["nothing dishonest counts"], 20),
  ]
}

/// Tests that the checkers find each mutant, and that `docs/Simulation.md` lists them.
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

  @Test("the checkers find each disabled safeguard", arguments: MutantRow.all)
  func mutants(_ row: MutantRow) {
    var missing = row.checkers
    for seed in 1...row.seeds where !missing.isEmpty {
      let run = Simulation.run(seed: seed, without: row.mutant, adversary: row.adversary)
      missing.subtract(run.violations.map(\.name))
    }
    #expect(missing.isEmpty, "\(row.mutant)")
  }

  @Test("the page about the simulator lists each mutant with its checkers")
  func table() throws {
    let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../docs/Simulation.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    #expect(text.contains("`Probe` names \(Probe.allCases.count) rare paths"))
    var listed: [String: Set<String>] = [:]
    for line in text.split(separator: "\n") {
      // | safeguard (`mutant`, with `--byzantine adversary`) | first seed | checkers |
      guard
        let row = line.wholeMatch(
          of: /\| .* \(`([a-z-]+)`(?:, with `--byzantine ([a-z]+)`)?\) \| \d+ \| (.*) \|/)
      else { continue }
      listed["\(row.1) \(row.2 ?? "")", default: []]
        .formUnion(row.3.split(separator: "; ").map(String.init))
    }
    var tested: [String: Set<String>] = [:]
    for row in MutantRow.all {
      tested["\(row.mutant.rawValue) \(row.adversary?.rawValue ?? "")"] = row.checkers
    }
    #expect(listed == tested)
    #expect(Set(MutantRow.all.map(\.mutant)) == Set(Mutant.allCases))
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
