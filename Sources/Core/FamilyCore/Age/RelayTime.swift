import FamilyModel

/// The present time as far as the relay vouches for it: the newest time that the relay stated, plus
/// the time that has passed since.
///
/// A child can set the wall clock of the own device, so that clock decides nothing about ages. The
/// time lags behind while the relay is away from a restarted device; a lag reveals nothing. Times
/// in the commands of guardians do not count: a command's time follows the times of all commands
/// that its device knows, and a child's device makes some of them.
struct RelayTime: Sendable {
  private(set) var newest: Instant?
  /// The uptime at which `newest` was the present time; `nil` after a restart.
  private var learnedAt: Milliseconds?

  /// Learns a time that the relay stated. An older time changes nothing.
  ///
  /// - Parameter uptime: The reading of a clock that is never set; `nil`: unknown, at a restart.
  mutating func learn(_ time: Instant, uptime: Milliseconds?) {
    guard now(uptime: uptime).map({ $0 < time }) ?? true else { return }
    newest = time
    learnedAt = uptime
  }

  /// Starts to count the passing time of a restored value.
  mutating func start(uptime: Milliseconds) { learnedAt = learnedAt ?? uptime }

  /// The present time; `nil` before the relay stated any.
  func now(uptime: Milliseconds?) -> Instant? {
    guard let newest, let learnedAt, let uptime else { return newest }
    return newest + max(.zero, uptime - learnedAt)
  }
}
