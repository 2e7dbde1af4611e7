import History
import Simulation
import Subprocess
import SystemPackage
import TestThreads
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite(.ownThread) struct SimulationTests {
  @Test("X2: no seed violates a checker", arguments: 0..<8)
  func seeds(_ part: UInt64) {
    for seed in (part * 10 + 1)...(part * 10 + 10) {
      let result = Simulation.run(seed: seed)
      #expect(
        result.violations.isEmpty,
        "\(result.violations); replay: swift run simulate --seed \(seed)")
    }
  }

  // A family of 256 devices takes minutes without optimization: `simulate --scale devices` runs it.
  @Test(
    "no seed at a limit violates a checker",
    arguments: [(Scale.history, UInt64(3)), (.flood, 1), (.years, 20)])
  func scales(_ scale: Scale, _ seeds: UInt64) {
    for seed in 1...seeds {
      let result = Simulation.run(seed: seed, scale: scale)
      #expect(result.violations.isEmpty, "\(result.violations); \(scale), seed \(seed)")
    }
  }

  @Test("the runs contain every kind of fact and fault, and reach most rare paths")
  func variety() {
    var facts: Set<String> = []
    var faults: Set<Substring> = []
    var runsOfProbes: [Probe: Int] = [:]
    for seed: UInt64 in 1...40 {
      let run = Simulation.run(seed: seed)
      for probe in run.probes { runsOfProbes[probe, default: 0] += 1 }
      for entry in run.history.entries {
        facts.insert(entry.fact.kind)
        if case .fault(let what) = entry.fact { faults.insert(what.prefix { $0 != "(" }) }
      }
    }
    let expected: Set<String> = [
      "issued", "acknowledged", "refused", "received", "applied", "decided", "restored",
      "lostState",
      "registered", "sent", "names", "knows", "handled", "consumed", "appLostState", "requestedAge",
      "consented",
      "ageShared", "holdsBirthdate", "remembersAge", "fault", "healed",
      "converged", "stored", "storeRead", "belongs", "signs", "approves", "holdsRoster", "holds",
      "views", "relayViews", "guessed", "guessesReset",
    ]
    #expect(facts == expected)
    #expect(
      faults.isSuperset(of: ["crash", "slow", "link", "cut", "disk", "flip", "clock", "evict"]))
    // Long runs of `simulate` must reach all of them.
    let often: Set<Probe> = [
      .relayCrashesInCommit, .relayDiskFull, .relayDiskDamaged, .relayClockSetBack, .familyLoaded,
      .resultLookedUp, .republished, .pageContinues, .deviceCrashesInTurn, .deviceReset,
      .outboxRestored, .deviceStartsFromSnapshot, .snapshotOfRunningDevice, .presenceAnnounced,
      .subscribedAgain, .keysShared,
      .appLaunched, .appReset,
    ]
    #expect(often.isSubset(of: runsOfProbes.keys), "\(runsOfProbes)")
    let rare = Set(Probe.allCases).subtracting(often)
    for probe in rare { #expect(runsOfProbes[probe] ?? 0 < 40, "\(probe) is not rare") }
  }

  @Test("the same seed gives the same run in two processes")
  func deterministic() async throws {
    var outputs: [String] = []
    for _ in 0..<2 {
      let result = try await Subprocess.run(
        .path(FilePath(Self.program)), arguments: ["--seed", "21", "--history"],
        output: .string(limit: 16 << 20), error: .discarded)
      #expect(result.terminationStatus == .exited(0))
      outputs.append(result.standardOutput)
    }
    #expect(outputs[0].contains("trace "))
    #expect(outputs[0] == outputs[1])
  }

  @Test(
    "accepts inclusive ranges of seeds and rejects invalid ones",
    arguments: [("1-1", 0), ("2-1", 64), ("1..<3", 64), ("1", 64)])
  func seeds(_ text: String, _ code: Int32) async throws {
    let result = try await Subprocess.run(
      .path(FilePath(Self.program)), arguments: ["--seeds", text],
      output: .string(limit: 1 << 20), error: .discarded)
    #expect(result.terminationStatus == .exited(code))
    #expect(code != 0 || result.standardOutput.split(separator: "\n")[0].hasSuffix(" 1"))
  }

  @Test("another seed or fewer steps give another run")
  func differs() {
    let run = Simulation.run(seed: 21)
    #expect(run.trace == Simulation.run(seed: 21).trace)
    #expect(run.trace != Simulation.run(seed: 22).trace)
    #expect(run.trace != Simulation.run(seed: 21, keeping: [0, 1]).trace)
  }

  /// The program in the test bundle's folder.
  private static var program: String {
    var path = CommandLine.arguments[0].split(separator: "/", omittingEmptySubsequences: false)
    if let end = path.lastIndex(where: { $0 == "debug" || $0 == "release" }) {
      path = Array(path[...end])
    } else {
      path.removeLast()
    }
    return path.joined(separator: "/") + "/simulate"
  }
}

extension Fact {
  /// The name of the enum case.
  fileprivate var kind: String { String("\(self)".prefix { $0 != "(" }) }
}
