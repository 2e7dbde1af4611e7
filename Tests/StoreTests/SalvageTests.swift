import FamilyModel
import Foundation
import RelayStore
import Testing

@testable import SQLiteStore

@Suite struct SalvageTests {
  /// A closed store with 3 families of 100 events each, in turn: event `seq` of family `f` is in row
  /// `3 * (seq - 1) + f`.
  func makeStore(_ folder: Folder) throws {
    let store = try SQLiteEventStore(path: folder.path("a"), limits: LogLimits(), headCycle: 1)
    for seq: UInt64 in 1...100 {
      var batch = batch((1...3).map { event($0, seq) })
      batch.cursors = (1...3).map {
        StoredCursor(
          family: FamilyID($0), device: DeviceID(1),
          cursor: Cursor(.family, delivered: seq, read: 0))
      }
      try store.commit(batch)
    }
    store.close()
  }

  private func salvage(_ folder: Folder) throws -> StoreSalvage.Result {
    let target = try SQLiteEventStore(path: folder.path("b"))
    defer { target.close() }
    let inspected = try StoreSalvage(path: folder.path("a")).run()
    let result = try StoreSalvage(path: folder.path("a")).run(into: target)
    #expect(inspected == result)
    try target.check(whole: .max)
    return result
  }

  private func loss(_ family: UInt64, _ range: ClosedRange<UInt64>) -> StoreSalvage.Loss {
    .init(family: FamilyID(family), first: range.lowerBound, last: range.upperBound)
  }

  @Test("O2: a whole store loses nothing")
  func whole() throws {
    let folder = try Folder()
    try makeStore(folder)
    let result = try salvage(folder)
    #expect(result.events == 300 && result.families == 3)
    #expect(result.losses == [] && result.unreadable == 0)
    let copy = try SQLiteEventStore(path: folder.path("b"))
    #expect(try copy.load(FamilyID(2)).cursors.map(\.cursor.delivered) == [100])
    #expect(
      try copy.event(of: event(2, 7).command, by: DeviceID(1), in: FamilyID(2)) == event(2, 7))
    copy.close()
  }

  @Test("O6: a copy without a family has nothing of it, and its damage is no loss")
  func erasure() throws {
    let folder = try Folder()
    try makeStore(folder)
    try change(folder, "UPDATE event SET payload = x'00' WHERE family = 2 AND seq = 40")
    let target = try SQLiteEventStore(path: folder.path("b"))
    let result = try StoreSalvage(path: folder.path("a")).run(into: target, without: [FamilyID(2)])
    #expect(result.events == 200 && result.families == 2 && result.losses == [])
    #expect(result.erased == [FamilyID(2): 99] && result.unreadable == 1)
    #expect(try target.load(FamilyID(2)) == StoredFamily())
    #expect(try target.load(FamilyID(3)).events == (1...100).map { event(3, $0) })
    try target.check(whole: .max)
    target.close()
    let bytes = try Data(contentsOf: folder.url.appendingPathComponent("b"))
    #expect(bytes.range(of: Data("of 2".utf8)) == nil && bytes.range(of: Data("of 3".utf8)) != nil)
  }

  @Test(
    "O2: damage is named by family and events, and everything else is saved",
    arguments: [
      ("UPDATE event SET payload = x'00' WHERE family = 2 AND seq = 40", 2, 40),
      ("DELETE FROM event WHERE family = 1 AND seq = 100", 1, 100),
      ("UPDATE event SET family = 77 WHERE family = 3 AND seq = 1", 3, 1),
      ("UPDATE event SET seq = 1 << 62 WHERE family = 3 AND seq = 99", 3, 99),
    ] as [(String, UInt64, UInt64)])
  func damaged(_ sql: String, _ family: UInt64, _ first: UInt64) throws {
    let folder = try Folder()
    try makeStore(folder)
    try change(folder, sql)
    let result = try salvage(folder)
    #expect(result.losses == [loss(family, first...100)])
    #expect(result.events == 300 - Int(101 - first) && result.families == (first == 1 ? 2 : 3))
    let copy = try SQLiteEventStore(path: folder.path("b"))
    for other: UInt64 in 1...3 {
      let count = other == family ? first - 1 : 100
      #expect(try copy.load(FamilyID(other)).events.map(\.seq) == Array(1..<count + 1))
    }
    copy.close()
  }

  @Test(
    "O2: damaged indexes, marks, heads and cursors lose no event",
    arguments: [
      "DELETE FROM command", "UPDATE command SET row = row + 1", "DELETE FROM mark",
      "UPDATE mark SET row = 1", "DELETE FROM head", "UPDATE head SET seq = seq + 1",
      "UPDATE heads_written SET sum = 0", "UPDATE cursor SET delivered = 1000",
    ])
  func derived(_ sql: String) throws {
    let folder = try Folder()
    try makeStore(folder)
    try change(folder, sql)
    let result = try salvage(folder)
    #expect(result.events == 300 && result.losses == [])
    let copy = try SQLiteEventStore(path: folder.path("b"))
    for seq: UInt64 in [1, 64, 100] {
      let found = try copy.event(of: event(1, seq).command, by: DeviceID(1), in: FamilyID(1))
      #expect(found == event(1, seq))
    }
    copy.close()
  }

  @Test("O2: a file that is no database, or is in use, is refused")
  func unusable() throws {
    let folder = try Folder()
    try Data((0..<8_192).map { UInt8(truncatingIfNeeded: $0 &* 7) })
      .write(to: URL(fileURLWithPath: folder.path("a")))
    #expect(throws: StoreError.self) { _ = try StoreSalvage(path: folder.path("a")).run() }
    let store = try SQLiteEventStore(path: folder.path("c"))
    #expect(throws: StoreError.locked) { _ = try StoreSalvage(path: folder.path("c")).run() }
    store.close()
  }
}

extension SalvageTests {
  @Test("O2: a verification in parts reads each event once, and names the damaged one")
  func verification() throws {
    let folder = try Folder()
    try makeStore(folder)
    try change(folder, "UPDATE event SET payload = x'00' WHERE family = 2 AND seq = 40")
    let store = try SQLiteEventStore(path: folder.path("a"))
    defer { store.close() }
    var (position, events, damage) = (Int64?(0), 0, [StoreError]())
    while let after = position {
      let part = try store.verify(after: after, limit: 7)
      #expect(part.events <= 7)
      position = part.position
      events += part.events
      damage += part.damage
    }
    #expect(events == 300 && damage == [.damaged("event 40 of family 2")])
  }
}
