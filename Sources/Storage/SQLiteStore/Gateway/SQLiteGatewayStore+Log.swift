package import FamilyModel
import GRDB
package import RelayStore

extension SQLiteGatewayStore {
  /// Appends the events and changes the reported state, in one transaction.
  ///
  /// - Returns: The events that are new, with their numbers.
  package func append(_ events: [NewEvent], to app: String, state: [StateChange] = [])
    throws(StoreError) -> [Event]
  {
    try write { db in
      try Self.add(app, db)
      var appended: [Event] = []
      for event in events {
        if let source = event.source,
          try Bool.fetchOne(
            db, sql: "SELECT EXISTS (SELECT 1 FROM event WHERE app = ? AND source = ?)",
            arguments: [app, source]) == true
        {
          continue
        }
        try db.execute(sql: "UPDATE app SET newest = newest + 1 WHERE app = ?", arguments: [app])
        let number =
          try Int64.fetchOne(
            db, sql: "SELECT newest FROM app WHERE app = ?", arguments: [app]) ?? 0
        try db.execute(
          sql: "INSERT INTO event VALUES (?, ?, ?, ?, ?, ?)",
          arguments: [
            app, number, event.type, event.time.milliseconds, event.data, event.source,
          ])
        appended.append(
          Event(
            app: app, number: UInt64(number), type: event.type, time: event.time,
            data: event.data))
      }
      for change in state {
        switch change {
        case .set(let key, let value):
          try db.execute(
            sql: "INSERT OR REPLACE INTO state VALUES (?, ?, ?)", arguments: [app, key, value])
        case .remove(let key):
          try db.execute(
            sql: "DELETE FROM state WHERE app = ? AND key = ?", arguments: [app, key])
        }
      }
      return appended
    }
  }

  static func add(_ app: String, _ db: Database) throws {
    try db.execute(sql: "INSERT OR IGNORE INTO app (app) VALUES (?)", arguments: [app])
  }

  /// The state that the log has reported so far.
  package func state(of app: String) throws(StoreError) -> [String: String] {
    try read { db in
      let rows = try Row.fetchAll(
        db, sql: "SELECT key, value FROM state WHERE app = ?", arguments: [app])
      return Dictionary(uniqueKeysWithValues: rows.map { ($0["key"], $0["value"]) })
    }
  }

  /// The events after a number, ascending, at most `limit`.
  package func events(of app: String, after number: UInt64, limit: Int) throws(StoreError)
    -> [Event]
  {
    try read { db in
      try Row.fetchAll(
        db,
        sql: """
          SELECT app, number, type, time, data FROM event
          WHERE app = ? AND number > ? ORDER BY number LIMIT ?
          """, arguments: [app, number.signed, limit]
      ).map(Event.init)
    }
  }

  /// The number of the newest event; zero without one.
  package func newest(of app: String) throws(StoreError) -> UInt64 {
    try number("newest", of: app)
  }

  /// The number up to which the app has handled its events.
  package func acknowledged(by app: String) throws(StoreError) -> UInt64 {
    try number("acknowledged", of: app)
  }

  private func number(_ column: String, of app: String) throws(StoreError) -> UInt64 {
    try read { db in
      try Int64.fetchOne(
        db, sql: "SELECT \(column) FROM app WHERE app = ?", arguments: [app]
      )
      .map(UInt64.init(bitPattern:)) ?? 0
    }
  }

  /// Records that the app has handled its events up to a number. An earlier number changes nothing.
  package func acknowledge(through number: UInt64, of app: String) throws(StoreError) {
    try write { db in
      try Self.add(app, db)
      try db.execute(
        sql: "UPDATE app SET acknowledged = max(acknowledged, ?) WHERE app = ?",
        arguments: [number.signed, app])
    }
  }

  /// The number of events that no reader has handled: neither the app nor its webhook.
  package func unhandled(of app: String) throws(StoreError) -> Int {
    try read { db in
      try Int.fetchOne(
        db,
        sql: """
          SELECT count(*) FROM event JOIN app USING (app)
          WHERE app = ? AND number > max(acknowledged, sent)
          """, arguments: [app]) ?? 0
    }
  }

  /// Removes events before a time that the app or its webhook has handled, and that wait in no queue.
  ///
  /// The removed events have no origin any more, so `time` is far longer ago than a device repeats an
  /// entry.
  package func removeEvents(of app: String, before time: Instant) throws(StoreError) {
    try write { db in
      try db.execute(
        sql: """
          DELETE FROM event WHERE app = ?1 AND time < ?2
            AND number <= (SELECT max(acknowledged, sent) FROM app WHERE app = ?1)
            AND NOT EXISTS (SELECT 1 FROM app WHERE app = ?1 AND webhook IS NOT NULL AND sent < number)
            AND NOT EXISTS (SELECT 1 FROM dead WHERE dead.app = ?1 AND dead.number = event.number)
          """, arguments: [app, time.milliseconds])
    }
  }
}
