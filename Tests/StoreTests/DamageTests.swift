import FamilyModel
import Foundation
import GRDB
import RelayStore
import SQLiteStore
import Testing

/// Files that a disk has damaged without an error: what the store reads is true, or an error.
@Suite struct DamageTests {
  private static let families: UInt64 = 12
  private static let page = 4_096
  private static let logHeader = 32
  private static let audience = Audience.conversation(PersonID(3))

  /// Damage that a disk does without an error.
  enum Damage: CaseIterable {
    /// A bit differs.
    case flippedBit
    /// A bit of the newest positions of families differs.
    case flippedBitOfHeads
    /// A sector has lost its content.
    case erasedSector
    /// A page was never written again after an earlier commit.
    case stalePage
    /// A page was written to the place of another one, and its own place is stale.
    case misdirectedPage
    /// A bit of the log differs.
    case flippedBitOfLog
    /// The end of the log has lost its content.
    case erasedEndOfLog

    /// Whether the files may equal those of an earlier commit. No store can tell them apart.
    var mayBeEarlier: Bool {
      switch self {
      case .flippedBit, .flippedBitOfHeads, .erasedSector, .flippedBitOfLog: false
      case .stalePage, .misdirectedPage, .erasedEndOfLog: true
      }
    }
  }

  /// The files of a store, at the end and after an earlier commit.
  private struct Files {
    /// The database after the log was copied into it.
    var database: Data
    var earlier: Data
    /// The database and its log of a process that was killed.
    var killed: [Data]
    /// The number of events of each family.
    var counts: [UInt64]
    /// The pages of the families' newest positions.
    var heads: [Int]
  }

  private static let files = Result {
    let folder = try Folder()
    return try makeFiles(folder)
  }

  private static func event(_ family: UInt64, _ seq: UInt64) -> StoredEvent {
    var event = StoreTests.event(family, seq, seq % 3 == 0 ? .family : audience)
    event.payload += Array(repeating: UInt8(truncatingIfNeeded: seq), count: Int(seq % 300))
    return event
  }

  private static func data(_ path: String) throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: path))
  }

  /// Writes a database and its log.
  private static func write(_ files: [Data], to path: String) throws {
    for (data, end) in zip(files, ["", "-wal"]) {
      try data.write(to: URL(fileURLWithPath: path + end))
    }
  }

  /// A store with marks, heads, cursors and snapshots, most of them in the database and some in the
  /// log. The heads of the first half of the families were written long ago.
  private static func makeFiles(_ folder: Folder) throws -> Files {
    var limits = LogLimits()
    limits.backgroundCopyThreshold = .max
    var counts = [UInt64](repeating: 0, count: Int(families) + 1)
    var random = IDSource(seed: 1)
    var (earlier, killed) = (Data(), [Data]())
    for part in 0..<6 {
      let store = try SQLiteEventStore(path: folder.path("a"), limits: limits, headCycle: 3)
      for _ in 0..<60 {
        var batch = Batch()
        for _ in 0..<4 {
          let family = 1 + random.next() % (part < 3 ? families : families / 2)
          counts[Int(family)] += 1
          let count = counts[Int(family)]
          batch.events.append(event(family, count))
          batch.cursors.append(
            StoredCursor(
              family: FamilyID(family), device: DeviceID(1),
              cursor: Cursor(.family, delivered: count)))
          if count % 20 == 0 {
            batch.snapshots.append(
              StoredSnapshot(
                family: FamilyID(family), seq: count,
                payload: Array(repeating: UInt8(count), count: 900)))
          }
        }
        try store.commit(batch)
      }
      killed = try ["", "-wal"].map { try data(folder.path("a") + $0) }
      store.close()
      if part == 2 { earlier = try data(folder.path("a")) }
    }
    let queue = try DatabaseQueue(path: folder.path("a"))
    let heads = try queue.inDatabase {
      try Int.fetchAll(
        $0, sql: "SELECT rootpage FROM sqlite_master WHERE name IN ('head', 'heads_written')")
    }
    return Files(
      database: try data(folder.path("a")), earlier: earlier, killed: killed, counts: counts,
      heads: heads)
  }

  private static func apply(_ damage: Damage, to files: Files, _ random: inout IDSource) -> [Data] {
    var (database, killed) = (files.database, files.killed)
    func place(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
    func flip(_ data: inout Data, _ place: Int) { data[place] ^= 1 << UInt8(random.next() % 8) }
    func content(_ data: Data, _ index: Int) -> Data { data[index * page..<(index + 1) * page] }
    func put(_ content: Data, _ index: Int) {
      database.replaceSubrange(index * page..<(index + 1) * page, with: content)
    }
    switch damage {
    case .flippedBit: flip(&database, place(database.count))
    case .flippedBitOfHeads:
      // A page is filled from its end.
      flip(&database, files.heads[place(2)] * page - 1 - place(120))
    case .erasedSector:
      let start = place(database.count / 512) * 512
      database.replaceSubrange(start..<start + 512, with: Data(count: 512))
    case .stalePage:
      let index = place(files.earlier.count / page)
      put(content(files.earlier, index), index)
    case .misdirectedPage:
      let index = place(files.earlier.count / page)
      let other = place(database.count / page)
      put(content(database, index), other)
      put(content(files.earlier, index), index)
    case .flippedBitOfLog:
      // No store can tell a damaged last commit from one that a power cut has interrupted.
      flip(&killed[1], logHeader + place(killed[1].count * 3 / 4))
      return killed
    case .erasedEndOfLog:
      let start = place(killed[1].count / 512) * 512
      killed[1].replaceSubrange(start..., with: Data(count: killed[1].count - start))
      return killed
    }
    return [database, Data()]
  }

  /// Whether the store's family is a true history.
  ///
  /// - Returns: The number of its events; `nil` if the store reports damage.
  private func count(_ family: UInt64, in store: SQLiteEventStore) -> UInt64? {
    switch Result(catching: { () throws(StoreError) in try history(family, in: store) }) {
    case .success(let all):
      #expect(all == all.indices.map { Self.event(family, UInt64($0) + 1) })
      return UInt64(all.count)
    case .failure(let error):
      #expect(error != .full && error != .locked)
      return nil
    }
  }

  /// The family's events, read in each way in which the relay reads them.
  private func history(_ family: UInt64, in store: SQLiteEventStore) throws(StoreError)
    -> [StoredEvent]
  {
    let snapshot = try store.snapshot(of: FamilyID(family))?.seq ?? 0
    let tail = try store.load(FamilyID(family), after: snapshot).events
    let all = try store.load(FamilyID(family)).events
    #expect(Array(all.dropFirst(Int(snapshot))) == tail)
    var after: UInt64 = 0
    var pages: [StoredEvent] = []
    var more = true
    while more {
      let page = try store.events(
        of: FamilyID(family), Self.audience, after: after, through: .max, limit: 9, bytes: .max)
      pages += page.events
      after = page.events.last?.seq ?? after
      more = page.more
    }
    #expect(pages == all.filter { $0.audience == Self.audience })
    return all
  }

  @Test("O2: each start reports damage of the log, and none changes the log")
  func everyStart() throws {
    let folder = try Folder()
    let files = try Self.files.get()
    for (number, place) in [40, 5_000, 60_000].enumerated() {
      let path = folder.path("\(number)")
      var log = files.killed[1]
      log[place] ^= 1
      try Self.write([files.killed[0], log], to: path)
      for _ in 1...3 {
        let result = Result { () throws(StoreError) in try SQLiteEventStore(path: path) }
        guard case .failure(let error) = result else {
          Issue.record("a start accepts the damaged log")
          continue
        }
        #expect(error.isDamage)
        #expect(try Self.data(path + "-wal") == log)
      }
    }
  }

  @Test(
    "O2: a store that reads damaged files returns what was written, or an error",
    arguments: Damage.allCases)
  func damaged(_ damage: Damage) throws {
    let folder = try Folder()
    let files = try Self.files.get()
    var (reported, shorter) = (0, 0)
    for seed in 1...150 as ClosedRange<UInt64> {
      var random = IDSource(seed: seed)
      let path = folder.path("\(seed)")
      try Self.write(Self.apply(damage, to: files, &random), to: path)
      defer { for end in ["", "-wal"] { unlink(path + end) } }
      guard let store = try? SQLiteEventStore(path: path) else {
        reported += 1
        continue
      }
      defer { store.close() }
      for family in 1...Self.families {
        guard let count = count(family, in: store) else {
          reported += 1
          continue
        }
        if count < files.counts[Int(family)] {
          shorter += 1
          #expect(damage.mayBeEarlier, "seed \(seed): family \(family) has lost events silently")
        }
        // The relay continues from the events that it has read.
        let next = Self.event(family, count + 1)
        guard (try? store.commit(batch([next]))) != nil else { continue }
        #expect(self.count(family, in: store) ?? count + 1 == count + 1)
      }
    }
    #expect(damage.mayBeEarlier ? reported + shorter > 0 : reported > 0)
  }
}
