import FamilyModel
import Foundation
import GRDB
import RelayStore
import Testing

@testable import SQLiteStore

@Suite struct LogTests {
  @Test("O6: replayed records make an equal store", arguments: [1, 7, 1_000])
  func replay(limit: Int) throws {
    let folder = try Folder()
    let store = try SQLiteEventStore(path: folder.path("a"))
    for seq: UInt64 in 1...130 {
      try store.commit(batch([event(1, seq), event(2, seq, .conversation(PersonID(3)))]))
    }
    var last = Batch()
    last.passcodeLocks = [lock(1, 7), lock(2, 9)]
    try store.commit(last)
    var (bytes, position): ([UInt8], Int) = ([], 0)
    while position < store.events {
      let part = try store.log(after: position, limit: limit, bytes: .max)
      for record in part.records { record.append(to: &bytes) }
      position = part.position
    }
    let copy = try SQLiteEventStore(path: folder.path("b"))
    for record in try #require(LogRecord.read(bytes)) { try copy.replay([record]) }
    try copy.rebuildIndex()
    for family in 1...2 {
      #expect(try copy.load(FamilyID(UInt64(family))) == store.load(FamilyID(UInt64(family))))
    }
    try copy.check()
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
    #expect(LogRecord.read([5] + whole.dropFirst()) == nil)
  }

  @Test("O5, O6: the bytes of whole records are those of version 0.1.0")
  func form() {
    var bytes: [UInt8] = []
    var event = event(3, 4)
    event.payload = [9, 8]
    LogRecord.event(event).append(to: &bytes)
    LogRecord.passcodeLock(lock(5, 6)).append(to: &bytes)
    let zeros = [UInt8](repeating: 0, count: 7)
    let expected: [[UInt8]] = [
      [1], zeros, [3], zeros, [4], zeros, [0, 0, 0, 0, 1], zeros, [3], zeros, [4], zeros,
      [4, 0, 0, 0, 2, 9, 8], [2], zeros, [5, 0, 0, 0, 1, 6],
    ]
    #expect(bytes == Array(expected.joined()))
  }
}
