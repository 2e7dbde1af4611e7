import ArgumentParser
import FamilyModel
import Foundation
import RelayStore
import SQLiteStore
import Statistics
import TextTable

/// Measures how long a commit blocks its caller, with a histogram of the outliers.
struct Commits: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measure the latency of commits, each synced to the disk, with a histogram.")
  @Option(
    help: "Events per commit, comma-separated; one run for each (default: 1,64,1000).",
    transform: { text in text.split(separator: ",").map { Int($0) ?? 0 } })
  var batches = [1, 64, 1_000]
  @Option(help: "Seconds of each run.") var seconds = 5.0
  @Option(help: "Commits per second; 0 for back to back.") var rate = 0.0
  @Option(help: "The folder for the store.") var folder = "/tmp"

  /// Upper bounds of the histogram's buckets, in milliseconds.
  private static let ends = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, .infinity]

  func validate() throws {
    guard !batches.isEmpty, batches.allSatisfy({ $0 >= 1 }), seconds > 0, rate >= 0 else {
      throw ValidationError(
        "--batches takes comma-separated numbers: 1,64. --seconds is above 0, --rate 0 or more."
      )
    }
  }

  func run() throws {
    let head =
      ["batch", "commits/s", "events/s", "p50 ms", "p99 ms", "max ms", "CPU µs/event"]
      + Self.ends.map { $0.isFinite ? String(format: "≤ %g ms", $0) : "more" }
    print(Table.render([head] + (try batches.map(measure))))
  }

  /// Measures one batch size.
  ///
  /// - Returns: The table's row.
  private func measure(_ batch: Int) throws -> [String] {
    let folder = URL(fileURLWithPath: folder).appendingPathComponent("commits-\(getpid())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = try SQLiteEventStore(path: folder.appendingPathComponent("store").path)
    var events = EventSource()
    for _ in 0..<20 { try store.commit(events.batch(64)) }
    var times: [Double] = []
    let (start, cpu) = (Self.now(CLOCK_MONOTONIC), Self.now(CLOCK_PROCESS_CPUTIME_ID))
    // The CPU time of making the events is subtracted.
    var generating = 0.0
    while times.isEmpty || Self.now(CLOCK_MONOTONIC) - start < seconds {
      let before = Self.now(CLOCK_PROCESS_CPUTIME_ID)
      let next = events.batch(batch)
      generating += Self.now(CLOCK_PROCESS_CPUTIME_ID) - before
      if rate > 0 {
        let due = start + Double(times.count) / rate
        while Self.now(CLOCK_MONOTONIC) < due { usleep(50) }
      }
      let began = Self.now(CLOCK_MONOTONIC)
      try store.commit(next)
      times.append((Self.now(CLOCK_MONOTONIC) - began) * 1e3)
    }
    let took = Self.now(CLOCK_MONOTONIC) - start
    let used = Self.now(CLOCK_PROCESS_CPUTIME_ID) - cpu - generating
    store.close()
    return row(batch, times, took: took, cpu: used)
  }

  private func row(_ batch: Int, _ times: [Double], took: Double, cpu: Double) -> [String] {
    func text(_ format: String, _ value: Double) -> String { String(format: format, value) }
    func milliseconds(_ part: Double) -> String { text("%.2f", times.quantile(part) ?? .nan) }
    let count = Double(times.count)
    let buckets = zip([-.infinity] + Self.ends, Self.ends).map { low, high in
      "\(times.count { low < $0 && $0 <= high })"
    }
    return [
      "\(batch)", text("%.0f", count / took), text("%.0f", count / took * Double(batch)),
      milliseconds(0.5), milliseconds(0.99), milliseconds(1),
      text("%.2f", cpu / count / Double(batch) * 1e6),
    ] + buckets
  }

  private static func now(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}

/// Events of random families. A batch also holds one cursor for each event, with families in order.
struct EventSource {
  static let families: UInt64 = 10_000
  private var seqs = [UInt64](repeating: 0, count: Int(families) + 1)
  private var source = IDSource(seed: 1)
  private var moved: UInt64 = 0
  private let payload = [UInt8](repeating: 7, count: 300)

  mutating func next() -> StoredEvent {
    let family = source.next() % Self.families + 1
    seqs[Int(family)] += 1
    return StoredEvent(
      family: FamilyID(family), seq: seqs[Int(family)], audience: .conversation(PersonID(2)),
      device: DeviceID(1), command: ID128(high: 1, low: source.next()),
      at: Instant(milliseconds: 1_763_000_000_000),
      payload: payload)
  }

  mutating func batch(_ count: Int) -> Batch {
    var batch = Batch()
    for _ in 0..<count {
      batch.events.append(next())
      moved = moved % Self.families + 1
      batch.cursors.append(
        StoredCursor(
          family: FamilyID(moved), device: DeviceID(1),
          cursor: Cursor(.conversation(PersonID(2)), delivered: seqs[Int(moved)])))
    }
    return batch
  }
}
