import Foundation
import RelayPipeline
import TestThreads
import Testing

/// The threads of the relay's pipeline in many orders: workers of two shards, commits, and the socket
/// thread.
@Suite(.ownThread) struct InterleavingTests {
  /// The orders in which each defect must be found.
  private static let bound: UInt64 = 1_000

  @Test("X2: no order of the threads loses, repeats or reorders a request or sends it too early")
  func orders() {
    for seed in 1...UInt64(400) {
      #expect(Exploration(seed: seed).run().violations == [], "seed \(seed)")
    }
  }

  @Test("X2: no order of the threads sends anything of a commit that fails, or later")
  func failures() {
    for seed in 1...UInt64(200) {
      let run = Exploration(seed: seed, failing: 1 + Int(seed % 5)).run()
      #expect(run.violations == [], "seed \(seed)")
    }
  }

  @Test("an order shows each defect", arguments: PipelineDefect.allCases)
  func defects(_ defect: PipelineDefect) {
    let found = (1...Self.bound).first { seed in
      let failing = defect == .failedReplies ? 1 + Int(seed % 5) : nil
      return !Exploration(seed: seed, defect: defect, failing: failing).run().violations.isEmpty
    }
    #expect(found != nil)
  }

  @Test("the page about the simulator lists each defect")
  func table() throws {
    let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../docs/Simulation.md")
    let listed = try String(contentsOf: page, encoding: .utf8)
      .matches(of: /\| [^|]* \(`([a-zA-Z]+)`\) \| (\d+) \|\n/)
    #expect(Set(listed.map { String($0.1) }) == Set(PipelineDefect.allCases.map { "\($0)" }))
    #expect(listed.allSatisfy { UInt64($0.2)! <= Self.bound })
  }

  @Test("a seed determines the order") func deterministic() {
    for seed in 1...UInt64(20) {
      let (first, second) = (Exploration(seed: seed).run(), Exploration(seed: seed).run())
      #expect(first.points == second.points && first.points > 50)
    }
  }
}
