import DequeModule
import FamilyModel

/// The reads that wait for the ``StoreReader``. Owned by the socket thread.
///
/// A batch alternates between families and other reads, each in the order of their requests, so that
/// neither kind waits for all of the other.
struct ReadQueue {
  private var families: Deque<StoreRead> = []
  private var others: Deque<StoreRead> = []
  /// Whether a batch is being read.
  private(set) var isReading = false

  /// Reads that wait.
  var count: Int { families.count + others.count }
  /// Whether a read waits or is being read.
  var isBusy: Bool { isReading || count > 0 }
  /// Whether a page or a republish may wait, too. Families and results need no bound of their own:
  /// each holds back at least one of the requests that a shard lets wait.
  var hasRoom: Bool { others.count < RelayLimits.waitingPages }

  mutating func enqueue(_ read: StoreRead) {
    if read.isFamily { families.append(read) } else { others.append(read) }
  }

  /// Begins the next batch.
  ///
  /// - Returns: The reads; empty if none waits, or a batch is being read.
  mutating func nextBatch() -> [StoreRead] {
    guard !isReading, count > 0 else { return [] }
    isReading = true
    var (families, others) = RelayLimits.readsPerBatch
    var batch: [StoreRead] = []
    while families > 0 || others > 0 {
      let family = families > 0 ? self.families.popFirst() : nil
      let other = others > 0 ? self.others.popFirst() : nil
      guard family != nil || other != nil else { break }
      batch += [family, other].compactMap(\.self)
      (families, others) = (families - 1, others - 1)
    }
    return batch
  }

  /// Ends the batch.
  ///
  /// - Parameter unread: Its reads that were not performed. They are the first of the next batch.
  mutating func batchEnded(unread: [StoreRead]) {
    isReading = false
    families.insert(contentsOf: unread.filter { $0.isFamily }, at: 0)
    others.insert(contentsOf: unread.filter { !$0.isFamily }, at: 0)
  }
}
