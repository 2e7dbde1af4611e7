import FamilyModel
import Foundation
import GRDB
import RelayStore
import SQLiteStore
import TestDisk
import Testing

@Suite struct SQLiteStoreTests {
  @Test("X2: the event store uses WAL with synchronous=FULL")
  func full() throws {
    let folder = try Folder()
    let store = try SQLiteEventStore(path: folder.path("a"))
    let settings = try store.settings()
    #expect(settings.synchronous == 2)
    #expect(settings.journal == "wal")
    store.close()
    let again = try SQLiteEventStore(path: folder.path("a"))
    #expect(try again.settings().synchronous == 2)
  }

  @Test("X2: a commit calls fdatasync once before it returns")
  func synchronises() throws {
    let folder = try Folder()
    let store = try SQLiteEventStore(path: folder.path("a"))
    for seq: UInt64 in 1...50 {
      let before = counted_fdatasync()
      try store.commit(batch([event(1, seq)]))
      #expect(counted_fdatasync() - before == 1)
    }
  }

  @Test("X2: commits that a killed process did not sync are synced before they are read")
  func inheritedLog() throws {
    let folder = try Folder()
    let store = try SQLiteEventStore(path: folder.path("a"))
    try store.commit(batch([event(1, 1)]))
    // The file and its log after a kill: the last commit may not be synced.
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(
        atPath: folder.path("a" + suffix), toPath: folder.path("b" + suffix))
    }
    let before = counted_fdatasync()
    let heir = try SQLiteEventStore(path: folder.path("b"))
    // One sync of the log and one of its folder.
    #expect(counted_fdatasync() - before == 2)
    #expect(try heir.load(FamilyID(1)).events == [event(1, 1)])
  }

  @Test("the start refuses a file with a flipped byte with problem 503")
  func check() throws {
    let folder = try Folder()
    let store = try SQLiteEventStore(path: folder.path("a"))
    try store.commit(batch((1...40).map { event(1, $0) }))
    try store.check()
    store.close()
    var bytes = try Data(contentsOf: URL(fileURLWithPath: folder.path("a")))
    let range = try #require(bytes.firstRange(of: Data("event 17 of 1".utf8)))
    bytes[range.lowerBound] ^= 1
    try bytes.write(to: URL(fileURLWithPath: folder.path("a")))
    let damaged = try SQLiteEventStore(path: folder.path("a"))
    #expect {
      try damaged.check()
    } throws: {
      ($0 as? StoreError)?.description.hasPrefix("problem 503") ?? false
    }
  }

  @Test(
    "the start verifies the newest events of a large file; reads verify all others"
  )
  func largeCheck() throws {
    let folder = try Folder()
    let path = folder.path("a")
    let store = try SQLiteEventStore(path: path)
    try store.commit(batch((1...20).map { event(1, $0) }))
    try store.commit(batch((1...20).map { event(2, $0) }))
    // The newest events start inside one family's chain and contain parts of others.
    for newest: Int64 in [1, 15, 20, 30, 40, 50] { try store.check(whole: 0, newest: newest) }
    store.close()
    let sound = try Data(contentsOf: URL(fileURLWithPath: path))
    for (text, isFound) in [("event 17 of 1", false), ("event 17 of 2", true)] {
      var bytes = sound
      let range = try #require(bytes.firstRange(of: Data(text.utf8)))
      bytes[range.lowerBound] ^= 1
      try bytes.write(to: URL(fileURLWithPath: path))
      let damaged = try SQLiteEventStore(path: path)
      defer { damaged.close() }
      #expect(throws: StoreError.self) { try damaged.check() }
      if isFound {
        #expect(throws: StoreError.self) { try damaged.check(whole: 0, newest: 15) }
      } else {
        try damaged.check(whole: 0, newest: 15)
        #expect {
          try damaged.load(FamilyID(1))
        } throws: {
          ($0 as? StoreError)?.description.hasPrefix("problem 503") ?? false
        }
      }
    }
  }

  @Test("a second store of the process gets `locked`, and only the owner may read the file")
  func locked() throws {
    let folder = try Folder()
    let store = try SQLiteEventStore(path: folder.path("a"))
    #expect(throws: StoreError.locked) { try SQLiteEventStore(path: folder.path("a")) }
    let mode = try FileManager.default.attributesOfItem(atPath: folder.path("a"))[.posixPermissions]
    #expect(mode as? Int == 0o600)
    store.close()
  }

  @Test("an open file excludes other processes")
  func excluded() throws {
    let folder = try Folder()
    let store = try SQLiteEventStore(path: folder.path("a"))
    try store.commit(batch([event(1, 1)]))
    // The lock of an open file description conflicts with process locks, even with those of this
    // process, as a lock of another process does.
    let descriptor = Glibc.open(folder.path("a"), O_RDWR)
    defer { Glibc.close(descriptor) }
    var lock = flock(
      l_type: Int16(F_RDLCK), l_whence: Int16(SEEK_SET), l_start: 0x4000_0000, l_len: 512, l_pid: 0)
    let ofdGetLock: Int32 = 36  // F_OFD_GETLK, which Swift's Glibc module lacks.
    #expect(fcntl(descriptor, ofdGetLock, &lock) == 0)
    #expect(lock.l_type == Int16(F_WRLCK))
    store.close()
  }

  @Test("a changed byte of an event is detected, and the file is not changed")
  func flipped() throws {
    let folder = try Folder()
    let store = try SQLiteEventStore(path: folder.path("a"))
    try store.commit(batch([event(1, 1), event(1, 2)]))
    store.close()
    let file = URL(fileURLWithPath: folder.path("a"))
    var bytes = try Data(contentsOf: file)
    let range = try #require(bytes.range(of: Data("event 2 of 1".utf8)))
    bytes[range.lowerBound] ^= 1
    try bytes.write(to: file)
    let damaged = try SQLiteEventStore(path: folder.path("a"))
    #expect { try damaged.load(FamilyID(1)) } throws: { ($0 as? StoreError)?.isDamage ?? false }
    damaged.close()
    #expect(try Data(contentsOf: file) == bytes)
  }

  @Test("a damaged snapshot is ignored")
  func damagedSnapshot() throws {
    let folder = try Folder()
    let store = try SQLiteEventStore(path: folder.path("a"))
    var both = batch([event(1, 1), event(1, 2)])
    both.snapshots = [StoredSnapshot(family: FamilyID(1), seq: 2, payload: Array("state".utf8))]
    try store.commit(both)
    store.close()
    let file = URL(fileURLWithPath: folder.path("a"))
    var bytes = try Data(contentsOf: file)
    bytes[try #require(bytes.range(of: Data("state".utf8))).lowerBound] ^= 1
    try bytes.write(to: file)
    let damaged = try SQLiteEventStore(path: folder.path("a"))
    try damaged.check()
    #expect(try damaged.snapshot(of: FamilyID(1)) == nil)
    #expect(try damaged.load(FamilyID(1)).events.count == 2)
    damaged.close()
  }

  @Test("refuses a file of another version")
  func version() throws {
    let folder = try Folder()
    func inFile<R>(_ body: (GRDB.Database) throws -> R) throws -> R {
      let queue = try DatabaseQueue(path: folder.path("a"))
      defer { try? queue.close() }
      return try queue.inDatabase(body)
    }
    let store = try SQLiteEventStore(path: folder.path("a"))
    try store.commit(batch([event(1, 1)]))
    store.close()
    let version = try inFile { try Int32.fetchOne($0, sql: "PRAGMA user_version") }
    #expect(version == 5)
    for other in [1, 2, 3, 4, 6] {
      try inFile { try $0.execute(sql: "PRAGMA user_version = \(other)") }
      #expect(throws: StoreError.self) { try SQLiteEventStore(path: folder.path("a")) }
    }
  }

  @Test(
    "a damaged index of commands is detected",
    arguments: [
      "DELETE FROM command WHERE row = 17", "UPDATE command SET row = row + 1 WHERE row = 64",
      "UPDATE command SET device = 9 WHERE row = 17",
    ])
  func damagedIndex(_ damage: String) throws {
    let folder = try Folder()
    let store = try SQLiteEventStore(path: folder.path("a"))
    try store.commit(batch((1...70).map { event(1, $0) }))
    try store.check()
    store.close()
    let queue = try DatabaseQueue(path: folder.path("a"))
    try queue.inDatabase { try $0.execute(sql: damage) }
    try queue.close()
    let damaged = try SQLiteEventStore(path: folder.path("a"))
    #expect {
      try damaged.check()
      _ = try damaged.event(of: event(1, 64).command, by: DeviceID(1), in: FamilyID(1))
    } throws: {
      ($0 as? StoreError)?.isDamage ?? false
    }
    damaged.close()
  }

  @Test("a missing event is detected")
  func missing() throws {
    let folder = try Folder()
    let store = try SQLiteEventStore(path: folder.path("a"))
    try store.commit(batch([event(1, 1), event(1, 2), event(1, 3)]))
    store.close()
    let queue = try DatabaseQueue(path: folder.path("a"))
    try queue.inDatabase { try $0.execute(sql: "DELETE FROM event WHERE seq = 2") }
    try queue.close()
    let damaged = try SQLiteEventStore(path: folder.path("a"))
    #expect { try damaged.load(FamilyID(1)) } throws: { ($0 as? StoreError)?.isDamage ?? false }
  }

  @Test(
    "a damaged reference between events is detected and does not trap",
    arguments: [
      "UPDATE event SET prior = id WHERE seq = 3", "UPDATE event SET prior = 4 WHERE seq = 3",
      "UPDATE head SET seq = -1", "UPDATE head SET seq = 1 << 62", "UPDATE head SET row = 4",
      "DELETE FROM head",
      "UPDATE mark SET seq = 1 << 62", "UPDATE mark SET row = 1",
    ])
  func damagedReference(_ damage: String) throws {
    let folder = try Folder()
    let store = try SQLiteEventStore(path: folder.path("a"))
    try store.commit(batch([event(1, 1), event(1, 2), event(1, 3), event(2, 1)]))
    try store.commit(batch((4...70).map { event(1, $0) }))
    store.close()
    let queue = try DatabaseQueue(path: folder.path("a"))
    try queue.inDatabase { db in
      // The tables after a cycle that wrote all heads.
      let row = try #require(
        try Int64.fetchOne(db, sql: "SELECT max(id) FROM event WHERE family = 1"))
      try db.execute(
        sql: "INSERT INTO head VALUES (1, ?, 70, ?)",
        arguments: [row, HeadCache.checksum(1, row: row, seq: 70)])
      try db.execute(
        sql: "INSERT INTO heads_written VALUES (1, ?, ?)",
        arguments: [row, HeadCache.checksum(0, row: row, seq: 0)])
      try db.execute(sql: damage)
      #expect(db.changesCount > 0)
    }
    try queue.close()
    let damaged = try SQLiteEventStore(path: folder.path("a"))
    func isFound(_ body: () throws -> Void) {
      #expect { try body() } throws: { ($0 as? StoreError)?.isDamage ?? false }
    }
    if damage.contains("mark") {
      isFound {
        _ = try damaged.events(
          of: FamilyID(1), .family, after: 0, through: .max, limit: 9, bytes: 999)
      }
    } else {
      isFound { try damaged.check() }
      isFound { _ = try damaged.load(FamilyID(1)) }
      // The search for a new command walks only the events after the last mark.
      if damage.contains("head") {
        let id = CommandID(high: 9, low: 9)
        isFound { _ = try damaged.event(of: id, by: DeviceID(1), in: FamilyID(1)) }
      }
      // A commit must not continue from an unknown head.
      #expect(throws: StoreError.self) { try damaged.commit(batch([event(1, 0)])) }
    }
    damaged.close()
  }

  @Test(
    "X2: heads are rebuilt after a crash, for any number of families and events")
  func heads() throws {
    let folder = try Folder()
    var store = try SQLiteEventStore(path: folder.path("a"))
    var seqs = [UInt64](repeating: 0, count: 30_000)
    var random = SystemRandomNumberGenerator()
    for round in 0..<60 {
      var next = Batch()
      for _ in 0..<2_000 {
        let family = Int.random(in: 1..<seqs.count, using: &random)
        seqs[family] += 1
        next.events.append(event(UInt64(family), seqs[family]))
      }
      try store.commit(next)
      guard round % 7 == 6 else { continue }
      // A copy of the open files, as a crash leaves them.
      let copy = folder.path("copy\(round)")
      for end in ["", "-wal"] {
        try FileManager.default.copyItem(atPath: folder.path("a") + end, toPath: copy + end)
      }
      store.close()
      store = try SQLiteEventStore(path: copy)
      for _ in 0..<200 {
        let family = Int.random(in: 1..<seqs.count, using: &random)
        let found = try store.load(FamilyID(UInt64(family))).events.map(\.seq)
        #expect(found == Array((1...(seqs[family] + 1)).dropLast()))
      }
      store.close()
      store = try SQLiteEventStore(path: folder.path("a"))
    }
    store.close()
  }

  @Test("a foreign file is refused and not changed")
  func foreign() throws {
    let folder = try Folder()
    let file = URL(fileURLWithPath: folder.path("a"))
    let bytes = Data((0..<8192).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    try bytes.write(to: file)
    #expect(throws: StoreError.self) { try SQLiteEventStore(path: file.path) }
    #expect(try Data(contentsOf: file) == bytes)
    let agent = try SQLiteAgentStore(path: folder.path("b"))
    agent.close()
    #expect(throws: StoreError.self) { try SQLiteEventStore(path: folder.path("b")) }
  }
}
