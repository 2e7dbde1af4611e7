/// Refuses new questions early when more comes than the relay can do.
///
/// `open` → (for ``patience`` no batch has emptied the queue) `full` → (a batch empties it) `open`. While it
/// is full only so many questions of each batch are taken; what is on its way already, answers and
/// acknowledgements, goes on, so that approvals end and make room.
public struct Admission: Sendable {
  /// Milliseconds without an empty queue.
  public static let patience: Int64 = 250
  /// The shortest and the longest wait that is asked for, in milliseconds: it grows with the time for
  /// which the relay has been full.
  public static let retryAfter: ClosedRange<Int64> = 1_000...30_000

  private var standingSince: Int64?
  private var now: Int64 = 0
  private var taken = 0
  private let questionsPerBatch: Int

  /// A relay with nothing to do.
  ///
  /// - Parameter questionsPerBatch: Questions of one batch that are taken while the relay is full.
  public init(questionsPerBatch: Int) { self.questionsPerBatch = questionsPerBatch }

  /// Whether questions are refused.
  public var isFull: Bool { standingSince.map { now - $0 >= Self.patience } ?? false }

  /// - Parameter milliseconds: The clock; only differences count.
  public mutating func batchBegins(_ milliseconds: Int64) {
    now = milliseconds
    taken = 0
  }

  /// - Parameter isQueueEmpty: Whether nothing is left for the next batch.
  public mutating func batchEnds(isQueueEmpty: Bool) {
    standingSince = isQueueEmpty ? nil : standingSince ?? now
  }

  /// Milliseconds after which to ask again; `nil`: the question is taken.
  public mutating func refusal() -> UInt32? {
    guard isFull, let standingSince else { return nil }
    taken += 1
    guard taken > questionsPerBatch else { return nil }
    let wait = min(max(now - standingSince, Self.retryAfter.lowerBound), Self.retryAfter.upperBound)
    return UInt32(wait)
  }
}
