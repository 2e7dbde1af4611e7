import FamilyCore
package import FamilyModel
import FamilyTrust
package import RelayStore
import RelayWire

/// One pass through the store's log that erases contents by age, in parts beside the commits.
package struct RetentionPass {
  /// Events of a part.
  private static let eventsPerPart = 64
  /// Bytes of a part, without its last event.
  private static let bytesPerPart = 1 << 20

  private let copier: StoreCopier
  /// The last moment of an end that is long enough ago.
  private let end: Instant
  /// The number of events at the start of the log that may lose their contents.
  private let count: Int
  private var plan: ErasurePlan
  private var position = 0
  private var expired: [Int]?
  /// Whether an event was damaged: it may be the approval of a question that seems to have expired.
  private var hasSkipped = false
  /// Events that lost their contents.
  package private(set) var erased = 0

  /// A pass before the first event.
  ///
  /// - Parameters:
  ///   - count: See ``count``. A log that is shipped continues after one of the later events, which the
  ///     shipper compares with its copy.
  package init(_ copier: StoreCopier, endedBy end: Instant, first count: Int) {
    (self.copier, self.end, self.count) = (copier, end, count)
    plan = ErasurePlan(endedBy: end)
  }

  /// Reads the next part, and erases what it shows to have ended.
  ///
  /// - Returns: Whether the pass is complete.
  /// - Throws: The error of a write, or of a disk that cannot be read. Damaged events keep their contents.
  package mutating func advance() throws(StoreError) -> Bool {
    if expired == nil { return try advancePlan() }
    let part = Array(expired!.prefix(Self.eventsPerPart))
    expired!.removeFirst(part.count)
    try erase(part)
    return expired!.isEmpty
  }

  private mutating func advancePlan() throws(StoreError) -> Bool {
    let part = try copier.log(
      after: position, limit: Self.eventsPerPart, bytes: Self.bytesPerPart)
    var due: [Int] = []
    var isComplete = false
    for record in part.records where !isComplete {
      switch record {
      case .event(let stored):
        // The log is in the order of the relay's clock, so later events end later.
        isComplete = stored.at > end
        if isComplete { continue }
        position += 1
        guard let event = try? Event.decode(stored.payload) else { continue }
        due += plan.add(event, of: stored.family, at: position)
      case .damaged: (position, hasSkipped) = (position + 1, true)
      case .passcodeLock, .damagedLock: continue
      }
    }
    if isComplete || part.position >= part.newest { expired = hasSkipped ? [] : plan.finish() }
    try erase(due)
    return expired?.isEmpty ?? false
  }

  private mutating func erase(_ positions: [Int]) throws(StoreError) {
    var changes: [Int: StoredEvent] = [:]
    for position in positions where position <= count {
      let part = try? copier.log(after: position - 1, limit: 1, bytes: .max)
      guard case .event(var stored)? = part?.records.first,
        let erased = Event.erasingContent(ofPayload: stored.payload)
      else { continue }
      stored.payload = erased
      changes[position] = stored
    }
    guard !changes.isEmpty else { return }
    try copier.replace(changes)
    erased += changes.count
  }
}
