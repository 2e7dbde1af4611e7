import FamilyModel
import Foundation
import RelayStore
import Testing

@testable import SQLiteStore

@Suite struct CopyTests {
  private static let families: UInt64 = 20

  /// A log that restarts after a few commits, with checkpoints in the background.
  private var limits: LogLimits {
    var limits = LogLimits()
    limits.backgroundCopyThreshold = 8
    limits.framesCopiedInCommit = 4
    limits.restartThreshold = 64
    limits.maximumFrames = 256
    return limits
  }

  private func texts(_ store: SQLiteEventStore) throws -> [[StoredEvent]] {
    try (1...Self.families).map { try store.load(FamilyID($0)).events }
  }

  @Test("O6: a copy has all commits before its end, whatever is committed between its parts")
  func besideCommits() throws {
    let folder = try Folder()
    let store = try SQLiteEventStore(path: folder.path("a"), limits: limits, headCycle: 4)
    var seq: UInt64 = 0
    /// An event with a picture in each family.
    func commit() throws {
      seq += 1
      try store.commit(
        batch(
          (1...Self.families).map { family in
            var event = event(family, seq)
            event.payload += [UInt8](repeating: UInt8(truncatingIfNeeded: seq), count: 20_000)
            return event
          }))
    }
    for _ in 0..<20 { try commit() }
    var parts = 0
    var copied = 0
    while true {
      let progress = try store.copyPart(to: folder.path("copy"), room: .max)
      parts += 1
      #expect(progress.copied >= copied, "a commit restarted the copy")
      copied = progress.copied
      if progress.isComplete { break }
      // Old pages change, too: heads and marks.
      try commit()
      #expect(parts < 1_000)
    }
    #expect(parts > 5)
    let expected = try texts(store)
    try commit()
    store.close()
    let copy = try SQLiteEventStore(path: folder.path("copy"))
    try copy.check()
    #expect(try texts(copy) == expected)
    try copy.commit(batch([event(1, seq)]))
    copy.close()
  }

  @Test("O6: an abandoned copy is replaced by the next one, and keeps no store open")
  func abandoned() throws {
    let folder = try Folder()
    let store = try SQLiteEventStore(path: folder.path("a"))
    for seq: UInt64 in 1...40 {
      var event = event(1, seq)
      event.payload = [UInt8](repeating: 1, count: 100_000)
      try store.commit(batch([event]))
    }
    #expect(try !store.copyPart(to: folder.path("b"), room: .max).isComplete)
    #expect(try !store.copyPart(to: folder.path("c"), room: .max).isComplete)
    while try !store.copyPart(to: folder.path("b"), room: .max).isComplete {}
    #expect(try !store.copyPart(to: folder.path("c"), room: .max).isComplete)
    store.close()
    let copy = try SQLiteEventStore(path: folder.path("b"))
    #expect(try copy.load(FamilyID(1)).events.count == 40)
    copy.close()
    let again = try SQLiteEventStore(path: folder.path("a"))
    #expect(try again.load(FamilyID(1)).events.count == 40)
  }

  @Test("O3, O6: a copy ends without a trace if its rest takes more than the room for it")
  func littleRoom() throws {
    let folder = try Folder()
    let store = try SQLiteEventStore(path: folder.path("a"))
    defer { store.close() }
    var large = event(1, 1)
    large.payload = [UInt8](repeating: 1, count: 3_000_000)
    try store.commit(batch([large]))
    // The first part has a megabyte.
    for room in [-1, 2_900_000] {
      #expect(throws: StoreError.full) { try store.copyPart(to: folder.path("b"), room: room) }
    }
    #expect(try store.copyPart(to: folder.path("b"), room: 3_200_000).copied == 256)
    #expect(throws: StoreError.full) { try store.copyPart(to: folder.path("b"), room: 1_800_000) }
    // The next call begins again.
    #expect(try store.copyPart(to: folder.path("b"), room: .max).copied == 256)
  }

  @Test("O6: a copy that cannot be written says so, and the store continues")
  func noRoom() throws {
    let folder = try Folder()
    let store = try SQLiteEventStore(path: folder.path("a"))
    try store.commit(batch([event(1, 1)]))
    #expect(throws: StoreError.self) {
      try store.copyPart(to: folder.path("missing/copy"), room: .max)
    }
    try store.commit(batch([event(1, 2)]))
  }
}
