import Dispatch
import FamilyModel
import Foundation
import RelayStore
import SQLiteStore
import TestDisk
import Testing

/// The write-ahead log and its checkpoints into the database.
@Suite struct CheckpointTests {
  private let folder: Folder
  private var path: String { folder.path("a") }
  /// An upper bound of the commits in a test, even with slow checkpoints.
  private static let commitLimit: UInt64 = 20_000

  init() throws { folder = try Folder() }

  private func limits(
    backgroundCopy: Int, copiedInCommit: Int = 0, restart: Int, maximum: Int
  ) -> LogLimits {
    var limits = LogLimits()
    limits.backgroundCopyThreshold = backgroundCopy
    limits.framesCopiedInCommit = copiedInCommit
    limits.restartThreshold = restart
    limits.maximumFrames = maximum
    return limits
  }

  /// The capacity of the log's file in frames.
  private func frames() throws -> Int {
    let size = try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int
    return (size ?? 0) / (4_096 + 24)
  }

  private func databaseHolds(_ event: StoredEvent) throws -> Bool {
    try Data(contentsOf: URL(fileURLWithPath: path)).firstRange(of: Data(event.payload)) != nil
  }

  @Test(
    "X2: each commit syncs its own frames, and checkpoints run in the background")
  func beside() throws {
    let store = try SQLiteEventStore(
      path: path, limits: limits(backgroundCopy: 16, restart: .max, maximum: .max))
    var seq: UInt64 = 0
    while try !databaseHolds(event(1, 20)), seq < Self.commitLimit {
      for _ in 0..<20 {
        seq += 1
        let before = counted_fdatasync()
        try store.commit(batch([event(1, seq)]))
        // A restarted log syncs its header too; a checkpoint would add two more syncs.
        #expect((1...2).contains(counted_fdatasync() - before))
      }
    }
    #expect(try databaseHolds(event(1, 20)))
    store.close()
  }

  @Test("X2: the log restarts, and every event is in the log or in the database")
  func renewal() throws {
    let small = limits(backgroundCopy: 16, copiedInCommit: 8, restart: 48, maximum: 256)
    let store = try SQLiteEventStore(path: path, limits: small)
    for seq: UInt64 in 7..<2_007 { try store.commit(batch([event(seq % 7, seq / 7)])) }
    // A commit of one event has less than 16 frames.
    #expect(try frames() <= 256 + 16)
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: folder.path("b" + suffix))
    }
    store.close()
    // The files after a close, and after a kill.
    for name in ["a", "b"] {
      let again = try SQLiteEventStore(path: folder.path(name))
      try again.check()
      let found = try (0..<7).map { try again.load(FamilyID($0)).events.count }
      #expect(found.reduce(0, +) == 2_000)
      again.close()
    }
  }

  @Test(
    "X2: a commit to a log of maximum length waits for the checkpoint, or does it itself",
    arguments: [0, Int.max])
  func maximum(_ copiedInCommit: Int) throws {
    let store = try SQLiteEventStore(
      path: path,
      limits: limits(
        backgroundCopy: .max, copiedInCommit: copiedInCommit, restart: 64, maximum: 64))
    for seq: UInt64 in 1...1_000 { try store.commit(batch([event(1, seq)])) }
    #expect(try frames() <= 64 + 16)
    #expect(try store.load(FamilyID(1)).events.count == 1_000)
    store.close()
  }

  @Test(
    "X2: after a failed checkpoint every later commit fails, and nothing is lost")
  func failure() throws {
    let store = try SQLiteEventStore(
      path: path, limits: limits(backgroundCopy: 16, restart: .max, maximum: .max))
    try store.commit(batch([event(1, 1)]))
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    var status = stat()
    #expect(stat(path, &status) == 0)
    fail_fdatasync(status.st_ino, 1)
    var seq: UInt64 = 1
    #expect(throws: StoreError.self) {
      while seq < Self.commitLimit {
        try store.commit(batch([event(1, seq + 1)]))
        seq += 1
      }
    }
    fail_fdatasync(status.st_ino, 0)
    // Writes to the database since then may not be on disk, even if a later sync succeeds.
    #expect(throws: StoreError.self) { try store.commit(batch([event(1, seq + 1)])) }
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: folder.path("b" + suffix))
    }
    store.close()
    // The kernel drops pages that it failed to write: the file on disk may be old, even if a read
    // returns the new bytes.
    try before.write(to: URL(fileURLWithPath: folder.path("c")))
    try FileManager.default.copyItem(atPath: path + "-wal", toPath: folder.path("c-wal"))
    for name in ["a", "b", "c"] {
      let again = try SQLiteEventStore(path: folder.path(name))
      #expect(try again.load(FamilyID(1)).events.count == Int(seq))
      try again.commit(batch([event(1, seq + 1)]))
      again.close()
    }
  }

  @Test(
    "X2: a commit whose sync failed is found as a whole or not at all, and later commits succeed")
  func unconfirmed() throws {
    let store = try SQLiteEventStore(path: path)
    try store.commit(batch([event(1, 1)]))
    var status = stat()
    #expect(stat(path + "-wal", &status) == 0)
    fail_fdatasync(status.st_ino, 1)
    #expect(throws: StoreError.self) { try store.commit(batch([event(1, 2), event(1, 3)])) }
    fail_fdatasync(status.st_ino, 0)
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: folder.path("b" + suffix))
    }
    #expect(try store.load(FamilyID(1)).events.count == 1)
    try store.commit(batch([event(1, 2)]))
    store.close()
    for (name, counts) in [("a", [2]), ("b", [1, 3])] {
      let again = try SQLiteEventStore(path: folder.path(name))
      try again.check()
      #expect(counts.contains(try again.load(FamilyID(1)).events.count))
      again.close()
    }
  }

  @Test("X2: one thread reads what another has committed")
  func threads() throws {
    nonisolated(unsafe) let store = try SQLiteEventStore(
      path: path,
      limits: limits(backgroundCopy: 8, copiedInCommit: 8, restart: 32, maximum: 128))
    let (writer, reader) = (DispatchQueue(label: "writer"), DispatchQueue(label: "reader"))
    for seq: UInt64 in 1...500 {
      try writer.sync { try store.commit(batch([event(1, seq)])) }
      try reader.sync {
        let page = try store.events(
          of: FamilyID(1), .family, after: seq - 1, through: seq, limit: 2, bytes: 1 << 20)
        #expect(page.events == [event(1, seq)])
        let id = event(1, max(4, seq) - 3).command
        #expect(try store.event(of: id, by: DeviceID(1), in: FamilyID(1)) != nil)
      }
    }
    store.close()
  }
}
