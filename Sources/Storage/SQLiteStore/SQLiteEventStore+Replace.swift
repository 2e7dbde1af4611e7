import FamilyModel
import GRDB
public import RelayStore

extension SQLiteEventStore {
  public func replace(_ events: [Int: StoredEvent]) throws(StoreError) {
    guard !events.isEmpty else { return }
    try awaitingLock { db in
      // SQLite overwrites what it frees. Other commits free no contents, and stay faster without.
      try db.execute(sql: "PRAGMA secure_delete = ON")
      defer { try? db.execute(sql: "PRAGMA secure_delete = OFF") }
      try db.commit {
        for (number, event) in events {
          var stored = try Self.event(inRow: Int64(number), db)
          stored.payload = event.payload
          guard stored == event else { throw StoreError.conflict }
          let update = try RawStatement(db, "UPDATE event SET payload = ?, sum = ? WHERE id = ?")
          update.bind(2, Int64(event.checksum))
          update.bind(3, Int64(number))
          try update.run(binding: 1, event.payload)
        }
      }
    }
  }
}
