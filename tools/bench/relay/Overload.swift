import ArgumentParser
import Foundation

/// What becomes of the relay past its capacity.
struct Overload: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Approvals a second at one, two and three times the capacity, and after it.",
    discussion: """
      Questions come at a fixed rate, whatever becomes of those before them; who is refused waits as agents do.
      Build everything first: swift build -c release
      """)
  @Option(help: "How many families.") var families: UInt64 = 10_000
  @Option(help: "Seconds of each phase.") var seconds = 10.0

  @Flag(help: "Children ask as often as they like, and wait only when they are refused.")
  var impatient = false

  func run() async throws {
    let folder = URL(fileURLWithPath: "/tmp/pr-bench-\(getpid())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let relay = try RelayProcess(folder, isPlain: false)
    defer { relay.stop() }
    let load = try Load(at: relay.address, families: families, isPatient: !impatient)
    try load.set(window: 1_024)
    sleep(1)
    _ = load.take()
    usleep(UInt32(seconds * 1e6))
    let peak = Double(load.take().done) / seconds
    try load.set(window: 0)
    sleep(1)
    print("capacity (1,024 on the way): \(Int(peak)) approvals/s")
    print(
      "load         asked/s   done/s   of capacity   refused/s   unsent/s   relay's cores   p50 ms    p99 ms"
    )
    for (name, factor) in [
      ("half", 0.5), ("once", 1), ("twice", 2), ("three times", 3), ("half again", 0.5),
    ] {
      _ = load.take()
      let cpu = relay.cpu
      try load.set(window: 0, rate: peak * factor)
      usleep(UInt32(seconds * 1e6))
      let sample = load.take()
      let done = Double(sample.done) / seconds
      print(
        name.padding(toLength: 11, withPad: " ", startingAt: 0)
          + String(
            format: "%9.0f %8.0f %12.2f %11.0f %10.0f %15.2f %9.1f %9.1f",
            Double(sample.asked) / seconds, done, done / peak, Double(sample.refused) / seconds,
            Double(sample.unsent) / seconds, (relay.cpu - cpu) / seconds,
            quantile(sample.times, 0.5) * 1e3,
            quantile(sample.times, 0.99) * 1e3))
    }
    load.stop()
  }
}
