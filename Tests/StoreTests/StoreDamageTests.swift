import FamilyModel
import Foundation
import RelayStore
import SQLiteStore
import Testing

/// The damage that a start finds.
@Suite struct StoreDamageTests {
  /// A store of three families with 70 events each, and of one with a single event, closed and changed by
  /// the statement.
  private func store(_ folder: Folder, _ damage: String) throws -> SQLiteEventStore {
    let store = try SQLiteEventStore(path: folder.path("a"))
    try store.commit(batch([event(4, 1)]))
    var cursors = Batch()
    cursors.cursors = [
      StoredCursor(
        family: FamilyID(3), device: DeviceID(1), cursor: Cursor(.family, delivered: 70))
    ]
    for seq: UInt64 in 1...70 { try store.commit(batch((1...3).map { event($0, seq) })) }
    try store.commit(cursors)
    #expect(try store.findDamage().first == nil)
    store.close()
    try change(folder, damage)
    return try SQLiteEventStore(path: folder.path("a"))
  }

  @Test(
    "O2: a start names the family of a damaged record, and the others are whole",
    arguments: [
      "UPDATE event SET payload = zeroblob(9) WHERE family = 2 AND seq = 9",
      "UPDATE event SET payload = zeroblob(9) WHERE family = 2 AND seq IN (9, 10, 70)",
      "UPDATE event SET at = at + 1 WHERE family = 2 AND seq = 66",
      "UPDATE event SET prior = 1 WHERE family = 2 AND seq = 9",
      "UPDATE event SET payload = zeroblob(9) WHERE family = 2 AND seq = 1",
      "UPDATE event SET payload = zeroblob(9) WHERE family = 2 AND seq = 70",
      "INSERT INTO cursor VALUES (2, 1, 0, 1, 0, 0)",
      "INSERT INTO passcode_lock VALUES (2, x'01', 0)",
    ])
  func confined(_ damage: String) throws {
    let folder = try Folder()
    let store = try store(folder, damage)
    defer { store.close() }
    #expect(try store.findDamage().families.keys.map(\.rawValue) == [2])
    #expect(throws: StoreError.self) { try store.check() }
    for family: UInt64 in [1, 3] { #expect(try store.load(FamilyID(family)).events.count == 70) }
  }

  @Test("O2: a start that reads the newest events only names the family of a damaged one")
  func newest() throws {
    let folder = try Folder()
    let store = try store(folder, "UPDATE event SET payload = x'01' WHERE family = 2 AND seq = 66")
    defer { store.close() }
    // The 14 newest events begin with the damaged one.
    for newest: Int64 in [14, 15, 20] {
      let damage = try store.findDamage(whole: 0, newest: newest)
      #expect(damage.families.keys.map(\.rawValue) == [2], "the newest \(newest)")
    }
    #expect(try store.findDamage(whole: 0, newest: 13).first == nil)
  }

  @Test(
    "O2, O6: a start reads a restored store with damage as a whole, as often as it is damaged",
    arguments: [
      "UPDATE event SET payload = x'01' WHERE family = 2 AND seq = 9",
      "UPDATE event SET family = 9 WHERE family = 2 AND seq = 9",
      "DELETE FROM mark WHERE family = 2",
    ])
  func restored(_ damage: String) throws {
    let folder = try Folder()
    let note = folder.path("a") + SQLiteEventStore.damageNote
    let store = try store(folder, damage)
    defer { store.close() }
    #expect(try store.findDamageAtStart(whole: 0, newest: 1).first == nil)
    #expect(FileManager.default.createFile(atPath: note, contents: nil))
    for _ in 1...2 {
      var isDamaged = true
      do throws(StoreError) {
        isDamaged = try store.findDamageAtStart(whole: 0, newest: 1).first != nil
      } catch { #expect(error.isDamage) }
      #expect(isDamaged && FileManager.default.fileExists(atPath: note))
    }
  }

  @Test(
    "O2: a start refuses a file that lacks an event, or has one that no family can be proven to own",
    arguments: [
      // Rows behind the missing ones may be gone, too.
      "DELETE FROM event WHERE family = 2 AND seq = 69",
      "DELETE FROM event WHERE family = 2 AND seq > 68",
      "INSERT INTO head VALUES (2, 300, 71, 0)",
      // The newest row, with an event that a device has read.
      "DELETE FROM event WHERE family = 3 AND seq = 70",
      // The newest event of family 3 seems to be one of family 1 or 9.
      "UPDATE event SET family = 1 WHERE family = 3 AND seq = 70",
      "UPDATE event SET family = 9 WHERE family = 3 AND seq = 70",
      "UPDATE event SET seq = 71 WHERE family = 3 AND seq = 70",
      "UPDATE event SET prior = prior - 1, payload = x'01' WHERE family = 3 AND seq = 70",
      // The only event of a family.
      "UPDATE event SET family = 9 WHERE family = 4", "UPDATE event SET at = 0 WHERE family = 4",
    ])
  func unknown(_ damage: String) throws {
    // A check that fails leaves nothing behind for the next one.
    try expectRefusals(of: damage, 2) { try $0.findDamage() }
  }

  @Test(
    "O2: a start refuses a large file whose newest event no family can be proven to own",
    arguments: ["family = 1", "seq = 71", "prior = prior - 1, payload = x'01'"])
  func unknownNewest(_ change: String) throws {
    try expectRefusals(of: "UPDATE event SET \(change) WHERE family = 3 AND seq = 70", 1) {
      try $0.findDamage(whole: 0, newest: 1)
    }
  }

  /// Expects each of this number of checks to refuse the store that the statement has damaged.
  private func expectRefusals(
    of damage: String, _ count: Int, _ check: (SQLiteEventStore) throws -> StoreDamage
  ) throws {
    let folder = try Folder()
    let store = try store(folder, damage)
    defer { store.close() }
    for _ in 1...count {
      #expect {
        try check(store)
      } throws: { ($0 as? StoreError)?.isDamage ?? false }
    }
  }

  @Test(
    "O2: a start rebuilds damaged marks, and an index that lacks commands",
    arguments: [
      "DELETE FROM command WHERE family = 2",
      "UPDATE mark SET row = row - 1 WHERE family = 2",
      "UPDATE mark SET seq = 1 << 40 WHERE family = 2",
      "DELETE FROM mark WHERE family = 2",
    ])
  func index(_ damage: String) throws {
    let folder = try Folder()
    let store = try store(folder, damage)
    defer { store.close() }
    let old = event(2, 9)
    func found() throws -> StoredEvent? {
      try store.event(of: old.command, by: old.device, in: old.family)
    }
    if damage.hasPrefix("DELETE FROM command") { #expect(try found() == nil) }
    #expect(try store.findDamage().isIndexDamaged)
    try store.rebuildIndex()
    #expect(try store.findDamage().first == nil)
    #expect(try found() == old)
    let page = try store.events(
      of: old.family, .family, after: 8, through: 9, limit: 9, bytes: 9_999)
    #expect(page.events == [old])
  }
}
