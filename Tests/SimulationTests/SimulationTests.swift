import History
import Simulation
import Subprocess
import SystemPackage
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite struct SimulationTests {
  @Test("X2: no seed violates anything", arguments: 0..<8)
  func seeds(_ part: UInt64) async {
    for seed in (part * 10 + 1)...(part * 10 + 10) {
      let result = Simulation.run(seed: seed)
      #expect(
        result.violations.isEmpty,
        "\(result.violations); replay: swift run simulate --seed \(seed)")
      // Other tests wait for threads, too.
      await Task.yield()
    }
  }

  @Test("the runs are not empty: every kind of fact, questions, decisions, faults of every kind")
  func variety() async {
    var facts: Set<String> = []
    var faults: Set<Substring> = []
    for seed: UInt64 in 1...40 {
      await Task.yield()
      for entry in Simulation.run(seed: seed).history.entries {
        facts.insert(entry.fact.kind)
        if case .fault(let what) = entry.fact { faults.insert(what.prefix { $0 != "(" }) }
      }
    }
    let expected: Set<String> = [
      "issued", "acknowledged", "refused", "received", "applied", "decided", "restored", "forgot",
      "registered", "sent", "knows", "handled", "settled", "appForgot", "askedAge", "agreed",
      "ageTold", "holdsBirthdate", "remembersAge", "fault", "healed",
      "converged", "stored", "storeRead",
    ]
    #expect(facts == expected)
    #expect(
      faults.isSuperset(of: ["crash", "slow", "link", "cut", "full", "flip", "clock", "evict"]))
  }

  @Test("the same seed is the same run, in two processes")
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
    "a range of seeds has its last one; what is no range is refused",
    arguments: [("1-1", 0), ("2-1", 64), ("1..<3", 64), ("1", 64)])
  func seeds(_ text: String, _ code: Int32) async throws {
    let result = try await Subprocess.run(
      .path(FilePath(Self.program)), arguments: ["--seeds", text],
      output: .string(limit: 1 << 20), error: .discarded)
    #expect(result.terminationStatus == .exited(code))
    #expect(code != 0 || result.standardOutput.split(separator: "\n")[0].hasSuffix(" 1"))
  }

  @Test("another seed is another run, and fewer steps are another run")
  func differs() {
    let run = Simulation.run(seed: 21)
    #expect(run.trace == Simulation.run(seed: 21).trace)
    #expect(run.trace != Simulation.run(seed: 22).trace)
    #expect(run.trace != Simulation.run(seed: 21, keeping: [0, 1]).trace)
  }

  /// Beside the tests' bundle.
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
  /// The case's name.
  fileprivate var kind: String { String("\(self)".prefix { $0 != "(" }) }
}
