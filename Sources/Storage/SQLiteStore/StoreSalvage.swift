public import FamilyModel
import Foundation
import GRDB
public import RelayStore

/// Reads a store with damaged records: names the damage, and copies everything that is whole.
///
/// An event is whole if its checksum matches and all earlier events of its family are whole, because
/// devices verify each event against the one before. A copy has new heads, marks and indexes.
/// Snapshots are left out: the relay makes them again.
public final class StoreSalvage {
  /// The events of a family that are lost.
  public struct Loss: Hashable, Sendable {
    /// The family.
    public let family: FamilyID
    /// The first event that is lost.
    public let first: UInt64
    /// The newest event that the family is known to have had.
    public internal(set) var last: UInt64
  }

  /// The content of a store.
  public struct Result: Hashable, Sendable {
    /// Whole events.
    public internal(set) var events = 0
    /// Families with at least one whole event.
    public internal(set) var families = 0
    /// Rows that are missing, or do not say which event they were.
    public internal(set) var unreadable = 0
    /// The lost events, ascending by family.
    public internal(set) var losses: [Loss] = []
    /// The events that were left out on request, by family.
    public internal(set) var erased: [FamilyID: Int] = [:]
  }

  /// Events of one commit of a copy.
  private static let eventsPerCommit = 1_024

  private let queue: DatabaseQueue
  private let lock: FileLock

  /// Opens the store. No relay may use the file.
  ///
  /// - Throws: `damaged` if the file is no database any more, or its log is damaged. Then only a backup
  ///   helps.
  public init(path: String) throws(StoreError) {
    guard FileManager.default.fileExists(atPath: path) else {
      throw .io("there is no file \(path)")
    }
    queue = try SQLiteEventStore.openFile(path)
    lock = try FileLock(path)
  }

  deinit {
    try? queue.close()
    lock.unlock()
  }

  /// Reads each record.
  ///
  /// - Parameters:
  ///   - target: An empty store that receives what is whole.
  ///   - erased: Families of which the target receives nothing. Their damage is no loss.
  ///   - change: Receives each whole event with its number in the log, and returns the event that the
  ///     target receives.
  /// - Throws: The error of the target, or of a disk that cannot be read.
  public func run(
    into target: (any EventStore)? = nil, without erased: Set<FamilyID> = [],
    changing change: (_ number: Int, _ event: StoredEvent) -> StoredEvent = { $1 }
  ) throws(StoreError) -> Result {
    try StoreFile.translatingErrors {
      try queue.inDatabase { db in
        var families = Families()
        var batch = Batch()
        var result = Result()
        let rows = try Int64.fetchOne(db, sql: "SELECT max(id) FROM event") ?? 0
        for row in 1...max(1, rows) where rows > 0 {
          guard let event = Self.event(inRow: row, db) else {
            result.unreadable += 1
            continue
          }
          guard !erased.contains(event.family) else {
            result.erased[event.family, default: 0] += 1
            continue
          }
          guard families.continues(with: event) else { continue }
          result.events += 1
          batch.events.append(change(Int(row), event))
          guard batch.events.count == Self.eventsPerCommit else { continue }
          try target?.commit(batch)
          batch.removeAll()
        }
        for head in Self.heads(db) where !erased.contains(head.family) {
          families.expect(head.family, through: head.seq)
        }
        (result.families, result.losses) = (families.count, families.losses)
        for family in families.whole {
          batch.cursors += Self.cursors(of: family.id, upTo: family.newest, db)
          batch.passcodeLocks += Self.passcodeLock(of: family.id, db)
        }
        if !batch.isEmpty { try target?.commit(batch) }
        return result
      }
    }
  }

  // MARK: Records

  /// The event, if its checksum matches.
  private static func event(inRow row: Int64, _ db: Database) -> StoredEvent? {
    try? SQLiteEventStore.event(inRow: row, db)
  }

  private static func heads(_ db: Database) -> [(family: FamilyID, seq: UInt64)] {
    var heads: [(family: FamilyID, seq: UInt64)] = []
    try? {
      let query = try RawStatement(db, "SELECT family, row, seq, sum FROM head")
      while try query.next() {
        let head = HeadCache.Head(row: query.integer(1), seq: query.number(2))
        guard Int64(HeadCache.checksum(query.number(0), head)) == query.integer(3) else { continue }
        heads.append((FamilyID(query.number(0)), head.seq))
      }
    }()
    return heads
  }

  /// The cursors that are whole. Devices send the others again.
  private static func cursors(of family: FamilyID, upTo newest: UInt64, _ db: Database)
    -> [StoredCursor]
  {
    var cursors: [StoredCursor] = []
    try? {
      let query = try RawStatement(
        db, "SELECT device, audience, delivered, read, sum FROM cursor WHERE family = ?")
      query.bind(1, Int64(bitPattern: family.rawValue))
      while try query.next() {
        let cursor = StoredCursor(
          family: family, device: DeviceID(UInt32(truncatingIfNeeded: query.integer(0))),
          cursor: Cursor(
            Audience(rawValue: query.number(1)), delivered: query.number(2),
            read: query.number(3)))
        let isWhole = Int64(cursor.checksum) == query.integer(4)
        if isWhole, cursor.cursor.delivered <= newest { cursors.append(cursor) }
      }
    }()
    return cursors
  }

  private static func passcodeLock(of family: FamilyID, _ db: Database) -> [StoredPasscodeLock] {
    guard let (lock, sum) = try? SQLiteEventStore.passcodeLock(of: family, db),
      Int64(lock.checksum) == sum
    else { return [] }
    return [lock]
  }

  // MARK: Families

  /// The newest whole event of each family, and what is lost after it.
  private struct Families {
    private var newest: [FamilyID: UInt64] = [:]
    private var lost: [FamilyID: Loss] = [:]

    /// Families with a whole event.
    var count: Int { newest.count }
    var whole: [(id: FamilyID, newest: UInt64)] {
      newest.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
    var losses: [Loss] { lost.values.sorted { $0.family < $1.family } }

    /// Whether the event follows the newest whole one of its family.
    mutating func continues(with event: StoredEvent) -> Bool {
      guard event.seq == newest[event.family, default: 0] + 1, lost[event.family] == nil else {
        expect(event.family, through: event.seq)
        return false
      }
      newest[event.family] = event.seq
      return true
    }

    /// Records that the family had an event with this number.
    mutating func expect(_ family: FamilyID, through seq: UInt64) {
      let first = newest[family, default: 0] + 1
      guard seq >= first else { return }
      lost[family, default: Loss(family: family, first: first, last: seq)].last =
        max(seq, lost[family]?.last ?? 0)
    }
  }
}
