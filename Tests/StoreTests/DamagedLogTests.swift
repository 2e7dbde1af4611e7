import FamilyModel
import Foundation
import GRDB
import RelayStore
import Testing

@testable import SQLiteStore

/// The log of a store with damage, and the store that its records give again.
@Suite struct DamagedLogTests {
  private static let families: ClosedRange<UInt64> = 1...3
  private static let events: UInt64 = 70

  /// A store of three families with 70 events each, in turn, and of one with a single event, changed by the
  /// statement. All heads but the last one are written.
  private func store(_ folder: Folder, _ damage: String) throws -> SQLiteEventStore {
    let store = try SQLiteEventStore(path: folder.path("a"), limits: LogLimits(), headCycle: 1)
    for seq in 1...Self.events { try store.commit(batch(Self.families.map { event($0, seq) })) }
    var last = batch([event(4, 1)])
    last.passcodeLocks = [lock(2, 7)]
    try store.commit(last)
    store.close()
    try change(folder, damage)
    return try SQLiteEventStore(path: folder.path("a"))
  }

  /// The rows of a closed store's events and passcode locks.
  private func rows(_ folder: Folder, _ name: String) throws -> [Row] {
    let queue = try DatabaseQueue(path: folder.path(name))
    defer { try? queue.close() }
    return try queue.inDatabase { db in
      try ["SELECT * FROM event ORDER BY id", "SELECT * FROM passcode_lock ORDER BY family"]
        .flatMap { try Row.fetchAll(db, sql: $0) }
    }
  }

  /// The store that the log's records give again, after a way through a segment's bytes.
  private func replay(_ store: SQLiteEventStore, _ folder: Folder) throws -> SQLiteEventStore {
    let copy = try SQLiteEventStore(path: folder.path("b"), limits: LogLimits(), headCycle: 1)
    var position = 0
    repeat {
      let part = try store.log(after: position, limit: 100, bytes: .max)
      let bytes = part.records.reduce(into: [UInt8]()) { $1.append(to: &$0) }
      try copy.replay(#require(LogRecord.read(bytes)))
      position = part.position
    } while position < store.events
    #expect(copy.events == store.events)
    return copy
  }

  @Test(
    "O2, O6: the log has a damaged record as it is, and the records give an equal store again",
    arguments: [
      ("UPDATE event SET payload = zeroblob(9) WHERE family = 2 AND seq = 9", 9),
      ("UPDATE event SET payload = zeroblob(9) WHERE family = 2 AND seq IN (9, 10, 65)", 9),
      ("UPDATE event SET sum = 0 WHERE family = 2 AND seq = 70", 70),
      ("UPDATE event SET payload = zeroblob(0) WHERE family = 2 AND seq = 1", 1),
      ("UPDATE event SET command = x'0102' WHERE family = 2 AND seq = 64", 64),
      ("UPDATE event SET at = -1, device = 9, audience = 7 WHERE family = 2 AND seq = 69", 69),
      ("UPDATE passcode_lock SET payload = x'08'", nil),
    ] as [(String, UInt64?)])
  func confined(_ damage: String, _ first: UInt64?) throws {
    let folder = try Folder()
    let store = try store(folder, damage)
    let copy = try replay(store, folder)
    let found = try copy.findDamage()
    #expect(found.families.keys.map(\.rawValue) == [2])
    #expect(found.events == (first.map { [FamilyID(2): $0...Self.events] } ?? [:]))
    #expect(try found.families == store.findDamage().families)
    try copy.rebuildIndex()
    for family: UInt64 in [1, 3] {
      let events = (1...Self.events).map { event(family, $0) }
      #expect(try copy.load(FamilyID(family)).events == events)
      let old = event(family, 9)
      #expect(try copy.event(of: old.command, by: old.device, in: old.family) == old)
    }
    #expect(throws: StoreError.self) { try copy.load(FamilyID(2)) }
    store.close()
    copy.close()
    #expect(try rows(folder, "a") == rows(folder, "b"))
  }

  @Test(
    "O2, O6: damage without a proven owner hides no event of another family, and is no whole store",
    arguments: [
      "DELETE FROM event WHERE family = 2 AND seq = 9",
      "UPDATE event SET family = 9 WHERE family = 2 AND seq = 9",
      "UPDATE event SET family = 1 WHERE family = 2 AND seq = 9",
      "UPDATE event SET seq = 1 << 40 WHERE family = 2 AND seq = 9",
    ])
  func unproven(_ damage: String) throws {
    let folder = try Folder()
    let store = try store(folder, damage)
    let copy = try replay(store, folder)
    for store in [store, copy] {
      #expect {
        try store.findDamage()
      } throws: { ($0 as? StoreError)?.isDamage ?? false }
    }
    store.close()
    copy.close()
    let export = try SQLiteEventStore(path: folder.path("c"))
    defer { export.close() }
    let result = try StoreSalvage(path: folder.path("b")).run(into: export)
    #expect(result.unreadable == 1)
    #expect(
      result.losses == [.init(family: FamilyID(2), first: 9, last: Self.events)])
    for family in Self.families {
      let events = (1...(family == 2 ? 8 : Self.events)).map { event(family, $0) }
      #expect(try export.load(FamilyID(family)).events == events)
    }
    try export.check(whole: .max)
  }

  @Test(
    "O2, O6: behind damage without a proven owner, each family's newest whole event is its head",
    arguments: [
      "UPDATE event SET seq = 1 << 40 WHERE family = 2 AND seq = 9",
      // The damaged event seems to be the next one of family 1.
      "UPDATE event SET family = 1, seq = 10 WHERE family = 2 AND seq = 9",
    ])
  func heads(_ damage: String) throws {
    let folder = try Folder()
    let store = try store(folder, damage)
    var copy = try replay(store, folder)
    store.close()
    // The commit writes all heads, so that the start reads no event of the other families.
    try copy.commit(batch([event(4, 2)]))
    copy.close()
    copy = try SQLiteEventStore(path: folder.path("b"))
    defer { copy.close() }
    #expect(try copy.findDamage(whole: 0, newest: 1).first == nil)
    for family: UInt64 in [1, 3] {
      let events = (1...Self.events).map { event(family, $0) }
      #expect(try copy.load(FamilyID(family)).events == events)
    }
    for family in Self.families {
      for seq: UInt64 in [9, 10] {
        #expect(throws: StoreError.conflict) { try copy.commit(batch([event(family, seq)])) }
      }
      try copy.commit(batch([event(family, Self.events + 1)]))
    }
  }

  @Test("O2, O6: a passcode lock is part of the log although its family's head is damaged")
  func damagedHead() throws {
    let folder = try Folder()
    let store = try store(folder, "UPDATE head SET sum = 0 WHERE family = 2")
    let copy = try replay(store, folder)
    #expect(try copy.load(FamilyID(2)).passcodeLock?.payload == [7])
    #expect(try copy.findDamage().families.isEmpty)
    store.close()
    copy.close()
  }

  @Test(
    "O6: an event continues a log with its checksum only, unless nothing can be read of a damaged one",
    arguments: [
      ("UPDATE event SET payload = zeroblob(9) WHERE id = 26", false),
      ("UPDATE event SET sum = sum + 9 WHERE id = 26", false),
      ("UPDATE event SET payload = zeroblob(9) WHERE id = 25", false),
      ("UPDATE event SET command = x'0102' WHERE id = 26", false),
      ("DELETE FROM event WHERE id = 26", true),
    ])
  func continuation(_ damage: String, _ isUnreadable: Bool) throws {
    let folder = try Folder()
    let store = try store(folder, damage)
    defer { store.close() }
    let sum = event(2, 9).checksum
    let part = try store.log(after: 26, limit: 1, bytes: .max)
    #expect(part.continues(sum))
    #expect(part.continues(sum ^ 1) == isUnreadable)
    #expect(part.records.count == 1)
    // A position of the series that the damaged event gave continues, too.
    #expect(try part.continues(#require(part.previous?.checksum)))
    let start = try store.log(after: 0, limit: 1, bytes: .max)
    #expect(start.continues(0) && !start.continues(1))
  }

  @Test("O6: a backup whose newest event is damaged has a position")
  func end() throws {
    let folder = try Folder()
    let store = try store(folder, "UPDATE event SET payload = zeroblob(9) WHERE id = 26")
    defer { store.close() }
    let end = try store.log(after: 26, limit: 0, bytes: 0)
    #expect(end.previous?.checksum == event(2, 9).checksum)
  }
}
