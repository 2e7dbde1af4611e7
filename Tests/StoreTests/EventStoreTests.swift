import FamilyModel
import Foundation
import GRDB
import RelayStore
import SQLiteStore
import TestDisk
import Testing

/// A folder that is gone with the value.
final class Folder {
  let url: URL
  init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }
  deinit { try? FileManager.default.removeItem(at: url) }
  func path(_ name: String) -> String { url.appendingPathComponent(name).path }
}

func event(_ family: UInt64, _ seq: UInt64, _ audience: Audience = .family) -> StoredEvent {
  StoredEvent(
    family: FamilyID(family), seq: seq, audience: audience,
    command: ID128(high: family, low: seq), at: Instant(milliseconds: Int64(seq)),
    payload: Array("event \(seq) of \(family)".utf8))
}

func batch(_ events: [StoredEvent]) -> Batch {
  var batch = Batch()
  batch.events = events
  return batch
}

enum StoreKind: CaseIterable { case memory, sqlite }

@Suite struct EventStoreTests {
  private func store(_ kind: StoreKind, _ folder: Folder) throws -> any EventStore {
    kind == .memory ? MemoryEventStore() : try SQLiteEventStore(path: folder.path("relay.sqlite"))
  }

  @Test("M3: events come back in order, each family its own", arguments: StoreKind.allCases)
  func order(_ kind: StoreKind) throws {
    let folder = try Folder()
    let store = try store(kind, folder)
    try store.commit(batch([event(1, 1), event(2, 1), event(1, 2), event(2, 2), event(1, 3)]))
    #expect(try store.load(FamilyID(1)).events == [event(1, 1), event(1, 2), event(1, 3)])
    #expect(try store.load(FamilyID(2)).events == [event(2, 1), event(2, 2)])
    #expect(try store.load(FamilyID(3)).events.isEmpty)
  }

  @Test("X2: a batch with a conflict keeps nothing", arguments: StoreKind.allCases)
  func atomic(_ kind: StoreKind) throws {
    let folder = try Folder()
    let store = try store(kind, folder)
    try store.commit(batch([event(1, 1)]))
    #expect(throws: StoreError.conflict) { try store.commit(batch([event(1, 2), event(1, 1)])) }
    #expect(throws: StoreError.conflict) { try store.commit(batch([event(1, 2), event(1, 4)])) }
    #expect(try store.load(FamilyID(1)).events == [event(1, 1)])
  }

  @Test(
    "X2: a command leads to the place of its first event, for ever", arguments: StoreKind.allCases)
  func dedupe(_ kind: StoreKind) throws {
    let folder = try Folder()
    let store = try store(kind, folder)
    try store.commit(batch([event(1, 1), event(1, 2)]))
    #expect(try store.seq(of: event(1, 2).command, in: FamilyID(1)) == 2)
    #expect(try store.seq(of: event(1, 2).command, in: FamilyID(2)) == nil)
  }

  @Test(
    "M5: pages of an audience end at a limit or a size, and hold at least one event",
    arguments: StoreKind.allCases)
  func pages(_ kind: StoreKind) throws {
    let folder = try Folder()
    let store = try store(kind, folder)
    let talk = Audience.conversation(PersonID(3))
    try store.commit(batch((1...10).map { event(1, $0, $0 % 2 == 0 ? talk : .family) }))
    let first = try store.events(of: FamilyID(1), talk, after: 2, limit: 2, bytes: 1 << 20)
    #expect(first.events.map(\.seq) == [4, 6])
    #expect(first.more)
    let last = try store.events(of: FamilyID(1), talk, after: 6, limit: 2, bytes: 1 << 20)
    #expect(last.events.map(\.seq) == [8, 10])
    #expect(!last.more)
    let small = try store.events(of: FamilyID(1), talk, after: 0, limit: 9, bytes: 1)
    #expect(small.events.map(\.seq) == [2])
    #expect(small.more)
  }

  @Test("M4: a cursor replaces the one before it", arguments: StoreKind.allCases)
  func cursors(_ kind: StoreKind) throws {
    let folder = try Folder()
    let store = try store(kind, folder)
    for delivered: UInt64 in [3, 5] {
      var batch = Batch()
      batch.cursors = [
        StoredCursor(
          family: FamilyID(1), device: DeviceID(2),
          cursor: Cursor(.family, delivered: delivered, read: 1))
      ]
      try store.commit(batch)
    }
    #expect(try store.load(FamilyID(1)).cursors.map(\.cursor.delivered) == [5])
  }

  @Test(
    "a snapshot replaces the one before it, and the events after it can be read alone",
    arguments: StoreKind.allCases)
  func snapshot(_ kind: StoreKind) throws {
    let folder = try Folder()
    let store = try store(kind, folder)
    var all = batch([event(1, 1), event(1, 2), event(1, 3)])
    let snapshots = [1, 2].map { seq in
      StoredSnapshot(family: FamilyID(1), seq: seq, payload: [1, 2, UInt8(seq)])
    }
    all.snapshots = snapshots
    try store.commit(all)
    #expect(try store.snapshot(of: FamilyID(1)) == snapshots[1])
    #expect(try store.snapshot(of: FamilyID(2)) == nil)
    #expect(try store.load(FamilyID(1), after: 2).events == [event(1, 3)])
    #expect(try store.load(FamilyID(1), after: 3).events.isEmpty)
    #expect(try store.load(FamilyID(1)).events.count == 3)
  }
}

@Suite struct SQLiteStoreTests {
  @Test("X2: each commit is synchronised to the disk: WAL with synchronous=FULL")
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

  @Test("X2: a commit calls fdatasync before it returns, once")
  func synchronises() throws {
    let folder = try Folder()
    let store = try SQLiteEventStore(path: folder.path("a"))
    for seq: UInt64 in 1...50 {
      let before = counted_fdatasync()
      try store.commit(batch([event(1, seq)]))
      #expect(counted_fdatasync() - before == 1)
    }
  }

  @Test("X2: what a killed process had not come to sync is synced before anybody is told of it")
  func inheritedLog() throws {
    let folder = try Folder()
    let store = try SQLiteEventStore(path: folder.path("a"))
    try store.commit(batch([event(1, 1)]))
    // As after a kill: the file and its log, with a commit of which nobody knows whether it was synced.
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(
        atPath: folder.path("a" + suffix), toPath: folder.path("b" + suffix))
    }
    let before = counted_fdatasync()
    let heir = try SQLiteEventStore(path: folder.path("b"))
    // The log, and the folder in which it stands.
    #expect(counted_fdatasync() - before == 2)
    #expect(try heir.load(FamilyID(1)).events == [event(1, 1)])
  }

  @Test("a store with a flipped byte is refused at the start, with its number")
  func check() throws {
    let folder = try Folder()
    let store = try SQLiteEventStore(path: folder.path("a"))
    try store.commit(batch((1...40).map { event(1, $0) }))
    try store.check()
    store.close()
    var bytes = try Data(contentsOf: URL(fileURLWithPath: folder.path("a")))
    let place = try #require(bytes.firstRange(of: Data("event 17 of 1".utf8)))
    bytes[place.lowerBound] ^= 1
    try bytes.write(to: URL(fileURLWithPath: folder.path("a")))
    let damaged = try SQLiteEventStore(path: folder.path("a"))
    #expect {
      try damaged.check()
    } throws: {
      ($0 as? StoreError)?.description.hasPrefix("problem 503") ?? false
    }
  }

  @Test(
    "of a large store the newest events are checked at the start, and all others when they are read"
  )
  func largeCheck() throws {
    let folder = try Folder()
    let path = folder.path("a")
    let store = try SQLiteEventStore(path: path)
    try store.commit(batch((1...20).map { event(1, $0) }))
    try store.commit(batch((1...20).map { event(2, $0) }))
    // The newest begin in the middle of a family's chain, and elsewhere hold some of one chain only.
    for newest: Int64 in [1, 15, 20, 30, 40, 50] { try store.check(whole: 0, newest: newest) }
    store.close()
    let sound = try Data(contentsOf: URL(fileURLWithPath: path))
    for (text, isFound) in [("event 17 of 1", false), ("event 17 of 2", true)] {
      var bytes = sound
      let place = try #require(bytes.firstRange(of: Data(text.utf8)))
      bytes[place.lowerBound] ^= 1
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

  @Test("what was committed is there after the file was closed")
  func reopen() throws {
    let folder = try Folder()
    let store = try SQLiteEventStore(path: folder.path("a"))
    try store.commit(batch([event(1, 1)]))
    store.close()
    #expect(try SQLiteEventStore(path: folder.path("a")).load(FamilyID(1)).events == [event(1, 1)])
  }

  @Test("a file has one user, and only its owner may read it")
  func locked() throws {
    let folder = try Folder()
    let store = try SQLiteEventStore(path: folder.path("a"))
    #expect(throws: StoreError.locked) { try SQLiteEventStore(path: folder.path("a")) }
    let mode = try FileManager.default.attributesOfItem(atPath: folder.path("a"))[.posixPermissions]
    #expect(mode as? Int == 0o600)
    store.close()
  }

  @Test("a file has one user: other processes are kept out, too")
  func excluded() throws {
    let folder = try Folder()
    let store = try SQLiteEventStore(path: folder.path("a"))
    try store.commit(batch([event(1, 1)]))
    // As another process would see it: locks of open files know those of processes, even of this one.
    let descriptor = Glibc.open(folder.path("a"), O_RDWR)
    defer { Glibc.close(descriptor) }
    var lock = flock(
      l_type: Int16(F_RDLCK), l_whence: Int16(SEEK_SET), l_start: 0x4000_0000, l_len: 512, l_pid: 0)
    let ofdGetLock: Int32 = 36  // F_OFD_GETLK, which the C library tells to C only.
    #expect(fcntl(descriptor, ofdGetLock, &lock) == 0)
    #expect(lock.l_type == Int16(F_WRLCK))
    store.close()
  }

  @Test("a changed byte of an event is found, and the file stays as it is")
  func flipped() throws {
    let folder = try Folder()
    let store = try SQLiteEventStore(path: folder.path("a"))
    try store.commit(batch([event(1, 1), event(1, 2)]))
    store.close()
    let file = URL(fileURLWithPath: folder.path("a"))
    var bytes = try Data(contentsOf: file)
    let place = try #require(bytes.range(of: Data("event 2 of 1".utf8)))
    bytes[place.lowerBound] ^= 1
    try bytes.write(to: file)
    let damaged = try SQLiteEventStore(path: folder.path("a"))
    #expect { try damaged.load(FamilyID(1)) } throws: { ($0 as? StoreError)?.isDamage ?? false }
    damaged.close()
    #expect(try Data(contentsOf: file) == bytes)
  }

  @Test("a damaged snapshot is passed over; one that is ahead of its family's events is damage")
  func damagedSnapshot() throws {
    let folder = try Folder()
    let store = try SQLiteEventStore(path: folder.path("a"))
    var both = batch([event(1, 1), event(1, 2)])
    both.snapshots = [StoredSnapshot(family: FamilyID(1), seq: 2, payload: Array("state".utf8))]
    try store.commit(both)
    #expect(throws: StoreError.self) { try store.load(FamilyID(1), after: 3) }
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

  @Test("a file from before there were snapshots is gone on from, and is one of this version then")
  func version() throws {
    let folder = try Folder()
    func inFile<R>(_ body: (GRDB.Database) throws -> R) throws -> R {
      let queue = try DatabaseQueue(path: folder.path("a"))
      defer { try? queue.close() }
      return try queue.inDatabase(body)
    }
    var store = try SQLiteEventStore(path: folder.path("a"))
    try store.commit(batch([event(1, 1)]))
    store.close()
    let version = try inFile { try Int32.fetchOne($0, sql: "PRAGMA user_version") }
    #expect(version == 3)
    try inFile { try $0.execute(sql: "PRAGMA user_version = 2") }
    store = try SQLiteEventStore(path: folder.path("a"))
    #expect(try store.load(FamilyID(1)).events == [event(1, 1)])
    store.close()
    #expect(try inFile { try Int32.fetchOne($0, sql: "PRAGMA user_version") } == version)
    for other in [1, 4] {
      try inFile { try $0.execute(sql: "PRAGMA user_version = \(other)") }
      #expect(throws: StoreError.self) { try SQLiteEventStore(path: folder.path("a")) }
    }
  }

  @Test("a missing event is found")
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
    "what leads from event to event is not believed: a damaged place is found, and ends no process",
    arguments: [
      "UPDATE event SET prior = id WHERE seq = 3", "UPDATE event SET prior = 4 WHERE seq = 3",
      "UPDATE head SET seq = -1", "UPDATE head SET seq = 1 << 62", "UPDATE head SET row = 4",
      "UPDATE mark SET seq = 1 << 62", "UPDATE mark SET row = 1",
    ])
  func damagedPlaces(_ damage: String) throws {
    let folder = try Folder()
    let store = try SQLiteEventStore(path: folder.path("a"))
    try store.commit(batch([event(1, 1), event(1, 2), event(1, 3), event(2, 1)]))
    try store.commit(batch((4...70).map { event(1, $0) }))
    store.close()
    let queue = try DatabaseQueue(path: folder.path("a"))
    try queue.inDatabase { db in
      // As after a cycle in which all heads were written.
      try db.execute(
        sql: "INSERT INTO head SELECT 1, max(id), max(seq) FROM event WHERE family = 1")
      try db.execute(sql: "INSERT INTO heads_written SELECT 1, max(id) FROM event")
      try db.execute(sql: damage)
      #expect(db.changesCount > 0)
    }
    try queue.close()
    let damaged = try SQLiteEventStore(path: folder.path("a"))
    func isFound(_ body: () throws -> Void) {
      #expect { try body() } throws: { ($0 as? StoreError)?.isDamage ?? false }
    }
    if damage.contains("mark") {
      isFound { _ = try damaged.events(of: FamilyID(1), .family, after: 0, limit: 9, bytes: 999) }
    } else {
      isFound { try damaged.check() }
      isFound { _ = try damaged.load(FamilyID(1)) }
      isFound { _ = try damaged.seq(of: CommandID(high: 9, low: 9), in: FamilyID(1)) }
      // Nothing goes on from a place that is not known.
      #expect(throws: StoreError.self) { try damaged.commit(batch([event(1, 0)])) }
    }
    damaged.close()
  }

  @Test(
    "X2: what was written behind is known again after a crash: any number of families and events")
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
      // A copy of the files, as a crash leaves them.
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

  @Test("M5: a page in the middle of a long history begins where it was asked for")
  func longHistory() throws {
    let folder = try Folder()
    let store = try SQLiteEventStore(path: folder.path("a"))
    let talk = Audience.conversation(PersonID(3))
    try store.commit(batch((1...1_000).map { event(1, $0, $0 % 3 == 0 ? talk : .family) }))
    for after: UInt64 in [0, 1, 62, 63, 64, 65, 500, 995, 999, 1_000] {
      let page = try store.events(of: FamilyID(1), talk, after: after, limit: 50, bytes: 1 << 20)
      let all = (1...1_000).filter { $0 % 3 == 0 && UInt64($0) > after }
      #expect(page.events.map { Int($0.seq) } == Array(all.prefix(50)))
      #expect(page.more == (all.count > 50))
    }
    #expect(try store.seq(of: event(1, 7).command, in: FamilyID(1)) == 7)
    #expect(try store.seq(of: event(2, 7).command, in: FamilyID(1)) == nil)
  }

  @Test("a file of something else is refused, and stays as it is")
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

@Suite struct AgentStoreTests {
  @Test(
    "a device's records come back by prefix, in the order of their keys",
    arguments: StoreKind.allCases)
  func records(_ kind: StoreKind) throws {
    let folder = try Folder()
    let store: any AgentStore =
      kind == .memory ? MemoryAgentStore() : try SQLiteAgentStore(path: folder.path("agent"))
    try store.apply([
      Change(key: [1, 2], value: [20]), Change(key: [1, 1], value: [10]),
      Change(key: [2], value: [30]), Change(key: [1, 3], value: [40]),
    ])
    try store.apply([Change(key: [1, 3], value: nil), Change(key: [1, 2], value: [21])])
    let found = try store.load(prefix: [1])
    #expect(found.map(\.key) == [[1, 1], [1, 2]])
    #expect(found.map(\.value) == [[10], [21]])
    store.close()
  }

  @Test("A3: a device's commit calls fdatasync before it returns, once")
  func synchronises() throws {
    let folder = try Folder()
    let store = try SQLiteAgentStore(path: folder.path("agent"))
    for number: UInt8 in 1...50 {
      let before = counted_fdatasync()
      try store.apply([Change(key: [number], value: [1])])
      #expect(counted_fdatasync() - before == 1)
    }
  }
}
