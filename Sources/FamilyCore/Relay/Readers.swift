import FamilyModel

/// How far the devices of a family have come, and when those that lag are told again.
///
/// Of devices that are attached, everything that they have not acknowledged is published again, with
/// growing delays. Positions of other devices are kept for the receipts (M4).
struct Readers: Sendable {
  /// Milliseconds until the first repetition; each wait doubles the one before it.
  static let republishFirst: Int64 = 500
  /// The longest wait between two repetitions.
  static let republishMost: Int64 = 30_000
  /// Events of one audience in one repetition; a reader that lacks more fetches them.
  static let republishEvents = 32
  /// A device that has said nothing for so many milliseconds is not attached any more.
  static let silence: Int64 = 45_000

  private var cursors: [DeviceID: [Audience: Cursor]] = [:]
  private var heard: [DeviceID: Instant] = [:]
  private var attempts = 0
  private(set) var due: Instant?

  func cursor(_ device: DeviceID, _ audience: Audience) -> Cursor {
    cursors[device]?[audience] ?? Cursor(audience, delivered: 0)
  }

  mutating func restore(_ device: DeviceID, _ cursor: Cursor) {
    cursors[device, default: [:]][cursor.audience] = cursor
  }

  mutating func heard(from device: DeviceID, _ now: Instant) {
    if heard[device] != nil { heard[device] = now }
  }

  mutating func attach(_ device: DeviceID, _ now: Instant) { heard[device] = now }

  /// Moves a cursor forward, never back and never beyond the head; tells whether it moved.
  mutating func move(_ device: DeviceID, _ cursor: Cursor, head: UInt64) -> Cursor? {
    let old = self.cursor(device, cursor.audience)
    var new = old
    new.delivered = max(old.delivered, min(cursor.delivered, head))
    new.read = max(old.read, min(cursor.read, new.delivered))
    guard new != old else { return nil }
    cursors[device, default: [:]][cursor.audience] = new
    return new
  }

  /// Something new was published: look whether it arrived, after a while.
  mutating func published(_ now: Instant) {
    attempts = 0
    due = now + Self.republishFirst
  }

  /// The audiences in which an attached device lags, with the first event that it lacks.
  mutating func lagging(_ state: FamilyState, _ now: Instant) -> [(Audience, after: UInt64)] {
    var lag: [Audience: UInt64] = [:]
    for device in state.roster.devices {
      guard let last = heard[device.id], last + Self.silence > now,
        let person = state.roster.person(device.person)
      else { continue }
      for audience in state.audiences(of: person) {
        let delivered = cursor(device.id, audience).delivered
        guard delivered < state.head(audience) else { continue }
        lag[audience] = min(lag[audience] ?? .max, delivered)
      }
    }
    attempts += 1
    due =
      lag.isEmpty
      ? nil : now + Timing.backoff(attempts, Self.republishFirst, Self.republishMost)
    return lag.keys.sorted().map { ($0, lag[$0]!) }
  }

  /// How far the guardians have come in the child's conversation.
  func receipt(_ state: FamilyState, _ child: PersonID) -> Receipt {
    var receipt = Receipt()
    for device in state.roster.devices {
      guard state.roster.person(device.person)?.role.isGuardian ?? false else { continue }
      let cursor = cursor(device.id, .conversation(child))
      receipt.delivered = max(receipt.delivered, cursor.delivered)
      receipt.read = max(receipt.read, cursor.read)
    }
    return receipt
  }
}
