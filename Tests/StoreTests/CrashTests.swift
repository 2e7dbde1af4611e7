import FamilyModel
import Foundation
import RelayStore
import SQLiteStore
import TestDisk
import Testing

/// What is left after a crash at any moment, and after a disk that was full.
@Suite(.serialized) struct CrashTests {
  private static let families: UInt64 = 5
  private let folder: Folder
  private var path: String { folder.path("a") }

  init() throws { folder = try Folder() }

  /// What the store has, as far as the test knows: batch after batch.
  private struct Story {
    var random: IDSource
    /// Events of each family after so many batches.
    var counts: [[UInt64]] = [Array(repeating: 0, count: Int(families))]
    /// The cursor's position after so many batches.
    var delivered: [UInt64] = [0]
    /// Each family's snapshot after so many batches: the event that it includes.
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
      delivered.append(delivered.last! + 1)
      batch.cursors = [
        StoredCursor(
          family: FamilyID(1), device: DeviceID(1),
          cursor: Cursor(.family, delivered: delivered.last!))
      ]
      return batch
    }

    /// The number of batches that the store has: all of each.
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
    (limits.step, limits.rest, limits.renewal, limits.bound) = (6, 3, 20, 60)
    return limits
  }

  @Test(
    """
    X2: of a kill or a power cut at any moment, beside commits and copies, every commit that was \
    acknowledged is left, and of the one on its way all or nothing
    """, arguments: 1...3 as ClosedRange<UInt64>)
  func crash(_ seed: UInt64) throws {
    var story = Story(random: IDSource(seed: seed))
    let first = try SQLiteEventStore(path: path)
    try first.commit(story.next())
    first.close()
    // No copy goes on when the recording begins.
    let store = try SQLiteEventStore(path: path, limits: limits)
    let disk = try RecordedDisk(path, seed: seed)
    for commit in 2...100 {
      try store.commit(story.next())
      disk.acknowledge(commit)
      if commit % 8 == 0 { #expect(try story.batches(in: store) == commit) }
    }
    disk.stop()
    store.close()
    #expect(disk.beginnings > 2 && disk.copies > 100)
    var random = IDSource(seed: seed)
    for crash in 0..<20 {
      let count = Int(random.next() % UInt64(disk.steps.count + 1))
      let copy = folder.path("crash\(crash)")
      try disk.crash(after: count, powerCut: crash % 4 != 0, &random, to: copy)
      let heir = try SQLiteEventStore(path: copy)
      try heir.check()
      let acknowledged = max(1, disk.acknowledged(of: count))
      let found = try #require(try story.batches(in: heir))
      #expect((acknowledged...acknowledged + 1).contains(found), "seed \(seed), \(count) steps")
      var other = story
      (other.counts, other.delivered) = ([story.counts[found]], [story.delivered[found]])
      other.snapshots = [story.snapshots[found]]
      try heir.commit(other.next())
      #expect(try other.batches(in: heir) == 1)
      heir.close()
    }
    let again = try SQLiteEventStore(path: path)
    #expect(try story.batches(in: again) == 100)
    again.close()
  }

  @Test(
    "X2: of commits whose sync failed nothing is told before the disk has it, though the system says that it has"
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
    // As after a kill: what was not written is in the system's memory, which takes it for written.
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

  @Test(
    "X2: a crash while the file is made leaves one that can be opened",
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
    "X2: where the disk is full nothing of a commit is kept; a full log does not hinder the next one",
    arguments: [true, false])
  func full(_ isLogOnly: Bool) throws {
    var story = Story(random: IDSource(seed: 1))
    var limits = limits
    // Then the commits copy nothing themselves: a copy that fails is told for good.
    if isLogOnly { limits.renewal = .max }
    var store = try SQLiteEventStore(path: path, limits: limits)
    var refused = 0
    for commit in 1...120 {
      let batch = story.next()
      fail_pwrite_after(Int(story.random.next() % 24))
      let result = Result { () throws(StoreError) in try store.commit(batch) }
      fail_pwrite_after(-1)
      if case .failure(let error) = result {
        #expect(error == .full)
        refused += 1
        if !isLogOnly {
          store.close()
          store = try SQLiteEventStore(path: path, limits: limits)
          #expect(try story.batches(in: store) == commit - 1)
        }
        try store.commit(batch)
      }
      if commit % 10 == 0 { #expect(try story.batches(in: store) == commit) }
    }
    #expect(refused > 20)
    store.close()
    let again = try SQLiteEventStore(path: path)
    try again.check()
    #expect(try story.batches(in: again) == 120)
    again.close()
  }

  @Test("A3: where the disk is full a device keeps nothing of its changes, and can make others")
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

  @Test("a file that may not be written is refused at the start, and not at the first commit")
  func readOnly() throws {
    try SQLiteEventStore(path: path).close()
    try SQLiteAgentStore(path: folder.path("b")).close()
    deny_writing(1)
    defer { deny_writing(0) }
    #expect(throws: StoreError.io("the store may not be written")) {
      try SQLiteEventStore(path: path)
    }
    #expect(throws: StoreError.io("the store may not be written")) {
      try SQLiteAgentStore(path: folder.path("b"))
    }
    deny_writing(0)
    let store = try SQLiteEventStore(path: path)
    try store.commit(batch([event(1, 1)]))
    store.close()
  }

  @Test("a file that could not be opened is not kept locked")
  func unlocked() throws {
    let other = try SQLiteAgentStore(path: path)
    other.close()
    #expect(throws: StoreError.self) { try SQLiteEventStore(path: path) }
    let again = try SQLiteAgentStore(path: path)
    try again.apply([Change(key: [1], value: [1])])
    again.close()
  }
}
