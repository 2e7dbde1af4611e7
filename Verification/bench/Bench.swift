import ArgumentParser
import Foundation
import PermissionKit
import Processes
import Statistics
import TextTable

/// Measures the product and its bare parts in one run, because only their ratio is stable between
/// runs.
@main
struct Bench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench", abstract: "Measure approvals against the cost of their parts.",
    discussion: "Build everything first: swift build -c release",
    subcommands: [
      RelayBench.self, Latency.self, Overload.self, Scale.self, Sockets.self, Herd.self,
      TrustBench.self, StartBench.self, BackupBench.self, ContentBench.self,
      PlainRelay.self, DeviceStart.self,
    ])
}

/// An anchor without a window: the bench shows no prompts.
struct NoWindow: PresentationAnchor {}

/// Measures one approval at a time on an idle machine, through real processes.
struct Latency: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measure the latency of one approval and of its ZeroMQ hops and commits.",
    discussion: "Build everything first: swift build -c release")
  @Option(help: "Rounds; each measures the product, then its parts.") var rounds = 5
  @Option(help: "Measured approvals in each round.") var approvals = 200
  @Option(help: "Approvals before the first round, not measured.") var warmUp = 50

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

    // Product and parts alternate, because the speed of a shared machine drifts.
    let parts = try Parts(folder: folder)
    var whole: [Double] = []
    var (all, paced, fast) = (Parts.Times(), Parts.Times(), Parts.Times())
    _ = try await measure(warmUp, from: 0)
    for round in 0..<rounds {
      print("round \(round + 1) of \(rounds): \(approvals) approvals and their parts …")
      let times = try await measure(approvals, from: warmUp + round * approvals)
      whole += times
      let pace = times.quantile(0.5) ?? 0
      all += try parts.approvals(approvals, of: Parts.ofApproval, pace: pace)
      paced += try parts.approvals(approvals, of: Parts.minimum, pace: pace)
      fast += try parts.approvals(approvals, of: Parts.minimum, pace: 0)
    }
    try parts.stop()
    let measured = [
      ("6 hops + 7 commits, at its pace", all), ("4 hops + 2 commits, at its pace", paced),
      ("4 hops + 2 commits, back to back", fast),
    ]
    let rows = measured.flatMap { name, part in
      [
        row(name, part.whole), row("– one ZeroMQ hop, CURVE, ipc", part.hop),
        row("– one 4 KB append + fdatasync", part.sync),
      ]
    }
    print("")
    print(Table.render([["", "p50 µs", "p99 µs"], row("ask → app's cache", whole)] + rows))
    for (name, part) in measured {
      let ratio = (whole.quantile(0.5) ?? .nan) / (part.whole.quantile(0.5) ?? .nan)
      print("approval : \(name), p50 = \(String(format: "%.2f", ratio))")
    }
  }

  /// Measures approvals one after another.
  ///
  /// - Returns: Seconds from `ask` until the loop over `updates` receives the response.
  private func measure(_ count: Int, from first: Int) async throws -> [Double] {
    var times: [Double] = []
    let limits = CommunicationLimits.current
    var updates = limits.updates.makeAsyncIterator()
    for number in first..<(first + count) {
      let handle = CommunicationHandle(value: "person-\(number)", kind: .custom)
      let question = PermissionQuestion(handle: handle)
      let start = DispatchTime.now().uptimeNanoseconds
      try await limits.ask(question, in: NoWindow())
      // The previous round's last response was not consumed, so `updates` repeats it.
      while let response = try await updates.next(), response.question.id != question.id {}
      let end = DispatchTime.now().uptimeNanoseconds
      guard await limits.isKnownHandle(handle) else {
        throw ValidationError("An approved handle is not known.")
      }
      times.append(Double(end - start) / 1e9)
    }
    return times
  }

  private func row(_ name: String, _ times: [Double]) -> [String] {
    [name] + [0.5, 0.99].map { String(format: "%.0f", (times.quantile($0) ?? .nan) * 1e6) }
  }
}

/// A comma-separated list of positive numbers.
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
