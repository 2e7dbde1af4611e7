package import FamilyModel
import GRDB
package import RelayStore

extension SQLiteGatewayStore {
  /// An event on its way to an app's webhook.
  package struct Delivery: Hashable, Sendable {
    package var event: Event
    /// The failed attempts so far.
    package var failures: Int
    /// When the next attempt is due.
    package var due: Instant
    /// Why the last attempt failed.
    package var reason: String?
    /// Whether the event is a dead letter that is tried again.
    package var isRetried: Bool
  }

  /// An event that a webhook did not accept.
  package struct DeadLetter: Hashable, Sendable {
    package var event: Event
    package var failures: Int
    /// When the last attempt failed.
    package var at: Instant
    package var reason: String
    /// Whether the event will be tried again.
    package var isRetried: Bool
  }

  /// All apps of the log.
  package func apps() throws(StoreError) -> [String] {
    try read { db in try String.fetchAll(db, sql: "SELECT app FROM app ORDER BY app") }
  }

  /// Sets the address of the app's webhook; `nil`: the app has none.
  package func setWebhook(_ url: String?, of app: String) throws(StoreError) {
    try write { db in
      try Self.add(app, db)
      try db.execute(sql: "UPDATE app SET webhook = ? WHERE app = ?", arguments: [url, app])
    }
  }

  /// The address of the app's webhook.
  package func webhook(of app: String) throws(StoreError) -> String? {
    try read { db in
      try String.fetchOne(db, sql: "SELECT webhook FROM app WHERE app = ?", arguments: [app])
    }
  }

  /// Events that the app's webhook has yet to receive.
  package func queued(of app: String) throws(StoreError) -> Int {
    try read { db in
      try Int.fetchOne(
        db, sql: "SELECT count(*) FROM event JOIN app USING (app) WHERE app = ? AND number > sent",
        arguments: [app]) ?? 0
    }
  }

  /// The next delivery of the app's webhook: a dead letter that is tried again, otherwise the first
  /// event that the webhook has yet to receive.
  package func nextDelivery(of app: String) throws(StoreError) -> Delivery? {
    try read { db in
      let retried = try Row.fetchOne(
        db,
        sql: """
          SELECT event.*, dead.failures, dead.due, dead.reason FROM dead
          JOIN event USING (app, number) WHERE app = ? AND retried = 1 ORDER BY number LIMIT 1
          """, arguments: [app])
      if let retried { return Delivery(retried, isRetried: true) }
      return try Row.fetchOne(
        db,
        sql: """
          SELECT event.*, app.failures, app.due, app.reason FROM event JOIN app USING (app)
          WHERE app = ? AND number > sent ORDER BY number LIMIT 1
          """, arguments: [app]
      ).map { Delivery($0, isRetried: false) }
    }
  }

  /// Records that the webhook has accepted the event.
  package func recordDelivered(_ delivery: Delivery) throws(StoreError) {
    try write { db in
      if delivery.isRetried {
        try Self.removeDead(delivery.event, db)
      } else {
        try Self.move(past: delivery.event, db)
      }
    }
  }

  /// Records a failed attempt, after which another one follows.
  package func recordFailure(_ delivery: Delivery, nextAttempt: Instant, reason: String)
    throws(StoreError)
  {
    try record(
      delivery, failures: delivery.failures + 1, nextAttempt: nextAttempt, reason: reason)
  }

  /// Records why the delivery waits. The wait is no attempt.
  package func recordWait(_ delivery: Delivery, reason: String) throws(StoreError) {
    try record(
      delivery, failures: delivery.failures, nextAttempt: delivery.due, reason: reason)
  }

  private func record(
    _ delivery: Delivery, failures: Int, nextAttempt: Instant, reason: String
  ) throws(StoreError) {
    let event = delivery.event
    try write { db in
      let table = delivery.isRetried ? "dead" : "app"
      let place = delivery.isRetried ? "app = ? AND number = ?" : "app = ? AND sent < ?"
      try db.execute(
        sql: "UPDATE \(table) SET failures = ?, due = ?, reason = ? WHERE \(place)",
        arguments: [
          failures, nextAttempt.milliseconds, reason, event.app, event.number.signed,
        ])
    }
  }

  /// Records the last failed attempt. The event becomes a dead letter, and the next one follows.
  package func recordDead(_ delivery: Delivery, at time: Instant, reason: String)
    throws(StoreError)
  {
    let event = delivery.event
    try write { db in
      // The operator may have discarded a retried letter meanwhile.
      if !delivery.isRetried {
        try db.execute(
          sql: "INSERT OR REPLACE INTO dead VALUES (?, ?, 0, 0, '', 0, 0)",
          arguments: [event.app, event.number.signed])
        try Self.move(past: event, db)
      }
      try db.execute(
        sql: """
          UPDATE dead SET failures = ?, at = ?, reason = ?, retried = 0, due = 0
          WHERE app = ? AND number = ?
          """,
        arguments: [
          delivery.failures + 1, time.milliseconds, reason, event.app, event.number.signed,
        ])
    }
  }

  /// The dead letters of an app, in the order of their numbers.
  package func deadLetters(of app: String) throws(StoreError) -> [DeadLetter] {
    try read { db in
      try Row.fetchAll(
        db,
        sql: """
          SELECT event.*, dead.failures, dead.at, dead.reason, dead.retried FROM dead
          JOIN event USING (app, number) WHERE app = ? ORDER BY number
          """, arguments: [app]
      ).map { row in
        DeadLetter(
          event: Event(row), failures: row["failures"], at: Instant(milliseconds: row["at"]),
          reason: row["reason"], isRetried: row["retried"])
      }
    }
  }

  /// Queues a dead letter again, or all of the app.
  ///
  /// - Returns: The number of dead letters that are tried again.
  package func retryDeadLetters(of app: String, number: UInt64?) throws(StoreError) -> Int {
    try write { db in
      try db.execute(
        sql: """
          UPDATE dead SET retried = 1, failures = 0, due = 0
          WHERE app = ?1 AND (?2 IS NULL OR number = ?2)
          """, arguments: [app, number?.signed])
      return db.changesCount
    }
  }

  /// Gives a dead letter up, or all of the app. The events stay in the feed.
  ///
  /// - Returns: The number of dead letters that are given up.
  package func discardDeadLetters(of app: String, number: UInt64?) throws(StoreError) -> Int {
    try write { db in
      try db.execute(
        sql: "DELETE FROM dead WHERE app = ?1 AND (?2 IS NULL OR number = ?2)",
        arguments: [app, number?.signed])
      return db.changesCount
    }
  }

  private static func move(past event: Event, _ db: Database) throws {
    try db.execute(
      sql: """
        UPDATE app SET sent = max(sent, ?), failures = 0, due = 0, reason = NULL WHERE app = ?
        """, arguments: [event.number.signed, event.app])
  }

  private static func removeDead(_ event: Event, _ db: Database) throws {
    try db.execute(
      sql: "DELETE FROM dead WHERE app = ? AND number = ?",
      arguments: [event.app, event.number.signed])
  }
}

extension SQLiteGatewayStore.Delivery {
  fileprivate init(_ row: Row, isRetried: Bool) {
    self.init(
      event: SQLiteGatewayStore.Event(row), failures: row["failures"],
      due: Instant(milliseconds: row["due"]), reason: row["reason"], isRetried: isRetried)
  }
}
