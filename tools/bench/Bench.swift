import ArgumentParser
import Foundation
import PermissionKit

/// Measures the whole and its parts in one run: what counts is their ratio.
@main
struct Bench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench", abstract: "Measures approvals against the cost of their parts.",
    subcommands: [Latency.self])
}

/// Where prompts appear: nowhere.
struct Nowhere: PresentationAnchor {}

/// One approval at a time on an idle machine, through real processes.
struct Latency: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "The time of one approval, and of four ZeroMQ hops and two fsyncs.",
    discussion: "Build everything first: swift build -c release")
  @Option(help: "How many approvals are measured.") var approvals = 500
  @Option(help: "How many come before, and are not.") var warmUp = 50

  func run() async throws {
    let folder = URL(fileURLWithPath: "/tmp/pr-bench-\(getpid())")
    defer { try? FileManager.default.removeItem(at: folder) }
    print("starting a relay and a family as processes …")
    let cluster = try ClusterProcess(folder)
    defer { cluster.stop() }
    try await cluster.waitUntilReady()
    setenv("PERMISSION_RELAY_DEVICE", cluster.credential.path, 1)

    print("measuring \(approvals) approvals …")
    let whole = try await measure()
    print("measuring the parts …")
    let hop = try Parts.hop(rounds: approvals, folder: folder)
    let sync = try Parts.fsync(rounds: approvals, folder: folder)
    let parts = (0..<approvals).map { 4 * hop[$0] + 2 * sync[$0] }
    print("")
    print("                                 p50        p99")
    report("ask → app's cache (6 hops)", whole)
    report("one ZeroMQ hop, CURVE, ipc", hop)
    report("fdatasync of 4 KB, appended", sync)
    report("4 hops + 2 fsyncs", parts)
    let ratio = quantile(whole, 0.5) / quantile(parts, 0.5)
    print("\nwhole : parts at p50 = \(String(format: "%.2f", ratio))")
  }

  /// Seconds from `ask` until the loop over `updates` has the response.
  private func measure() async throws -> [Double] {
    var times: [Double] = []
    let limits = CommunicationLimits.current
    var updates = limits.updates.makeAsyncIterator()
    for number in 0..<(warmUp + approvals) {
      let handle = CommunicationHandle(value: "person-\(number)", kind: .custom)
      let question = PermissionQuestion(handle: handle)
      let start = DispatchTime.now().uptimeNanoseconds
      try await limits.ask(question, in: Nowhere())
      guard let response = try await updates.next(), response.question.id == question.id else {
        throw ValidationError("The response is not the question's.")
      }
      let end = DispatchTime.now().uptimeNanoseconds
      guard await limits.isKnownHandle(handle) else {
        throw ValidationError("An approved handle is not known.")
      }
      if number >= warmUp { times.append(Double(end - start) / 1e9) }
    }
    return times
  }

  private func report(_ name: String, _ times: [Double]) {
    func text(_ seconds: Double) -> String { String(format: "%8.0f µs", seconds * 1e6) }
    let name = name.padding(toLength: 28, withPad: " ", startingAt: 0)
    print("\(name) \(text(quantile(times, 0.5)))\(text(quantile(times, 0.99)))")
  }
}

/// The value below which this part of the values lies.
func quantile(_ values: [Double], _ part: Double) -> Double {
  let sorted = values.sorted()
  return sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))]
}
