import FamilyModel
import Logging
import RelayPipeline
import ZeroMQ

/// Erases contents that ended a stated time ago, once a day and slowly. Confined to the operator's
/// thread.
///
/// A pass spares the events that were not in the log an hour before it, or at the last pass. A shipper
/// continues after an event of this time, and compares it with its copy.
struct RetentionSweep {
  /// The time between two parts: 640 events a second.
  private static let partInterval = Nanoseconds.milliseconds(100)
  /// The time between two passes.
  private static let passInterval = Nanoseconds.seconds(86_400)
  /// The time before the first pass.
  private static let firstInterval = Nanoseconds.seconds(3_600)

  /// Contents that were erased since the start.
  private(set) var erased = 0
  /// When the next part is due.
  var due = MonotonicInstant.now
  /// The number of events of the log when the last pass began; `nil` before the start.
  private var events: Int?
  private var pass: RetentionPass?
  private let copier: StoreCopier
  private let retention: Milliseconds
  private let logger: Logger

  /// - Parameter retention: The time for which texts and closed questions stay.
  init(_ copier: StoreCopier, keeping retention: Milliseconds, _ logger: Logger) {
    (self.copier, self.retention, self.logger) = (copier, retention, logger)
  }

  /// Erases the next part if it is due.
  ///
  /// - Parameter now: The wall clock.
  mutating func advance(at now: Instant) {
    guard due <= MonotonicInstant.now else { return }
    if pass == nil {
      let newest = (try? copier.log(after: 0, limit: 0, bytes: 0))?.newest ?? 0
      defer { events = newest }
      guard let events else {
        due = .now + Self.firstInterval
        return
      }
      pass = RetentionPass(copier, endedBy: now - retention, first: min(events, newest - 1))
    }
    let before = pass!.erased
    var isComplete = true
    do { isComplete = try pass!.advance() } catch {
      logger.error("contents were not erased", metadata: ["error": "\(error)"])
    }
    erased += pass!.erased - before
    if isComplete { pass = nil }
    due = .now + (isComplete ? Self.passInterval : Self.partInterval)
  }
}
