import FamilyModel
import Foundation
import GRDB
import RelayStore
import Testing

@testable import SQLiteStore

@Suite struct LogTests {
  private func lock(_ family: UInt64, _ byte: UInt8) -> StoredPasscodeLock {
    StoredPasscodeLock(family: FamilyID(family), payload: [byte])
  }

  /// All records of a store, in parts.
  private func records(_ store: SQLiteEventStore, limit: Int) throws -> [LogRecord] {
    var (records, position): ([LogRecord], Int) = ([], 0)
    while true {
      let part = try store.log(after: position, limit: limit, bytes: .max)
      #expect(part.newest == store.events)
      records += part.records
      position = part.position
      if position == part.newest { return records }
    }
  }

  @Test("O6: the log's parts give an equal store again", arguments: [1, 7, 1_000])
  func replay(limit: Int) throws {
    let folder = try Folder()
    let store = try SQLiteEventStore(path: folder.path("a"))
    for seq: UInt64 in 1...130 {
      var batch = batch([event(1, seq), event(2, seq, .conversation(PersonID(3)))])
      if seq == 70 { batch.passcodeLocks = [lock(2, 1)] }
      try store.commit(batch)
    }
    var last = Batch()
    last.passcodeLocks = [lock(1, 7), lock(2, 9)]
    try store.commit(last)
    let bytes = try records(store, limit: limit).reduce(into: [UInt8]()) { $1.append(to: &$0) }
    let copy = try SQLiteEventStore(path: folder.path("b"))
    for record in try #require(LogRecord.read(bytes)) {
      var batch = Batch()
      switch record {
      case .event(let event): batch.events = [event]
      case .passcodeLock(let lock): batch.passcodeLocks = [lock]
      }
      try copy.commit(batch)
    }
    for family in 1...2 {
      #expect(try copy.load(FamilyID(UInt64(family))) == store.load(FamilyID(UInt64(family))))
    }
    try copy.check()
  }

  @Test("O6: a lock follows its family's newest event, and no earlier one")
  func locks() throws {
    let folder = try Folder()
    let store = try SQLiteEventStore(path: folder.path("a"))
    var first = batch([event(1, 1), event(2, 1), event(1, 2)])
    first.passcodeLocks = [lock(1, 1), lock(2, 2)]
    try store.commit(first)
    #expect(
      try store.log(after: 0, limit: 2, bytes: .max).records
        == [.event(event(1, 1)), .event(event(2, 1)), .passcodeLock(lock(2, 2))])
    let rest = try store.log(after: 2, limit: 2, bytes: .max)
    #expect(rest.records == [.event(event(1, 2)), .passcodeLock(lock(1, 1))])
    #expect(rest.previous == event(2, 1) && rest.position == 3)
  }

  @Test("O6: a part ends at its limits, and a position behind the log has no part")
  func limits() throws {
    let folder = try Folder()
    let store = try SQLiteEventStore(path: folder.path("a"))
    #expect(try store.log(after: 0, limit: 9, bytes: 9) == LogPart(position: 0, newest: 0))
    try store.commit(batch((1...9).map { event(1, $0) }))
    let size = event(1, 1).payload.count
    #expect(try store.log(after: 0, limit: 4, bytes: .max).position == 4)
    #expect(try store.log(after: 0, limit: 9, bytes: 2 * size).position == 2)
    #expect(try store.log(after: 0, limit: 9, bytes: 2 * size + 1).position == 3)
    #expect(try store.log(after: 9, limit: 9, bytes: .max).previous == event(1, 9))
    #expect(try store.log(after: 10, limit: 9, bytes: .max) == LogPart(position: 10, newest: 9))
    #expect(throws: StoreError.io("this engine ships no log")) {
      try MemoryEventStore().log(after: 0, limit: 1, bytes: 1)
    }
  }

  @Test("O6: a damaged event ends the shipping, and no part has it")
  func damage() throws {
    let folder = try Folder()
    var store = try SQLiteEventStore(path: folder.path("a"))
    try store.commit(batch((1...5).map { event(1, $0) }))
    store.close()
    try DatabaseQueue(path: folder.path("a")).inDatabase { db in
      try db.execute(sql: "UPDATE event SET payload = zeroblob(3) WHERE id = 4")
    }
    store = try SQLiteEventStore(path: folder.path("a"))
    #expect(try store.log(after: 0, limit: 3, bytes: .max).records.count == 3)
    #expect(throws: StoreError.damaged("event 4 of family 1")) {
      try store.log(after: 3, limit: 3, bytes: .max)
    }
  }

  @Test("bytes that are no whole records are refused")
  func bytes() {
    var whole: [UInt8] = []
    LogRecord.event(event(3, 4)).append(to: &whole)
    LogRecord.passcodeLock(lock(5, 6)).append(to: &whole)
    #expect(LogRecord.read(whole) == [.event(event(3, 4)), .passcodeLock(lock(5, 6))])
    #expect(LogRecord.read([UInt8]()) == [])
    // Only the end of the event is the end of a record.
    #expect(
      whole.indices.filter { LogRecord.read(whole.prefix($0)) != nil } == [0, whole.count - 14])
    #expect(LogRecord.read([3] + whole.dropFirst()) == nil)
  }
}
