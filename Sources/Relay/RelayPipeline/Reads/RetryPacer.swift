import FamilyModel

/// Chooses when the senders come again whose requests a shard refuses, because too many families
/// wait to be read already.
///
/// The retry times follow one another as fast as the shard has lately received families, from
/// ``window``'s lower bound to its upper bound and then from the lower bound again. A herd thus
/// comes back evenly, and each of its devices once.
struct RetryPacer: Sendable {
  /// The shortest and the longest retry time.
  static let window = Milliseconds.seconds(1)...Milliseconds.seconds(30)
  /// The families in a second that a shard receives, at least.
  static let slowest = 50.0

  /// Families in a second.
  private var rate: Double
  /// Families since the start of the present second.
  private var received = 0
  private var second = Instant(milliseconds: 0)
  /// Retries that are still to come.
  private var expected = 0.0
  private var at = Instant(milliseconds: 0)

  /// - Parameter rate: The families in a second before the first measurement.
  init(rate: Double) { self.rate = max(Self.slowest, rate) }

  /// Records that a family was read.
  mutating func familyReceived(now: Instant) {
    let elapsed = now - second
    // A clock that was set back starts a new second.
    if elapsed < .zero || elapsed >= .seconds(1) {
      if elapsed < .seconds(2), elapsed > .zero {
        rate = max(Self.slowest, Double(received) * 1_000 / Double(elapsed.count))
      }
      (received, second) = (0, now)
    }
    received += 1
  }

  /// The retry time of the next refused request.
  mutating func nextRetry(now: Instant) -> Milliseconds {
    let elapsed = max(.zero, now - at)
    at = now
    expected = max(0, expected - rate * Double(elapsed.count) / 1_000) + 1
    let wait = Self.window.lowerBound + .milliseconds(Int64(expected / rate * 1_000))
    guard wait > Self.window.upperBound else { return wait }
    expected = 1
    return Self.window.lowerBound
  }
}
