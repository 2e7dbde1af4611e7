public import FamilyModel

/// Sheds new questions early while requests arrive faster than the relay handles them.
///
/// States:
/// - `open` → `shedding`: no batch has emptied the queue for ``patience``
/// - `shedding` → `open`: a batch empties the queue
///
/// While shedding, the relay admits a share of the questions. The share shrinks as long as the
/// backlog lasts, and so approaches the relay's capacity. Answers and acknowledgements are never
/// shed: they end questions and make room. While open, the share recovers within one to two
/// seconds; until then shedding resumes sooner.
public struct Admission: Sendable {
  /// The duration of a backlog before shedding starts.
  public static let patience = Milliseconds.milliseconds(250)
  /// The duration of a backlog before shedding resumes, while the share has not recovered.
  static let shortPatience = Milliseconds.milliseconds(20)
  /// The shortest and longest retry time. The retry time grows with the duration of the overload.
  public static let retryAfter = Milliseconds.seconds(1)...Milliseconds.seconds(30)
  /// The time between two adjustments of the share.
  static let adjustmentInterval = Milliseconds.milliseconds(20)
  /// The factor of an adjustment while shedding, and the increment while open.
  static let (shrinkFactor, growth) = (0.93, 0.02)
  /// The smallest share. Above zero, because only admitted questions show that capacity has
  /// returned.
  static let minimumShare = 0.02
  /// The duration of a backlog after which unacknowledged events are republished in spite of it.
  static let longestBacklog = Milliseconds.seconds(10)

  private var backlogSince: Instant?
  /// The start of the overload, which ends when the share has recovered.
  private var overloadedSince: Instant?
  private var now = Instant(milliseconds: 0)
  private var adjustedAt = Instant(milliseconds: 0)
  private var share = 1.0
  /// Sum of shares; a question is admitted when it reaches 1.
  private var credit = 0.0

  /// An open relay without backlog.
  public init() {}

  /// Whether a part of the questions is shed.
  public var isShedding: Bool {
    let patience = share < 1 ? Self.shortPatience : Self.patience
    return backlogSince.map { now - $0 >= patience } ?? false
  }

  /// Whether requests wait that arrived before the last batch. Acknowledgements may be among them,
  /// so the relay postpones republishing, by at most ``longestBacklog``.
  var isBacklogged: Bool {
    backlogSince.map { (Self.shortPatience..<Self.longestBacklog).contains(now - $0) } ?? false
  }

  /// Starts a batch and adjusts the share.
  public mutating func batchBegins(now: Instant) {
    self.now = now
    let isShedding = isShedding
    if isShedding, overloadedSince == nil { overloadedSince = now }
    // After the clock was set back the share is adjusted at once.
    guard now - adjustedAt >= Self.adjustmentInterval || now < adjustedAt else { return }
    adjustedAt = now
    share =
      isShedding ? max(Self.minimumShare, share * Self.shrinkFactor) : min(1, share + Self.growth)
    if share == 1 { overloadedSince = nil }
  }

  /// Ends a batch.
  ///
  /// - Parameter isQueueEmpty: Whether no request is left for the next batch.
  public mutating func batchEnds(isQueueEmpty: Bool) {
    backlogSince = isQueueEmpty ? nil : backlogSince ?? now
  }

  /// Admits or sheds the next question.
  ///
  /// - Returns: The retry time if the question is shed; `nil` if it is admitted.
  public mutating func shedQuestion() -> Milliseconds? {
    guard isShedding else { return nil }
    credit += share
    if credit >= 1 {
      credit -= 1
      return nil
    }
    let duration = now - (overloadedSince ?? now)
    return min(max(duration, Self.retryAfter.lowerBound), Self.retryAfter.upperBound)
  }
}
