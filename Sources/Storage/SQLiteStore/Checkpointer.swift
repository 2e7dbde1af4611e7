import GRDB
import GRDBSQLite
import RelayStore
import Synchronization

/// Sizes of the write-ahead log, in frames: each is a page of 4 KB.
package struct LogLimits: Sendable {
  /// As many as are not copied yet make it worth a copy beside the commits.
  package var step = 2_048
  /// Of a log that is to begin anew, a commit copies these at most.
  package var rest = 64
  /// From here on the log begins anew as soon as it can.
  package var renewal = 8_192
  /// A log of this length takes no commit until all of it is copied.
  package var bound = 16_384
  /// The sizes for production.
  package init() {}
}

/// Copies the write-ahead log into the database, on a connection and a thread of its own: a commit does not
/// wait for it.
///
/// A log is `growing` → (`renewal` frames) `long` → (nearly all is copied: the next commit copies the rest)
/// `copied` → (that commit) `growing`, from its beginning and in the same place of the disk. Should the copies
/// not keep up, the commit at the `bound` waits for them and copies all that is left itself.
///
/// A copy begins beside the commits only while there are frames that are not copied. So the log never begins
/// anew at the same moment, which SQLite before 3.51.3 does not bear (“the WAL-reset bug”).
final class Checkpointer: Sendable {
  private struct State {
    /// Frames in the log, and how many of them are in the database.
    var frames = 0
    var copied = 0
    var isCopying = false
    var failure: StoreError?
    /// What a copy has found of a commit that was not told yet.
    var ahead = 0

    var left: Int { frames - copied }

    /// So many frames are in the database. Meanwhile there may have been commits, even to a new log.
    mutating func note(copied count: Int) {
      if count < frames {
        copied = count
      } else if count == frames {
        (frames, copied) = (0, 0)
      } else {
        ahead = count
      }
    }
  }

  private let limits: LogLimits
  private let queue: DatabaseQueue
  private let state = Mutex(State())

  /// - Parameter queue: A connection for this alone.
  init(_ queue: DatabaseQueue, _ limits: LogLimits) {
    self.queue = queue
    self.limits = limits
  }

  /// Has the connection tell its commits. It must not outlive this.
  func watch(_ db: Database) {
    _ = sqlite3_wal_hook(
      db.sqliteConnection,
      { this, _, _, frames in
        Unmanaged<Checkpointer>.fromOpaque(this!).takeUnretainedValue().note(frames: Int(frames))
        return SQLITE_OK
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// There was a commit; the log has so many frames now.
  private func note(frames: Int) {
    let begins = state.withLock { state in
      if frames < state.frames { state.copied = 0 }
      state.frames = frames
      if frames == state.ahead { state.note(copied: frames) }
      state.ahead = 0
      let worth = frames < limits.renewal ? limits.step : limits.rest
      guard !state.isCopying, state.failure == nil, state.left > worth else { return false }
      state.isCopying = true
      return true
    }
    if begins { queue.asyncWriteWithoutTransaction { [self] db in copy(db, isBeside: true) } }
  }

  /// Copies what is in the log, beside the commits or between two of them.
  private func copy(_ db: Database, isBeside: Bool) {
    let result = Result { () throws(StoreError) in
      try StoreFile.guarded {
        let count = try db.checkpoint(.passive).checkpointedFrameCount
        // SQLite does so when it has copied all, and then for all that was copied since the log began.
        if isBeside { try db.syncDatabase() }
        return count
      }
    }
    state.withLock { state in
      state.isCopying = false
      switch result {
      case .success(let count): state.note(copied: count)
      // It came while a commit was changing the log's index: the next one asks again.
      case .failure(.locked): break
      case .failure(let error): state.failure = error
      }
    }
  }

  /// What a commit does first. The log gets no longer than its bound and one commit.
  ///
  /// - Throws: What a copy has failed with, for good: what was synced since then is not known, and the log
  ///   still has it all.
  func prepare(_ db: Database) throws(StoreError) {
    var now = state.withLock { $0 }
    if now.isCopying, now.frames >= limits.bound {
      queue.inDatabase { _ in }
      now = state.withLock { $0 }
    }
    if let failure = now.failure { throw failure }
    guard !now.isCopying, now.frames >= limits.renewal,
      now.left <= limits.rest || now.frames >= limits.bound
    else { return }
    copy(db, isBeside: false)
    now = state.withLock { $0 }
    if let failure = now.failure { throw failure }
    if now.frames >= limits.bound { throw .locked }
  }

  /// Ends the copies before the store's own connection is closed, which copies the rest and deletes the log.
  /// After a copy that failed the log stays: what was copied may not be on the disk, whatever a later sync says.
  func close(before last: DatabaseQueue) {
    try? queue.close()
    guard state.withLock({ $0.failure != nil }) else { return }
    last.inDatabase { db in
      var keepsLog: Int32 = 1
      sqlite3_file_control(
        db.sqliteConnection, "main", SQLITE_FCNTL_PERSIST_WAL, &keepsLog)
    }
  }
}
