import ArgumentParser
import FamilyModel
import Foundation
import RelayStore
import SQLiteStore

/// How long a commit keeps its caller waiting, and how often much longer than usual.
struct Commits: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "A histogram of the times of commits, each synchronised to the disk.")
  @Option(
    help: "Events of a commit, with commas between the runs; 1,64,1000 if not given.",
    transform: { text in text.split(separator: ",").map { Int($0) ?? 0 } })
  var batches = [1, 64, 1_000]
  @Option(help: "Seconds of each.") var seconds = 5.0
  @Option(help: "Commits a second; 0: as many as there can be.") var rate = 0.0
  @Option(help: "The folder of the store.") var folder = "/tmp"

  /// Where the buckets end, in milliseconds.
  private static let ends = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, .infinity]

  func validate() throws {
    guard !batches.isEmpty, batches.allSatisfy({ $0 >= 1 }), seconds > 0, rate >= 0 else {
      throw ValidationError(
        "--batches takes numbers with commas between them, as 1,64; --seconds is above 0, --rate 0 or more."
      )
    }
  }

  func run() throws {
    print(
      "together  commits/s  events/s  p50 ms  p99 ms  max ms  CPU µs/event   commits of up to … ms")
    print(
      String(repeating: " ", count: 70)
        + Self.ends.map { String(format: "%8g", $0) }.joined())
    for batch in batches {
      let folder = URL(fileURLWithPath: folder).appendingPathComponent("commits-\(getpid())")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let store = try SQLiteEventStore(path: folder.appendingPathComponent("store").path)
      var events = EventSource()
      for _ in 0..<20 { try store.commit(events.batch(64)) }
      var times: [Double] = []
      let (start, cpu) = (Self.now(CLOCK_MONOTONIC), Self.now(CLOCK_PROCESS_CPUTIME_ID))
      var spent = 0.0
      while times.isEmpty || Self.now(CLOCK_MONOTONIC) - start < seconds {
        let making = Self.now(CLOCK_PROCESS_CPUTIME_ID)
        let next = events.batch(batch)
        spent += Self.now(CLOCK_PROCESS_CPUTIME_ID) - making
        if rate > 0 {
          let due = start + Double(times.count) / rate
          while Self.now(CLOCK_MONOTONIC) < due { usleep(50) }
        }
        let begun = Self.now(CLOCK_MONOTONIC)
        try store.commit(next)
        times.append((Self.now(CLOCK_MONOTONIC) - begun) * 1e3)
      }
      let took = Self.now(CLOCK_MONOTONIC) - start
      let used = Self.now(CLOCK_PROCESS_CPUTIME_ID) - cpu - spent
      store.close()
      times.sort()
      let count = Double(times.count)
      var line = String(
        format: "%8d %10.0f %9.0f %7.2f %7.2f %7.1f %13.2f", batch, count / took,
        count / took * Double(batch), times[times.count / 2], times[times.count * 99 / 100],
        times[times.count - 1], used / count / Double(batch) * 1e6)
      line = line.padding(toLength: 70, withPad: " ", startingAt: 0)
      var from = 0
      for end in Self.ends {
        let to = times.firstIndex { $0 > end } ?? times.count
        line += String(format: "%8d", to - from)
        from = to
      }
      print(line)
    }
  }

  private static func now(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}

/// Events of random families; in batches with as many positions of devices, in the order of families.
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
      command: ID128(high: 1, low: source.next()), at: Instant(milliseconds: 1_763_000_000_000),
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
