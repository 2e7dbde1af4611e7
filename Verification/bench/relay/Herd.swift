import ArgumentParser
import FamilyModel
import Foundation
import Processes
import RelayWire
import Statistics
import ZeroMQ

/// Measures how long a herd of devices takes to attach again after kill -9 of the relay.
struct Herd: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measure how long many devices take to attach again after kill -9 of the relay.",
    discussion: """
      Each device is in a family of its own. Devices are divided among connections, each with its own
      key, and follow the retry times of the relay. One family is served again first, and then pings.
      Build everything first: swift build -c release
      """)
  @Option(help: "Number of devices and families.") var devices = 100_000
  @Option(help: "Number of connections, each with its own key.") var connections = 2_000
  @Option(help: "Events of each family. The relay keeps no snapshot below 1,024.") var events = 10
  @Option(help: "Attachments of a connection without a reply; 0 for no limit.") var window = 256

  func validate() throws {
    guard devices >= 1, connections >= 1, devices >= connections, events >= 1, window >= 0 else {
      throw ValidationError("--devices is --connections or more, and both are 1 or more.")
    }
  }

  func run() async throws {
    _ = ConnectionGuard.descriptors()
    let run = try RunFolder("/tmp/pr-bench-\(getpid())")
    defer { run.remove() }
    let folder = run.url
    // The first start makes the keys.
    var relay = try MeasuredRelay(folder, isPlain: false)
    relay.process.stop()
    let keys = try (0..<connections).map { _ in try CurveKeyPair.generate() }
    print("writing \(devices) families of \(events) events …")
    try HerdStore(relay.address, keys: keys, events: events).write(
      families: devices, to: folder.appendingPathComponent("relay.sqlite"))
    relay = try MeasuredRelay(folder, isPlain: false)
    let herd = try HerdConnections(keys, relay.address, devices: devices, window: window)
    var failed = report(try herd.attachAll(), relay, "first start")
    relay.process.kill()
    let killed = MonotonicInstant.now
    relay = try MeasuredRelay(folder, isPlain: false)
    let ready = (MonotonicInstant.now - killed).seconds
    print(String(format: "kill -9: relay ready after %.2f s", ready))
    failed += report(try herd.attachAll(), relay, "after kill -9")
    relay.process.stop()
    if failed > 0 { throw ExitCode.failure }
  }

  /// Prints the figures of an attachment of all devices.
  ///
  /// - Returns: The number of failed handshakes.
  private func report(
    _ result: HerdConnections.Result, _ relay: MeasuredRelay, _ title: String
  ) -> Int {
    let pings = result.pings.sorted()
    let figures = String(
      format: """
        %d devices attached after %.2f s; %d attachments refused with a retry time; \
        %d failed handshakes; relay %.1f s of CPU, %.0f MB
          pings of a family in memory meanwhile: %d, p50 %.1f ms, p99 %.1f ms, longest %.1f ms
        """, devices, result.seconds, result.refused, result.failedHandshakes,
      relay.process.cpuSeconds, Double(relay.process.anonymousBytes) / 1e6, pings.count,
      (pings.quantile(0.5) ?? 0) * 1e3, (pings.quantile(0.99) ?? 0) * 1e3, (pings.last ?? 0) * 1e3)
    print("\(title): \(figures)")
    return result.failedHandshakes
  }
}
