import Foundation
import GRDB
public import RelayStore

/// Keeps what is whole in a damaged file.
extension SQLiteAgentStore {
  /// The outcome of a salvage.
  public struct Salvaged: Hashable, Sendable {
    /// Records whose checksums match.
    public internal(set) var kept = 0
    /// Records whose checksums do not match.
    public internal(set) var lost = 0
    /// Whether a part of the file could not be read, so that further records may be lost.
    public internal(set) var isPartial = false
    /// The path of the damaged file, which stays for another attempt.
    public internal(set) var damaged = ""
  }

  /// Records of one commit of the new file.
  private static let recordsPerCommit = 1_024

  /// Replaces a damaged file by a new one with the records that are whole. The damaged file is renamed.
  ///
  /// The device fetches a lost event again. A lost command of its outbox has to be given again.
  ///
  /// - Throws: `damaged` if the file is no database any more; nothing was changed then.
  public static func salvage(path: String) throws(StoreError) -> Salvaged {
    guard FileManager.default.fileExists(atPath: path) else {
      throw .io("there is no file \(path)")
    }
    var result = Salvaged()
    let new = path + ".salvaged"
    try remove(new)
    let old = try SQLiteAgentStore(path: path, isSalvaged: true)
    let target = try SQLiteAgentStore(path: new)
    try old.copyWhole(into: target, &result)
    target.close()
    old.close()
    result.damaged = (1...).lazy.map { "\(path).damaged-\($0)" }
      .first { !FileManager.default.fileExists(atPath: $0) }!
    try move(path, to: result.damaged)
    try move(new, to: path)
    return result
  }

  private func copyWhole(into target: SQLiteAgentStore, _ result: inout Salvaged)
    throws(StoreError)
  {
    var last: [UInt8]?
    var batch: [Change] = []
    // A page that cannot be read hides what follows it, so the other end is read as well.
    for order in ["", " DESC"] {
      let before = last
      do {
        try queue.inDatabase { db in
          let row = try RawStatement(db, "SELECT key, value, sum FROM record ORDER BY key\(order)")
          defer { row.reset() }
          while try row.next() {
            let key = row.bytes(0)
            if order != "", let before, !before.lexicographicallyPrecedes(key) { return }
            last = order == "" ? key : last
            let value: [UInt8]
            do {
              value = try self.value(in: row, 1, of: key, db)
            } catch {
              // The row was read. Its checksum or its large value is damaged.
              result.lost += 1
              continue
            }
            result.kept += 1
            batch.append(Change(key: key, value: value))
            guard batch.count == Self.recordsPerCommit else { continue }
            try target.apply(batch)
            batch = []
          }
        }
      } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
        result.isPartial = true
        continue
      } catch let error as StoreError {
        throw error
      } catch {
        throw .io("\(error)")
      }
      break
    }
    try target.apply(batch)
  }

  /// Renames a closed file with its write-ahead log.
  private static func move(_ path: String, to other: String) throws(StoreError) {
    for suffix in ["-wal", ""] where FileManager.default.fileExists(atPath: path + suffix) {
      guard rename(path + suffix, other + suffix) == 0 else {
        throw .io("\(path): \(String(cString: strerror(errno)))")
      }
    }
  }

  private static func remove(_ path: String) throws(StoreError) {
    for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: path + suffix) {
      guard unlink(path + suffix) == 0 else {
        throw .io("\(path): \(String(cString: strerror(errno)))")
      }
    }
  }
}
