import Dispatch
import FamilyModel
import GRDB
import Glibc
import RelayStore
import Testing

@testable import SQLiteStore

/// Commits while another connection of the process holds a lock of the log. Other processes are excluded.
@Suite struct LockTests {
  private let folder: Folder
  private var path: String { folder.path("a") }

  init() throws { folder = try Folder() }

  /// Whether the commits fail with an error after which a restart may help.
  private func fails(_ commits: () throws -> Void) -> Bool {
    do { try commits() } catch { return (error as? StoreError)?.code == .io }
    return false
  }

  @Test("X2: a commit waits for a lock that another connection holds, and is stored")
  func waiting() throws {
    let store = try SQLiteEventStore(path: path)
    let lock = try HeldLock(path, "BEGIN IMMEDIATE")
    // Longer than a connection of an agent or a reader waits.
    lock.release(afterMicroseconds: UInt32(3 * StoreFile.busyTimeout * 1e6))
    try store.commit(batch([event(1, 1)]))
    #expect(try store.load(FamilyID(1)).events == [event(1, 1)])
    try lock.close()
    store.close()
  }

  @Test("X2: a commit that gets no lock in time stores nothing, and a restart may help")
  func timeout() throws {
    var limits = LogLimits()
    limits.lockMilliseconds = 50
    let store = try SQLiteEventStore(path: path, limits: limits)
    try store.commit(batch([event(1, 1)]))
    let lock = try HeldLock(path, "BEGIN IMMEDIATE")
    #expect(fails { try store.commit(batch([event(1, 2)])) })
    // The retention's replacement and the start's index wait for the same lock.
    #expect(fails { try store.replace([1: event(1, 1)]) })
    #expect(fails { try store.rebuildIndex() })
    try lock.close()
    #expect(try store.load(FamilyID(1)).events.count == 1)
    try store.commit(batch([event(1, 2)]))
    #expect(try store.load(FamilyID(1)).events.count == 2)
    store.close()
  }

  @Test("X2: a reader that keeps the frames of a full log fails a commit, and nothing is lost")
  func fullLog() throws {
    var limits = LogLimits()
    (limits.backgroundCopyThreshold, limits.restartThreshold, limits.maximumFrames) = (.max, 16, 16)
    limits.lockMilliseconds = 50
    let store = try SQLiteEventStore(path: path, limits: limits)
    try store.commit(batch([event(1, 1)]))
    let lock = try HeldLock(path, "BEGIN; SELECT count(*) FROM event")
    var seq: UInt64 = 1
    #expect(
      fails {
        while seq < 1_000 {
          try store.commit(batch([event(1, seq + 1)]))
          seq += 1
        }
      })
    try lock.close()
    try store.commit(batch([event(1, seq + 1)]))
    #expect(try store.load(FamilyID(1)).events.count == Int(seq) + 1)
    store.close()
  }
}

/// A lock on the file of an open store that a further connection holds, as a reader does for a moment.
private final class HeldLock {
  private let queue: DatabaseQueue
  private let released = DispatchSemaphore(value: 0)

  /// Takes the lock that the transaction begins with.
  init(_ path: String, _ transaction: String) throws {
    queue = try StoreFile.join(path)
    let (held, released) = (DispatchSemaphore(value: 0), released)
    queue.asyncWriteWithoutTransaction { db in
      #expect(throws: Never.self) { try db.execute(sql: transaction) }
      held.signal()
      released.wait()
      #expect(throws: Never.self) { try db.execute(sql: "ROLLBACK") }
    }
    held.wait()
  }

  func release(afterMicroseconds time: UInt32) {
    DispatchQueue.global().async { [released] in
      usleep(time)
      released.signal()
    }
  }

  /// Releases the lock, and returns when it is free.
  func close() throws {
    released.signal()
    try queue.close()
  }
}
