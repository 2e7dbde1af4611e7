import FamilyModel
import History
import Simulation
import TestThreads
import Testing

@testable import FamilyCore

/// Tests that loading a family from a snapshot equals loading its complete log.
@Suite(.ownThread) struct SnapshotTests {
  @Test(
    "X2: a snapshot at any event, with the later events, gives the same family as the complete log",
    arguments: 1...8 as ClosedRange<UInt64>)
  func cuts(_ seed: UInt64) throws {
    var logs: [FamilyID: [Event]] = [:]
    for case .stored(let family, let event) in Simulation.run(seed: seed).history.entries.map(
      \.fact)
    {
      logs[family, default: []].append(event)
    }
    #expect(!logs.isEmpty)
    for log in logs.values {
      for kept in [2, 64] {
        var states = [FamilyState(resultsKept: kept)]
        for event in log {
          var state = states.last!
          state.apply(event)
          states.append(state)
        }
        for (cut, state) in states.enumerated() {
          let bytes = try #require(state.snapshot)
          var heir = try #require(FamilyState(snapshot: bytes, resultsKept: kept))
          #expect(heir == state)
          for event in log[cut...] { heir.apply(event) }
          #expect(heir == states.last)
        }
      }
    }
  }
}
