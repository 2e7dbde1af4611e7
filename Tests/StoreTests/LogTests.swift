import FamilyModel
import Foundation
import GRDB
import RelayStore
import Testing

@testable import SQLiteStore

@Suite struct LogTests {
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
