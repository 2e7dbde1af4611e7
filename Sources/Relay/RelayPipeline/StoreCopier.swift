package import RelayStore

/// Copies the store of a pipeline in parts, beside its commits. Any thread may use the copier.
package struct StoreCopier: Sendable {
  let committer: Committer

  /// Copies the next part. Waits for a commit under way, and delays the next one by the part's time.
  ///
  /// - Throws: `io` after the end of the commits, and the store's error.
  package func copyPart(to path: String) throws(StoreError) -> CopyProgress {
    try committer.copyPart(to: path)
  }
}

extension Pipeline {
  /// The copier of this pipeline's store.
  package var copier: StoreCopier { StoreCopier(committer: committer) }
}
