import Dispatch
import FamilyModel
import Foundation
import RelayStore
import SQLiteStore
import TestDisk
import Testing

/// The write-ahead log and its copies into the database.
@Suite struct CheckpointTests {
  private let folder: Folder
  private var path: String { folder.path("a") }
  /// More commits than any of these tests needs, however slow the copies are.
  private static let most: UInt64 = 20_000

  init() throws { folder = try Folder() }

  private func limits(step: Int, rest: Int = 0, renewal: Int, bound: Int) -> LogLimits {
    var limits = LogLimits()
    (limits.step, limits.rest, limits.renewal, limits.bound) = (step, rest, renewal, bound)
    return limits
  }

  /// Frames that the log's file has room for.
  private func frames() throws -> Int {
    let size = try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int
    return (size ?? 0) / (4_096 + 24)
  }

  private func databaseHolds(_ event: StoredEvent) throws -> Bool {
    try Data(contentsOf: URL(fileURLWithPath: path)).firstRange(of: Data(event.payload)) != nil
  }

  @Test(
    "X2: a commit syncs what it wrote, and the log is copied into the database beside the commits")
  func beside() throws {
    let store = try SQLiteEventStore(
      path: path, limits: limits(step: 16, renewal: .max, bound: .max))
    var seq: UInt64 = 0
    while try !databaseHolds(event(1, 20)), seq < Self.most {
      for _ in 0..<20 {
        seq += 1
        let before = counted_fdatasync()
        try store.commit(batch([event(1, seq)]))
        // A log that begins anew has its head synced as well; a copy would take two more.
        #expect((1...2).contains(counted_fdatasync() - before))
      }
    }
    #expect(try databaseHolds(event(1, 20)))
    store.close()
  }

  @Test("X2: the log begins anew, and every event is found in it or in the database")
  func renewal() throws {
    let small = limits(step: 16, rest: 8, renewal: 48, bound: 256)
    let store = try SQLiteEventStore(path: path, limits: small)
    for seq: UInt64 in 7..<2_007 { try store.commit(batch([event(seq % 7, seq / 7)])) }
    // A commit of one event has less than 16 frames.
    #expect(try frames() <= 256 + 16)
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: folder.path("b" + suffix))
    }
    store.close()
    // As after a close, and as after a kill.
    for name in ["a", "b"] {
      let again = try SQLiteEventStore(path: folder.path(name))
      try again.check()
      let found = try (0..<7).map { try again.load(FamilyID($0)).events.count }
      #expect(found.reduce(0, +) == 2_000)
      again.close()
    }
  }

  @Test(
    "X2: a log at its bound takes no commit before it is copied: the commit waits for it, or does it",
    arguments: [0, Int.max])
  func bound(_ rest: Int) throws {
    let store = try SQLiteEventStore(
      path: path, limits: limits(step: .max, rest: rest, renewal: 64, bound: 64))
    for seq: UInt64 in 1...1_000 { try store.commit(batch([event(1, seq)])) }
    #expect(try frames() <= 64 + 16)
    #expect(try store.load(FamilyID(1)).events.count == 1_000)
    store.close()
  }

  @Test(
    "X2: a copy that failed is told by the next commit and by all later ones, and nothing is lost")
  func failure() throws {
    let store = try SQLiteEventStore(
      path: path, limits: limits(step: 16, renewal: .max, bound: .max))
    try store.commit(batch([event(1, 1)]))
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    var status = stat()
    #expect(stat(path, &status) == 0)
    fail_fdatasync(status.st_ino, 1)
    var seq: UInt64 = 1
    #expect(throws: StoreError.self) {
      while seq < Self.most {
        try store.commit(batch([event(1, seq + 1)]))
        seq += 1
      }
    }
    fail_fdatasync(status.st_ino, 0)
    // What was written to the database since is not known to be on the disk, whatever a later sync says.
    #expect(throws: StoreError.self) { try store.commit(batch([event(1, seq + 1)])) }
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: folder.path("b" + suffix))
    }
    store.close()
    // The system forgets what it failed to write: the file may be as it was, whatever a read of it says.
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
    "X2: of a commit that the disk did not confirm all or nothing is found later, and others go on")
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

  @Test("X2: one thread commits, and another one reads what was committed")
  func threads() throws {
    nonisolated(unsafe) let store = try SQLiteEventStore(
      path: path, limits: limits(step: 8, rest: 8, renewal: 32, bound: 128))
    let (writer, reader) = (DispatchQueue(label: "writer"), DispatchQueue(label: "reader"))
    for seq: UInt64 in 1...500 {
      try writer.sync { try store.commit(batch([event(1, seq)])) }
      try reader.sync {
        let page = try store.events(
          of: FamilyID(1), .family, after: seq - 1, limit: 2, bytes: 1 << 20)
        #expect(page.events == [event(1, seq)])
        #expect(try store.seq(of: event(1, max(4, seq) - 3).command, in: FamilyID(1)) != nil)
      }
    }
    store.close()
  }
}
