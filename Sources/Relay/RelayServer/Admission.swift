/// Refuses new questions early when more comes than the relay can do.
///
/// `open` → (for ``patience`` no batch has emptied the queue) `full` → (a batch empties it) `open`. While it
/// is full a share of the questions is taken, which shrinks as long as the queue stands: so that what is
/// taken settles at what the relay can do. What is on its way already, answers and acknowledgements, goes
/// on, so that approvals end and make room. The share recovers while the relay is open, within a second or
/// two; until it has, the relay is full again sooner.
public struct Admission: Sendable {
  /// Milliseconds without an empty queue.
  public static let patience: Int64 = 250
  /// The same where the relay was full a moment ago.
  static let shortPatience: Int64 = 20
  /// The shortest and the longest wait that is asked for, in milliseconds: it grows with the time for
  /// which the relay has been full.
  public static let retryAfter: ClosedRange<Int64> = 1_000...30_000
  /// Milliseconds between two looks at the share.
  static let look: Int64 = 20
  /// What becomes of the share at a look: full, and open.
  static let (shrinks, grows) = (0.93, 0.02)
  /// The smallest share: somebody must be let in to see whether there is room.
  static let least = 0.02

  private var standingSince: Int64?
  /// Since when the relay has been full, now and again.
  private var fullSince: Int64?
  private var now: Int64 = 0
  private var looked: Int64 = 0
  private var share = 1.0
  /// The part of the next question that may be taken.
  private var credit = 0.0

  /// A relay with nothing to do.
  public init() {}

  /// Whether questions are refused.
  public var isShedding: Bool {
    let patience = share < 1 ? Self.shortPatience : Self.patience
    return standingSince.map { now - $0 >= patience } ?? false
  }

  /// Whether requests wait that were there before the last batch. Acknowledgements may be among them: nothing
  /// is published again for want of them, for up to ten seconds.
  var isBehind: Bool {
    standingSince.map { (Self.shortPatience..<10_000).contains(now - $0) } ?? false
  }

  /// - Parameter milliseconds: The clock; only differences count.
  public mutating func batchBegins(_ milliseconds: Int64) {
    now = milliseconds
    let isShedding = isShedding
    if isShedding, fullSince == nil { fullSince = now }
    // A clock that was set back is looked at anew.
    guard now - looked >= Self.look || now < looked else { return }
    looked = now
    share = isShedding ? max(Self.least, share * Self.shrinks) : min(1, share + Self.grows)
    if share == 1 { fullSince = nil }
  }

  /// - Parameter isQueueEmpty: Whether nothing is left for the next batch.
  public mutating func batchEnds(isQueueEmpty: Bool) {
    standingSince = isQueueEmpty ? nil : standingSince ?? now
  }

  /// Milliseconds after which to ask again; `nil`: the question is taken.
  public mutating func refusal() -> UInt32? {
    guard isShedding else { return nil }
    credit += share
    if credit >= 1 {
      credit -= 1
      return nil
    }
    let wait = now - (fullSince ?? now)
    return UInt32(min(max(wait, Self.retryAfter.lowerBound), Self.retryAfter.upperBound))
  }
}
