import ArgumentParser
import Foundation
import PermissionKit
import Processes

/// Measures the whole and its parts in one run: what counts is their ratio.
@main
struct Bench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench", abstract: "Measures approvals against the cost of their parts.",
    discussion: "Build everything first: swift build -c release",
    subcommands: [
      RelayBench.self, Latency.self, Overload.self, Scale.self, Sockets.self, TrustBench.self,
      PlainRelay.self,
    ])
}

/// Where prompts appear: nowhere.
struct Nowhere: PresentationAnchor {}

/// One approval at a time on an idle machine, through real processes.
struct Latency: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "The time of one approval, and of the ZeroMQ hops and fsyncs that it waits for.",
    discussion: "Build everything first: swift build -c release")
  @Option(help: "How many times whole and parts take turns.") var rounds = 5
  @Option(help: "How many approvals are measured in each.") var approvals = 200
  @Option(help: "How many come before, and are not.") var warmUp = 50

  func validate() throws {
    guard rounds >= 1, approvals >= 1, warmUp >= 0 else {
      throw ValidationError("--rounds and --approvals are 1 or more, --warm-up is 0 or more.")
    }
  }

  func run() async throws {
    let run = try RunFolder("/tmp/pr-bench-\(getpid())")
    defer { run.remove() }
    let folder = run.url
    print("starting a relay and a family as processes …")
    let cluster = try ClusterProcess(folder)
    defer { cluster.stop() }
    try await cluster.waitUntilReady()
    setenv("PERMISSION_RELAY_DEVICE", cluster.credential.path, 1)

    // In turns, since a shared machine is now fast and now slow.
    let parts = try Parts(folder: folder)
    var whole: [Double] = []
    var (all, paced, fast) = (Parts.Times(), Parts.Times(), Parts.Times())
    _ = try await measure(warmUp, from: 0)
    for round in 0..<rounds {
      print("round \(round + 1) of \(rounds): \(approvals) approvals, and their parts …")
      let times = try await measure(approvals, from: warmUp + round * approvals)
      whole += times
      let pace = quantile(times, 0.5)
      all += try parts.approvals(approvals, of: Parts.waitedFor, pace: pace)
      paced += try parts.approvals(approvals, of: Parts.fewest, pace: pace)
      fast += try parts.approvals(approvals, of: Parts.fewest, pace: 0)
    }
    try parts.stop()
    print("")
    print("                                      p50        p99")
    report("ask → app's cache", whole)
    let measured = [
      ("6 hops + 7 commits, at its pace", all), ("4 hops + 2 commits, at its pace", paced),
      ("4 hops + 2 commits, back to back", fast),
    ]
    for (name, part) in measured {
      report(name, part.whole)
      report("  one ZeroMQ hop, CURVE, ipc", part.hop)
      report("  one 4 KB append + fdatasync", part.sync)
    }
    for (name, part) in measured {
      let ratio = quantile(whole, 0.5) / quantile(part.whole, 0.5)
      print("whole : \(name), at p50 = \(String(format: "%.2f", ratio))")
    }
  }

  /// Seconds from `ask` until the loop over `updates` has the response.
  private func measure(_ count: Int, from first: Int) async throws -> [Double] {
    var times: [Double] = []
    let limits = CommunicationLimits.current
    var updates = limits.updates.makeAsyncIterator()
    for number in first..<(first + count) {
      let handle = CommunicationHandle(value: "person-\(number)", kind: .custom)
      let question = PermissionQuestion(handle: handle)
      let start = DispatchTime.now().uptimeNanoseconds
      try await limits.ask(question, in: Nowhere())
      // The last response of the round before was not handled yet, and comes again.
      while let response = try await updates.next(), response.question.id != question.id {}
      let end = DispatchTime.now().uptimeNanoseconds
      guard await limits.isKnownHandle(handle) else {
        throw ValidationError("An approved handle is not known.")
      }
      times.append(Double(end - start) / 1e9)
    }
    return times
  }

  private func report(_ name: String, _ times: [Double]) {
    func text(_ seconds: Double) -> String { String(format: "%8.0f µs", seconds * 1e6) }
    let name = name.padding(toLength: 33, withPad: " ", startingAt: 0)
    print("\(name) \(text(quantile(times, 0.5)))\(text(quantile(times, 0.99)))")
  }
}

/// Numbers above zero with commas between them, as they are typed.
struct NumberList: ExpressibleByArgument, CustomStringConvertible {
  let values: [Int]

  init(_ values: [Int]) { self.values = values }

  init?(argument: String) {
    values = argument.split(separator: ",", omittingEmptySubsequences: false)
      .map { Int($0) ?? 0 }
    guard values.allSatisfy({ $0 > 0 }) else { return nil }
  }

  var description: String { values.map(String.init).joined(separator: ",") }
}
