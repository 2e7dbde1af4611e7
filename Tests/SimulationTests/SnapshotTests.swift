import FamilyModel
import History
import Simulation
import Testing

@testable import FamilyCore

/// A family that is read from its snapshot is the one that its whole history makes.
@Suite struct SnapshotTests {
  @Test(
    "X2: a snapshot and the events after it make the same family as all of them, wherever it was taken",
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
