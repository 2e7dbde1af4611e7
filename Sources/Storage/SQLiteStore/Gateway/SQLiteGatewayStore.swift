package import FamilyModel
import Foundation
import GRDB
package import RelayStore

/// The gateway's durable log of the events of its apps, the positions of their readers, and the queues
/// of their webhooks.
///
/// Each app's events are numbered 1, 2, 3, …; no number is used again. A commit survives a kill and a
/// power cut. Another process may open the file meanwhile, so that `relayctl` reads it.
package final class SQLiteGatewayStore: Sendable {
  /// An event of the log.
  package struct Event: Hashable, Sendable {
    /// The app's bundle identifier.
    package var app: String
    /// The number in the app's log, from 1.
    package var number: UInt64
    /// The kind of event, such as `response`.
    package var type: String
    /// The time at which the gateway learned of the event.
    package var time: Instant
    /// The details, a JSON object.
    package var data: String
  }

  /// An event that the log does not have.
  package struct NewEvent: Hashable, Sendable {
    package var type: String
    package var time: Instant
    package var data: String
    /// Names the event's origin. The log ignores a second event of the same origin. `nil`: the event
    /// is always new.
    package var source: String?

    package init(type: String, time: Instant, data: String, source: String? = nil) {
      self.type = type
      self.time = time
      self.data = data
      self.source = source
    }
  }

  /// A change of the state that the log has reported so far.
  package enum StateChange: Hashable, Sendable {
    /// Stores a value under the key.
    case set(String, String)
    /// Removes the value of the key.
    case remove(String)
  }

  static let schema = """
    CREATE TABLE meta (id TEXT NOT NULL);
    CREATE TABLE app (
      app TEXT PRIMARY KEY, newest INTEGER NOT NULL DEFAULT 0,
      acknowledged INTEGER NOT NULL DEFAULT 0, sent INTEGER NOT NULL DEFAULT 0,
      failures INTEGER NOT NULL DEFAULT 0, due INTEGER NOT NULL DEFAULT 0, reason TEXT, webhook TEXT
    ) WITHOUT ROWID;
    CREATE TABLE event (
      app TEXT NOT NULL, number INTEGER NOT NULL, type TEXT NOT NULL, time INTEGER NOT NULL,
      data TEXT NOT NULL, source TEXT, PRIMARY KEY (app, number)
    ) WITHOUT ROWID;
    CREATE UNIQUE INDEX source ON event (app, source) WHERE source IS NOT NULL;
    CREATE TABLE state (
      app TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (app, key)
    ) WITHOUT ROWID;
    CREATE TABLE dead (
      app TEXT NOT NULL, number INTEGER NOT NULL, failures INTEGER NOT NULL, at INTEGER NOT NULL,
      reason TEXT NOT NULL, retried INTEGER NOT NULL DEFAULT 0, due INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (app, number)
    ) WITHOUT ROWID;
    """
  private static let application: Int32 = 0x5052_4731

  /// A random name of this log, 16 hexadecimal digits. The names of its events start with it, so that
  /// a log that was made again repeats none of them.
  package let id: String
  let queue: DatabaseQueue

  /// Opens the file at `path`, or creates it with mode 0600.
  ///
  /// - Throws: `wrongVersion` for another file, `damaged` or `io` if it is not usable.
  package init(path: String) throws(StoreError) {
    if !FileManager.default.fileExists(atPath: path) {
      _ = FileManager.default.createFile(
        atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
    }
    let opened = try StoreFile.translatingErrors { () throws -> (DatabaseQueue, String) in
      var configuration = Configuration()
      configuration.busyMode = .timeout(5)
      let queue = try DatabaseQueue(
        path: StoreFile.addressForProcesses(path), configuration: configuration)
      try queue.inDatabase { db in
        try db.execute(sql: "PRAGMA journal_mode = WAL")
        try db.execute(sql: "PRAGMA synchronous = FULL")
        try db.execute(sql: "PRAGMA secure_delete = ON")
      }
      let id = try queue.write { db in try Self.prepare(db) }
      return (queue, id)
    }
    (queue, id) = opened
  }

  /// Creates the tables of a new file.
  ///
  /// - Returns: The log's name.
  private static func prepare(_ db: Database) throws -> String {
    let found = try Int32.fetchOne(db, sql: "PRAGMA application_id") ?? 0
    let tables = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") ?? 0
    if tables == 0 {
      try db.execute(sql: schema)
      try db.execute(
        sql: "PRAGMA application_id = \(application); PRAGMA user_version = 1;")
      let id = (0..<8).map { _ in
        let digits = String(UInt8.random(in: .min ... .max), radix: 16)
        return digits.count == 1 ? "0" + digits : digits
      }
      try db.execute(sql: "INSERT INTO meta VALUES (?)", arguments: [id.joined()])
    } else if found != application {
      throw StoreError.wrongVersion("application \(found)")
    }
    guard try Int.fetchOne(db, sql: "PRAGMA user_version") == 1,
      let id = try String.fetchOne(db, sql: "SELECT id FROM meta")
    else { throw StoreError.wrongVersion("a newer version") }
    return id
  }

  /// Closes the file.
  package func close() { try? queue.close() }

  func read<R>(_ body: (Database) throws -> R) throws(StoreError) -> R {
    try StoreFile.translatingErrors { try queue.read(body) }
  }

  func write<R>(_ body: (Database) throws -> R) throws(StoreError) -> R {
    try StoreFile.translatingErrors { try queue.write(body) }
  }
}

extension SQLiteGatewayStore.Event {
  init(_ row: Row) {
    self.init(
      app: row["app"], number: UInt64(bitPattern: row["number"] as Int64), type: row["type"],
      time: Instant(milliseconds: row["time"]), data: row["data"])
  }
}
