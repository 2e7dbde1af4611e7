import FamilyModel
import Foundation
import GRDB
import RelayStore
import SQLiteStore
import TestDisk
import Testing

/// The stored state after a crash at any moment, and after a full disk.
@Suite(.serialized) struct CrashTests {
  private static let families: UInt64 = 5
  private let folder: Folder
  private var path: String { folder.path("a") }

  init() throws { folder = try Folder() }

  /// The state that the store must have after each batch.
  private struct ExpectedStates {
    var random: IDSource
    /// Events of each family, by number of batches.
    var counts: [[UInt64]] = [Array(repeating: 0, count: Int(families))]
    /// The cursor's position, by number of batches.
    var delivered: [UInt64] = [0]
    /// The newest event in each family's snapshot, by number of batches.
    var snapshots: [[UInt64]] = [Array(repeating: 0, count: Int(families))]

    static func event(_ family: Int, _ seq: UInt64) -> StoredEvent {
      var event = StoreTests.event(UInt64(family) + 1, seq)
      event.payload += Array(
        repeating: UInt8(truncatingIfNeeded: seq), count: Int(seq.scattered % 2_500))
      return event
    }

    static func snapshot(_ family: Int, _ seq: UInt64) -> StoredSnapshot {
      StoredSnapshot(
        family: FamilyID(UInt64(family) + 1), seq: seq,
        payload: Array(
          repeating: UInt8(truncatingIfNeeded: seq), count: Int(seq.scattered % 10_000)))
    }

    mutating func next() -> Batch {
      var (batch, count) = (Batch(), counts.last!)
      for _ in 0...random.next() % 6 {
        let family = Int(random.next() % families)
        count[family] += 1
        batch.events.append(Self.event(family, count[family]))
      }
      counts.append(count)
      var snapshot = snapshots.last!
      let family = Int(random.next() % families)
      if snapshot[family] < count[family] {
        snapshot[family] = count[family]
        batch.snapshots = [Self.snapshot(family, count[family])]
      }
      snapshots.append(snapshot)
      delivered.append(min(delivered.last! + 1, count[0]))
      batch.cursors = [
        StoredCursor(
          family: FamilyID(1), device: DeviceID(1),
          cursor: Cursor(.family, delivered: delivered.last!))
      ]
      return batch
    }

    /// The states from this batch on.
    func starting(at batch: Int) -> Self {
      var other = self
      (other.counts, other.delivered) = ([counts[batch]], [delivered[batch]])
      other.snapshots = [snapshots[batch]]
      return other
    }

    /// The number of batches that the store has; `nil` if the store has part of a batch.
    func batches(in store: SQLiteEventStore) throws -> Int? {
      let found = try (0..<Int(families)).map { family in
        let events = try store.load(FamilyID(UInt64(family) + 1)).events
        #expect(events == events.indices.map { Self.event(family, UInt64($0) + 1) })
        return UInt64(events.count)
      }
      let cursor = try store.load(FamilyID(1)).cursors.first?.cursor.delivered ?? 0
      let snapshots = try (0..<Int(families)).map { family in
        let snapshot = try store.snapshot(of: FamilyID(UInt64(family) + 1))
        let seq = snapshot?.seq ?? 0
        #expect(snapshot == (seq == 0 ? nil : Self.snapshot(family, seq)))
        return seq
      }
      return counts.indices.first {
        counts[$0] == found && delivered[$0] == cursor && self.snapshots[$0] == snapshots
      }
    }
  }

  private var limits: LogLimits {
    var limits = LogLimits()
    limits.backgroundCopyThreshold = 6
    limits.framesCopiedInCommit = 3
    limits.restartThreshold = 20
    limits.maximumFrames = 60
    return limits
  }

  @Test(
    "X2: a kill or power cut at any moment keeps each acknowledged commit and no partial one",
    arguments: 1...3 as ClosedRange<UInt64>)
  func crash(_ seed: UInt64) throws {
    var expected = ExpectedStates(random: IDSource(seed: seed))
    let first = try SQLiteEventStore(path: path)
    try first.commit(expected.next())
    first.close()
    // Closing ends all checkpoints before the recording starts.
    let store = try SQLiteEventStore(path: path, limits: limits)
    let disk = try RecordedDisk(path, seed: seed)
    for commit in 2...100 {
      try store.commit(expected.next())
      disk.acknowledge(commit)
      if commit % 8 == 0 { #expect(try expected.batches(in: store) == commit) }
    }
    disk.stop()
    store.close()
    #expect(disk.logRestarts > 2 && disk.copiedPages > 100)
    var random = IDSource(seed: seed)
    for crash in 0..<20 {
      let count = Int(random.next() % UInt64(disk.steps.count + 1))
      let copy = folder.path("crash\(crash)")
      try disk.crash(after: count, powerCut: crash % 4 != 0, &random, to: copy)
      #expect(try scannedFrames(copy) == (try framesReadBySQLite(copy)), "crash \(crash)")
      let heir = try SQLiteEventStore(path: copy)
      try heir.check()
      let acknowledged = max(1, disk.acknowledged(of: count))
      let found = try #require(try expected.batches(in: heir))
      #expect((acknowledged...acknowledged + 1).contains(found), "seed \(seed), \(count) steps")
      var other = expected.starting(at: found)
      try heir.commit(other.next())
      #expect(try other.batches(in: heir) == 1)
      heir.close()
    }
    let again = try SQLiteEventStore(path: path)
    #expect(try expected.batches(in: again) == 100)
    again.close()
  }

  /// The frames of the log up to its last commit, as the store finds them at its start.
  private func scannedFrames(_ path: String) throws -> Int {
    let log = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path + "-wal")))
    let scan = LogScan(size: Int64(log.count)) { bytes, offset in
      bytes = Array(log[Int(offset)..<Int(offset) + bytes.count])
    }
    #expect(scan?.isDamaged != true)
    return scan?.committedFrames ?? 0
  }

  /// The frames that SQLite itself finds in a copy of the files.
  private func framesReadBySQLite(_ path: String) throws -> Int {
    let copy = folder.path("counted")
    for end in ["", "-wal"] {
      try? FileManager.default.removeItem(atPath: copy + end)
      try FileManager.default.copyItem(atPath: path + end, toPath: copy + end)
    }
    let queue = try DatabaseQueue(path: copy)
    defer { try? queue.close() }
    return try queue.inDatabase { db in
      try Row.fetchOne(db, sql: "PRAGMA wal_checkpoint(PASSIVE)").map { $0[1] } ?? -1
    }
  }

  @Test(
    "O2: after an error of the disk, each acknowledged commit is there and no partial one")
  func errors() throws {
    var expected = ExpectedStates(random: IDSource(seed: 1))
    var random = IDSource(seed: 1)
    try SQLiteEventStore(path: path).close()
    var (file, failures, kept) = (path, 0, 0)
    for life in 0..<60 {
      let store = try SQLiteEventStore(path: file, limits: limits)
      #expect(try expected.batches(in: store) == 0)
      let disk = try RecordedDisk(file, seed: UInt64(life))
      let inodes = disk.inodes
      var acknowledged = 0
      let isFailed = (0..<60).contains { _ in
        let operation = [DISK_READS, DISK_WRITES, DISK_SYNCS][Int(random.next() % 3)]
        let remains = [DISK_NOTHING, DISK_HALF, DISK_ALL][Int(random.next() % 3)]
        fail_disk(inodes[0], inodes[1], operation, Int(random.next() % 60), remains)
        let batch = expected.next()
        do { try store.commit(batch) } catch { return true }
        acknowledged += 1
        disk.acknowledge(acknowledged)
        return false
      }
      fail_disk(0, 0, DISK_READS, -1, DISK_NOTHING)
      disk.stop()
      let copy = folder.path("life\(life)")
      let powerCut = random.next() & 1 == 0
      try disk.crash(after: disk.steps.count, powerCut: powerCut, &random, to: copy)
      store.close()
      let heir = try SQLiteEventStore(path: copy)
      try heir.check()
      let found = try #require(try expected.batches(in: heir))
      let possible = acknowledged...acknowledged + (isFailed ? 1 : 0)
      #expect(possible.contains(found), "life \(life)")
      if isFailed { failures += 1 }
      if found > acknowledged { kept += 1 }
      heir.close()
      expected = expected.starting(at: found)
      file = copy
    }
    #expect(failures > 40 && kept > 0)
  }

  @Test(
    "X2: commits whose sync failed are synced before they are read, though their pages look clean"
  )
  func forgotten() throws {
    func copy(to name: String) throws -> [Data] {
      try ["", "-wal"].map { suffix in
        try FileManager.default.copyItem(
          atPath: path + suffix, toPath: folder.path(name + suffix))
        return try Data(contentsOf: URL(fileURLWithPath: path + suffix))
      }
    }
    let store = try SQLiteEventStore(path: path)
    try store.commit(batch([event(1, 1)]))
    let held = try copy(to: "held")
    var status = stat()
    #expect(stat(path + "-wal", &status) == 0)
    fail_fdatasync(status.st_ino, 1)
    #expect(throws: StoreError.self) { try store.commit(batch([event(1, 2)])) }
    fail_fdatasync(status.st_ino, 0)
    // The files after a kill. The kernel holds the unwritten pages in memory and treats them as
    // clean.
    _ = try copy(to: "b")
    store.close()
    let disk = try RecordedDisk(folder.path("b"), seed: 1, held: held)
    let heir = try SQLiteEventStore(path: folder.path("b"))
    let told = try heir.load(FamilyID(1)).events
    #expect(told.count == 2)
    disk.stop()
    var random = IDSource(seed: 1)
    try disk.crash(after: disk.steps.count, powerCut: true, &random, to: folder.path("c"))
    heir.close()
    let last = try SQLiteEventStore(path: folder.path("c"))
    #expect(try last.load(FamilyID(1)).events == told)
    last.close()
  }

  @Test("X2: a power cut after the first commit does not lose the new file")
  func entry() throws {
    var status = stat()
    #expect(stat(folder.url.path, &status) == 0)
    for name in ["a", "a-wal"] {
      let file = folder.path(name)
      watch_entry(status.st_ino, file)
      defer { watch_entry(0, "") }
      let store = try SQLiteEventStore(path: folder.path("a"))
      try store.commit(batch([event(1, name == "a" ? 1 : 2)]))
      #expect(counted_entry_syncs() > 0, "\(name)")
      store.close()
    }
  }

  @Test(
    "X2: a crash while the file is created leaves a file that can be opened",
    arguments: Array(stride(from: 0, to: 36, by: 2)))
  func creation(_ writes: Int) throws {
    fail_pwrite_after(writes)
    let first = Result { try SQLiteEventStore(path: path) }
    fail_pwrite_after(-1)
    (try? first.get())?.close()
    let store = try SQLiteEventStore(path: path)
    try store.commit(batch([event(1, 1)]))
    store.close()
    #expect(try SQLiteEventStore(path: path).load(FamilyID(1)).events == [event(1, 1)])
  }

  @Test(
    "X2: a full disk stores nothing of a commit, and the next commit succeeds once there is space",
    arguments: [true, false])
  func full(_ isLogOnly: Bool) throws {
    var expected = ExpectedStates(random: IDSource(seed: 1))
    var limits = limits
    // Without restarts no commit checkpoints, because a failed checkpoint would fail every later
    // commit.
    if isLogOnly { limits.restartThreshold = .max }
    var store = try SQLiteEventStore(path: path, limits: limits)
    var refused = 0
    for commit in 1...120 {
      let batch = expected.next()
      fail_pwrite_after(Int(expected.random.next() % 24))
      let result = Result { () throws(StoreError) in try store.commit(batch) }
      fail_pwrite_after(-1)
      if case .failure(let error) = result {
        #expect(error == .full)
        refused += 1
        if !isLogOnly {
          store.close()
          store = try SQLiteEventStore(path: path, limits: limits)
          #expect(try expected.batches(in: store) == commit - 1)
        }
        try store.commit(batch)
      }
      if commit % 10 == 0 { #expect(try expected.batches(in: store) == commit) }
    }
    #expect(refused > 20)
    store.close()
    let again = try SQLiteEventStore(path: path)
    try again.check()
    #expect(try expected.batches(in: again) == 120)
    again.close()
  }

  @Test("A3: a full disk stores nothing of a device's changes, and later changes succeed")
  func fullAgent() throws {
    let store = try SQLiteAgentStore(path: path)
    try store.apply([Change(key: [1], value: [1])])
    let changes = [Change(key: [1], value: [2]), Change(key: [2], value: [2])]
    fail_pwrite_after(1)
    #expect(throws: StoreError.full) { try store.apply(changes) }
    fail_pwrite_after(-1)
    #expect(try store.load(prefix: []).map(\.value) == [[1]])
    try store.apply(changes)
    #expect(try store.load(prefix: []).map(\.value) == [[2], [2]])
    store.close()
  }

  @Test("a read-only file is refused at the start, not at the first commit")
  func readOnly() throws {
    try SQLiteEventStore(path: path).close()
    try SQLiteAgentStore(path: folder.path("b")).close()
    deny_writing(1)
    defer { deny_writing(0) }
    #expect(throws: StoreError.io("the file is read-only")) {
      try SQLiteEventStore(path: path)
    }
    #expect(throws: StoreError.io("the file is read-only")) {
      try SQLiteAgentStore(path: folder.path("b"))
    }
    deny_writing(0)
    let store = try SQLiteEventStore(path: path)
    try store.commit(batch([event(1, 1)]))
    store.close()
  }

  @Test("a file whose opening failed is not left locked")
  func unlocked() throws {
    let other = try SQLiteAgentStore(path: path)
    other.close()
    #expect(throws: StoreError.self) { try SQLiteEventStore(path: path) }
    let again = try SQLiteAgentStore(path: path)
    try again.apply([Change(key: [1], value: [1])])
    again.close()
  }
}
