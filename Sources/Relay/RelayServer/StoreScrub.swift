import Logging
import RelayPipeline
import RelayStore
import ZeroMQ

/// Reads all events of the store again and again, slowly, so that damage is found before a device needs
/// the record. Confined to the operator's thread.
struct StoreScrub {
  /// Events of a part. A commit waits for less than a millisecond.
  private static let eventsPerPart = 64
  /// The time between two parts: 640 events a second.
  private static let partInterval = Nanoseconds.milliseconds(100)
  /// The time between two passes.
  private static let passInterval = Nanoseconds.seconds(86_400)
  /// Damaged records of a pass that are logged. The others are counted.
  private static let loggedDamage = 100

  /// Events that were verified since the start.
  private(set) var events = 0
  /// Damaged events that were found since the start.
  private(set) var damage = 0
  /// When the next part is due.
  private(set) var due = MonotonicInstant.now + partInterval
  private var position: Int64 = 0
  private var damageOfPass = 0
  private let copier: StoreCopier
  private let logger: Logger

  init(_ copier: StoreCopier, _ logger: Logger) {
    self.copier = copier
    self.logger = logger
  }

  /// Verifies the next part if it is due.
  mutating func advance() {
    guard due <= MonotonicInstant.now else { return }
    // A failed read is repeated with the next pass: the relay itself reports a failing disk.
    let result =
      (try? copier.verify(after: position, limit: Self.eventsPerPart)) ?? .init(position: nil)
    events += result.events
    damage += result.damage.count
    for error in result.damage {
      damageOfPass += 1
      guard damageOfPass <= Self.loggedDamage else { break }
      logger.error(
        "a record is damaged; stop the relay and run `relayctl check-store`",
        metadata: ["record": "\(error.detail)"])
    }
    position = result.position ?? 0
    if result.position == nil { damageOfPass = 0 }
    due = .now + (result.position == nil ? Self.passInterval : Self.partInterval)
  }
}
