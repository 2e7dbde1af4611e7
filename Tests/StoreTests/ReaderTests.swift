import Dispatch
import FamilyModel
import Foundation
import RelayStore
import SQLiteStore
import Synchronization
import Testing

/// Reads on another thread and connection, beside the commits.
@Suite struct ReaderTests {
  private let folder: Folder
  private var path: String { folder.path("a") }

  init() throws { folder = try Folder() }

  @Test("O8: a reader finds the heads of families that the store did not name")
  func unnamed() throws {
    var store = try SQLiteEventStore(path: path, limits: LogLimits(), headCycle: 1)
    for seq in 1...UInt64(50) { try store.commit(batch([event(1, seq), event(seq + 1, 1)])) }
    store.close()
    store = try SQLiteEventStore(path: path, limits: LogLimits(), headCycle: 1)
    let reader = try #require(try store.openReader())
    reader.begin(store.positions(of: (1...60).map { FamilyID($0) }))
    #expect(try reader.load(FamilyID(1)).events.count == 50)
    #expect(try reader.load(FamilyID(51)).events.count == 1)
    #expect(try reader.load(FamilyID(60)).events.isEmpty)
    reader.close()
    store.close()
  }

  @Test("O8: reads on one thread and commits on another disturb each other in nothing")
  func beside() throws {
    var limits = LogLimits()
    limits.backgroundCopyThreshold = 16
    limits.framesCopiedInCommit = 8
    limits.restartThreshold = 48
    limits.maximumFrames = 192
    let (families, rounds) = (UInt64(8), UInt64(1_500))
    let store = try SQLiteEventStore(path: path, limits: limits)
    let reader = try #require(try store.openReader())
    let progress = Progress()
    let thread = Thread {
      while let (positions, seq) = progress.next {
        reader.begin(positions)
        for family in 1...families {
          let found = Result { try reader.load(FamilyID(family), after: 0).events.map(\.seq) }
          progress.record(found, atLeast: seq)
        }
      }
      progress.ended.signal()
    }
    thread.start()
    for seq in 1...rounds {
      try store.commit(batch((1...families).map { event($0, seq) }))
      progress.advance(store.positions(of: (1...families).map { FamilyID($0) }), to: seq)
    }
    progress.end()
    progress.ended.wait()
    #expect(progress.failures == [] && progress.reads > 0)
    // The log was restarted in spite of the reads.
    let log = try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int ?? 0
    #expect(log < (limits.maximumFrames + 64) * (4_096 + 24))
    reader.close()
    store.close()
    let again = try SQLiteEventStore(path: path)
    try again.check()
    #expect(again.events == Int(families * rounds))
    again.close()
  }
}

/// The commits of a writing thread, and the findings of a reading one.
private final class Progress: Sendable {
  private struct State {
    var positions = ReadPositions()
    var seq: UInt64 = 0
    var isOver = false
    var failures: [String] = []
    var reads = 0
  }

  private let state = Mutex(State())
  let ended = DispatchSemaphore(value: 0)

  /// The last commit; `nil` at the end.
  var next: (ReadPositions, seq: UInt64)? {
    state.withLock { $0.isOver ? nil : ($0.positions, $0.seq) }
  }

  var failures: [String] { state.withLock { $0.failures } }
  var reads: Int { state.withLock { $0.reads } }

  func advance(_ positions: ReadPositions, to seq: UInt64) {
    state.withLock { ($0.positions, $0.seq) = (positions, seq) }
  }

  func end() { state.withLock { $0.isOver = true } }

  func record(_ found: Result<[UInt64], any Error>, atLeast seq: UInt64) {
    state.withLock { state in
      state.reads += 1
      switch found {
      case .success(let seqs):
        let isWhole = seqs.enumerated().allSatisfy { $1 == UInt64($0) + 1 }
        if seqs.count < seq || !isWhole { state.failures.append("\(seqs.count) of \(seq)") }
      case .failure(let error): state.failures.append("\(error)")
      }
    }
  }
}

extension EventReading {
  fileprivate func load(_ family: FamilyID) throws(StoreError) -> StoredFamily {
    try load(family, after: 0)
  }
}
