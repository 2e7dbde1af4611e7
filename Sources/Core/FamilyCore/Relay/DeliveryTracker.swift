import FamilyModel

/// How far the devices of a family have come, and which of them lag.
///
/// A device is `absent` → (attach, ping, fetch, acknowledge) `attached` → (45 s without a word) `absent`.
/// What an attached device has not acknowledged is published again, with growing delays. Positions of
/// absent devices are kept for the receipts (M4).
struct DeliveryTracker: Hashable, Sendable {
  /// Milliseconds until the first repetition; each wait doubles the one before it.
  static let republishFirst: Int64 = 250
  /// The longest wait between two repetitions.
  static let republishMost: Int64 = 30_000
  /// Events of one audience in one repetition; a reader that lacks more fetches them.
  static let republishEvents = 32
  /// A device that has said nothing for so many milliseconds is not attached any more.
  static let silence: Int64 = 45_000

  fileprivate struct Place: Hashable, Comparable, Sendable {
    var device: DeviceID
    var audience: Audience
    static func < (a: Place, b: Place) -> Bool {
      a.device == b.device ? a.audience < b.audience : a.device < b.device
    }
  }

  fileprivate struct Position: Hashable, Sendable {
    var delivered: UInt64
    var read: UInt64
  }

  private var positions = SmallMap<Place, Position>()
  private var heard = SmallMap<DeviceID, Instant>()
  private var attempts = 0
  /// The heads at the last look: only what was there then is late now.
  private var expected = SmallMap<Audience, UInt64>()

  func cursor(_ device: DeviceID, _ audience: Audience) -> Cursor {
    let position = positions[Place(device: device, audience: audience)]
    return Cursor(audience, delivered: position?.delivered ?? 0, read: position?.read ?? 0)
  }

  mutating func restore(_ device: DeviceID, _ cursor: Cursor) {
    positions[Place(device: device, audience: cursor.audience)] = Position(
      delivered: cursor.delivered, read: cursor.read)
  }

  /// Whether the device has spoken within the last 45 seconds.
  func isAttached(_ device: DeviceID, now: Instant) -> Bool {
    heard[device].map { now < $0 + Self.silence } ?? false
  }

  /// The device spoke; `attaches` tells whether it reads, too.
  mutating func heard(from device: DeviceID, attaches: Bool, now: Instant) {
    if attaches || isAttached(device, now: now) { heard[device] = now }
  }

  /// Moves a cursor forward, never back and never beyond the head; `nil` where it stays.
  mutating func move(_ device: DeviceID, _ cursor: Cursor, from old: Cursor, head: UInt64)
    -> Cursor?
  {
    var new = old
    new.delivered = max(old.delivered, min(cursor.delivered, head))
    new.read = max(old.read, min(cursor.read, new.delivered))
    guard new != old else { return nil }
    restore(device, new)
    return new
  }

  /// Something is on its way: when to look whether it arrived.
  mutating func published(_ state: FamilyState, isWatched: Bool, now: Instant) -> Instant {
    attempts = 0
    if !isWatched { expected.copy(state.heads) }
    return now + Self.republishFirst
  }

  /// The audiences in which an attached device lags, with the last event that it has, ascending; and
  /// when to look again, if there is anything to look for.
  mutating func look(_ state: FamilyState, now: Instant)
    -> (lagging: [(audience: Audience, after: UInt64)], next: Instant?)
  {
    var late = SmallMap<Audience, UInt64>()
    var isAnythingOpen = false
    let devices = state.roster.devices
    // By index: nothing of a device is copied.
    for index in devices.indices {
      let (device, person) = (devices[index].id, devices[index].person)
      guard isAttached(device, now: now), let member = state.roster.member(person) else { continue }
      for entry in state.heads.entries {
        let audience = entry.key
        let delivered = cursor(device, audience).delivered
        guard delivered < entry.value, state.roster.isMember(member, of: audience) else {
          continue
        }
        isAnythingOpen = true
        guard delivered < expected[audience] ?? 0 else { continue }
        late[audience] = min(late[audience] ?? .max, delivered)
      }
    }
    guard isAnythingOpen else {
      expected.removeAll()
      return ([], nil)
    }
    attempts += 1
    expected.copy(state.heads)
    let wait = Timing.backoff(attempts, Self.republishFirst, Self.republishMost)
    return (late.entries.map { ($0.key, $0.value) }, now + wait)
  }

  /// Whether the device lacks something that its person may see.
  func lags(_ device: DeviceID, of person: Member, _ state: FamilyState) -> Bool {
    state.heads.entries.contains {
      cursor(device, $0.key).delivered < $0.value && state.roster.isMember(person, of: $0.key)
    }
  }

  /// Whether the device lacks something that was there at the last look already.
  func isLate(_ device: DeviceID, of person: Member, _ state: FamilyState) -> Bool {
    state.heads.entries.contains {
      cursor(device, $0.key).delivered < min(expected[$0.key] ?? 0, $0.value)
        && state.roster.isMember(person, of: $0.key)
    }
  }

  /// How far the guardians have come in the child's conversation, but for one device.
  func receipt(_ state: FamilyState, _ child: PersonID, without one: DeviceID? = nil) -> Receipt {
    var receipt = Receipt()
    let devices = state.roster.devices
    for index in devices.indices where devices[index].id != one {
      guard state.roster.role(of: devices[index].person)?.isGuardian ?? false else { continue }
      receipt.advance(to: cursor(devices[index].id, .conversation(child)))
    }
    return receipt
  }
}

extension Receipt {
  mutating func advance(to cursor: Cursor) {
    delivered = max(delivered, cursor.delivered)
    read = max(read, cursor.read)
  }

  /// Delivered and read up to this event.
  mutating func advance(to seq: UInt64) {
    delivered = max(delivered, seq)
    read = max(read, seq)
  }
}

extension DeliveryTracker: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(positions)
    packer.add(heard)
    packer.add(UInt64(attempts))
    packer.add(expected)
  }

  init(_ packed: inout Unpacker) {
    positions = packed.value()
    heard = packed.value()
    attempts = Int(clamping: packed.number())
    expected = packed.value()
  }
}

extension DeliveryTracker.Place: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(device)
    packer.add(audience)
  }

  init(_ packed: inout Unpacker) {
    device = packed.value()
    audience = packed.value()
  }
}

extension DeliveryTracker.Position: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(delivered)
    packer.add(read)
  }

  init(_ packed: inout Unpacker) {
    delivered = packed.number()
    read = packed.number()
  }
}
