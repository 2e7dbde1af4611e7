import GRDB
import GRDBSQLite
import Glibc
import RelayStore
import Synchronization

/// Sizes of the write-ahead log, in frames of one page (4 KB), and the patience of a commit.
package struct LogLimits: Sendable {
  /// Uncopied frames at which a background checkpoint starts.
  package var backgroundCopyThreshold = 2_048
  /// The most frames that a commit copies itself before the log restarts.
  package var framesCopiedInCommit = 64
  /// Length of the log from which on the log restarts as soon as possible.
  package var restartThreshold = 8_192
  /// Length of the log at which commits wait until every frame is copied.
  package var maximumFrames = 16_384
  /// Milliseconds for which a commit waits for a lock of the log, which another connection of the process
  /// holds. Then the commit fails, and nothing of the batch is stored.
  package var lockMilliseconds = 2_000
  /// Creates the limits of production.
  package init() {}
}

/// Checkpoints the write-ahead log into the database on its own connection and thread, so commits
/// do not wait.
///
/// The log is `growing` → (`restartThreshold` frames) `long` → (a commit copies the last frames)
/// `copied` → (that commit) `growing` from the start of the file. If the background checkpoints
/// fall behind, a commit at `maximumFrames` waits for them and copies all remaining frames itself.
///
/// A background checkpoint starts only while uncopied frames exist. So the log never restarts at
/// the same moment, which SQLite before 3.51.3 does not tolerate (the “WAL-reset bug”).
final class Checkpointer: Sendable {
  private struct State {
    /// Frames in the log.
    var frames = 0
    /// Frames of the log that are in the database.
    var copied = 0
    var isCopying = false
    var failure: StoreError?
    /// Frames of a checkpoint that included a commit whose hook has not run yet.
    var copiedAhead = 0

    var uncopied: Int { frames - copied }

    /// Records the result of a checkpoint. Commits may have happened meanwhile, even to a restarted
    /// log.
    mutating func didCopy(_ count: Int) {
      if count < frames {
        copied = count
      } else if count == frames {
        (frames, copied) = (0, 0)
      } else {
        copiedAhead = count
      }
    }
  }

  /// Milliseconds between two attempts of a commit to copy the last frames of a full log.
  private static let retryMilliseconds = 10

  private let limits: LogLimits
  private let queue: DatabaseQueue
  private let state = Mutex(State())

  /// - Parameter queue: A connection that only this checkpointer uses.
  init(_ queue: DatabaseQueue, _ limits: LogLimits) {
    self.queue = queue
    self.limits = limits
  }

  /// Installs a hook that counts the connection's commits.
  ///
  /// Precondition: the checkpointer outlives the connection.
  func observeCommits(of db: Database) {
    _ = sqlite3_wal_hook(
      db.sqliteConnection,
      { this, _, _, frames in
        Unmanaged<Checkpointer>.fromOpaque(this!).takeUnretainedValue().didCommit(
          frames: Int(frames))
        return SQLITE_OK
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Records a commit after which the log has `frames` frames. Starts a background checkpoint if
  /// one is due.
  private func didCommit(frames: Int) {
    let starts = state.withLock { state in
      if frames < state.frames { state.copied = 0 }
      state.frames = frames
      if frames == state.copiedAhead { state.didCopy(frames) }
      state.copiedAhead = 0
      let isLong = frames >= limits.restartThreshold
      let threshold = isLong ? limits.framesCopiedInCommit : limits.backgroundCopyThreshold
      guard !state.isCopying, state.failure == nil, state.uncopied > threshold else { return false }
      state.isCopying = true
      return true
    }
    if starts { queue.asyncWriteWithoutTransaction { [self] db in copy(db, inBackground: true) } }
  }

  /// Checkpoints the log, in the background or within a commit.
  private func copy(_ db: Database, inBackground: Bool) {
    let result = Result { () throws(StoreError) in
      try StoreFile.translatingErrors {
        let count = try db.checkpoint(.passive).checkpointedFrameCount
        // SQLite syncs the database only when it has copied every frame, and then all of them at
        // once.
        if inBackground { try db.syncDatabase() }
        return count
      }
    }
    state.withLock { state in
      state.isCopying = false
      switch result {
      case .success(let count): state.didCopy(count)
      // A commit was changing the log's index. The next commit starts another checkpoint.
      case .failure(.locked): break
      case .failure(let error): state.failure = error
      }
    }
  }

  /// Bounds the log before a commit: its length never exceeds `maximumFrames` by more than one
  /// commit.
  ///
  /// - Throws: The error of a failed checkpoint, for every later commit. The database's synced
  ///   state is unknown then, but the log still holds every frame. `locked` after
  ///   ``LogLimits/lockMilliseconds`` with a reader that keeps the frames of a full log.
  func prepareCommit(_ db: Database) throws(StoreError) {
    var current = state.withLock { $0 }
    if current.isCopying, current.frames >= limits.maximumFrames {
      queue.inDatabase { _ in }
      current = state.withLock { $0 }
    }
    if let failure = current.failure { throw failure }
    guard !current.isCopying, current.frames >= limits.restartThreshold,
      current.uncopied <= limits.framesCopiedInCommit || current.frames >= limits.maximumFrames
    else { return }
    var waited = 0
    repeat {
      // A reader in the middle of a statement keeps the frames of later commits in the log.
      if waited > 0 { usleep(UInt32(Self.retryMilliseconds) * 1_000) }
      waited += Self.retryMilliseconds
      copy(db, inBackground: false)
      current = state.withLock { $0 }
      if let failure = current.failure { throw failure }
      guard current.frames >= limits.maximumFrames else { return }
    } while waited < limits.lockMilliseconds
    throw .locked
  }

  /// Ends background checkpoints before the store's own connection closes, copies the remaining
  /// frames and deletes the log.
  ///
  /// After a failed checkpoint the log stays: copied frames may not be on disk, even if a later
  /// sync succeeds.
  func close(before last: DatabaseQueue) {
    try? queue.close()
    guard state.withLock({ $0.failure != nil }) else { return }
    last.inDatabase { db in db.keepLog() }
  }
}
