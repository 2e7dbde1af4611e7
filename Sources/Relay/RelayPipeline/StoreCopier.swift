package import RelayStore

/// Copies, verifies and reads the store of a pipeline in parts, beside its commits. Any thread may use it.
package struct StoreCopier: Sendable {
  let committer: Committer

  /// Verifies some events. Waits for a commit under way, and delays the next one by the part's time.
  ///
  /// - Throws: `io` after the end of the commits, and the store's error.
  package func verify(after position: Int64, limit: Int) throws(StoreError) -> Verification {
    try committer.readUnlessClosed { store throws(StoreError) in
      try store.verify(after: position, limit: limit)
    }
  }

  /// Copies the next part. Waits for a commit under way, and delays the next one by the part's time.
  ///
  /// - Parameter room: The bytes that the rest of the copy may take.
  /// - Throws: `full` if the rest takes more, `io` after the end of the commits, and the store's error.
  package func copyPart(to path: String, room: Int) throws(StoreError) -> CopyProgress {
    try committer.readUnlessClosed { store throws(StoreError) in
      try store.copyPart(to: path, room: room)
    }
  }

  /// Reads the next part of the log. Waits for a commit under way, and delays the next one by the part's
  /// time.
  ///
  /// - Throws: `io` after the end of the commits, and the store's error.
  package func log(after position: Int, limit: Int, bytes: Int) throws(StoreError) -> LogPart {
    try committer.readUnlessClosed { store throws(StoreError) in
      try store.log(after: position, limit: limit, bytes: bytes)
    }
  }

  /// Replaces the payloads of events. Waits for a commit under way, and delays the next one by a sync of
  /// the disk.
  ///
  /// - Throws: `io` after the end of the commits, and the store's error.
  package func replace(_ events: [Int: StoredEvent]) throws(StoreError) {
    try committer.readUnlessClosed { store throws(StoreError) in try store.replace(events) }
  }
}

extension Pipeline {
  /// The copier of this pipeline's store.
  package var copier: StoreCopier { StoreCopier(committer: committer) }
}
