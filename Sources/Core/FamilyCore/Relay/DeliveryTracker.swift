import FamilyModel

/// The cursors of a family's devices, and the devices that lag.
///
/// A device is `absent` → (attach, ping, fetch, acknowledge) `attached` → (45 s without a request)
/// `absent`. The cursors of absent devices remain, because receipts use them.
///
/// A republish is the newest event that a late reader should have: it shows the reader its gap, and
/// the reader fetches the rest alone. Republishes have exponential backoff while readers are late.
/// New events do not hasten them, so that readers who cannot keep up get less work, not more.
struct DeliveryTracker: Hashable, Sendable {
  /// The time until the first republish; each later delay doubles.
  static let firstRepublishDelay = Milliseconds.milliseconds(250)
  /// The longest delay between two republishes.
  static let maximumRepublishDelay = Milliseconds.seconds(30)
  /// The time without a request after which a device is absent.
  static let attachmentTimeout = Milliseconds.seconds(45)

  /// The key of a cursor: a device and an audience.
  fileprivate struct ReaderKey: Hashable, Comparable, Sendable {
    var device: DeviceID
    var audience: Audience
    static func < (a: ReaderKey, b: ReaderKey) -> Bool {
      a.device == b.device ? a.audience < b.audience : a.device < b.device
    }
  }

  fileprivate struct Position: Hashable, Sendable {
    var delivered: UInt64
    var read: UInt64
  }

  private var positions = SmallMap<ReaderKey, Position>()
  private var lastActivity = SmallMap<DeviceID, Instant>()
  /// Consecutive checks that found late readers.
  private var attempts = 0
  /// The heads at the last check. Only events up to them can be late.
  private var checkedHeads = SmallMap<Audience, UInt64>()

  func cursor(_ device: DeviceID, _ audience: Audience) -> Cursor {
    let position = positions[ReaderKey(device: device, audience: audience)]
    return Cursor(audience, delivered: position?.delivered ?? 0, read: position?.read ?? 0)
  }

  mutating func restore(_ device: DeviceID, _ cursor: Cursor) {
    positions[ReaderKey(device: device, audience: cursor.audience)] = Position(
      delivered: cursor.delivered, read: cursor.read)
  }

  /// Whether the device sent a request within the attachment timeout.
  func isAttached(_ device: DeviceID, now: Instant) -> Bool {
    lastActivity[device].map { now < $0 + Self.attachmentTimeout } ?? false
  }

  /// Records a request of the device; `attaches` means that the request shows that the device
  /// reads.
  mutating func recordActivity(of device: DeviceID, attaches: Bool, now: Instant) {
    if attaches || isAttached(device, now: now) { lastActivity[device] = now }
  }

  /// Moves a cursor.
  ///
  /// A cursor beyond the head counts events of a history that the relay has lost, and says nothing
  /// about the present one. An attachment with such a cursor may also be late: the device then lacks
  /// nothing that a republish does not bring.
  ///
  /// - Parameter back: Whether the cursor may move back, because an attachment states it.
  /// - Returns: the new cursor; `nil` if the cursor did not move.
  mutating func move(
    _ device: DeviceID, _ cursor: Cursor, from old: Cursor, head: UInt64, back: Bool
  ) -> Cursor? {
    var new = back ? Cursor(cursor.audience, delivered: 0, read: 0) : old
    if cursor.delivered <= head {
      new.delivered = max(new.delivered, cursor.delivered)
      new.read = max(new.read, min(cursor.read, new.delivered))
    }
    guard new != old else { return nil }
    restore(device, new)
    return new
  }

  /// Starts the delivery checks of a new event.
  ///
  /// - Returns: the time of the first check.
  mutating func startChecks(_ state: FamilyState, isScheduled: Bool, now: Instant) -> Instant {
    if !isScheduled {
      attempts = 0
      checkedHeads.copy(state.heads)
    }
    return now + Self.firstRepublishDelay
  }

  /// Checks which attached devices lag.
  ///
  /// - Returns: The late audiences, ascending, each with its head at the last check, and the time of
  ///   the next check. An audience is late if a reader lacks an event that the last check already
  ///   knew. The time is `nil` if no device lags.
  mutating func check(_ state: FamilyState, now: Instant)
    -> (lagging: [(audience: Audience, seq: UInt64)], nextCheck: Instant?)
  {
    var late = SmallMap<Audience, UInt64>()
    var isAnyLagging = false
    let devices = state.roster.devices
    // Access by index avoids a copy of each device.
    for index in devices.indices {
      let (device, person) = (devices[index].id, devices[index].person)
      guard isAttached(device, now: now), let member = state.roster.member(person) else { continue }
      for entry in state.heads.entries {
        let audience = entry.key
        let delivered = cursor(device, audience).delivered
        guard delivered < entry.value, state.roster.isMember(member, of: audience) else {
          continue
        }
        isAnyLagging = true
        guard let head = checkedHeads[audience], delivered < head else { continue }
        late[audience] = head
      }
    }
    guard isAnyLagging else {
      checkedHeads.removeAll()
      return ([], nil)
    }
    attempts = late.entries.isEmpty ? 0 : attempts + 1
    checkedHeads.copy(state.heads)
    let wait = Timing.backoff(
      max(1, attempts), Self.firstRepublishDelay, Self.maximumRepublishDelay)
    return (late.entries.map { ($0.key, $0.value) }, now + wait)
  }

  /// Whether the device lacks an event that its person may read.
  func lags(_ device: DeviceID, of person: Member, _ state: FamilyState) -> Bool {
    state.heads.entries.contains {
      cursor(device, $0.key).delivered < $0.value && state.roster.isMember(person, of: $0.key)
    }
  }

  /// Whether the device lacks an event that was already expected at the last check.
  func isLate(_ device: DeviceID, of person: Member, _ state: FamilyState) -> Bool {
    state.heads.entries.contains {
      cursor(device, $0.key).delivered < min(checkedHeads[$0.key] ?? 0, $0.value)
        && state.roster.isMember(person, of: $0.key)
    }
  }

  /// The progress of the guardians' devices in the child's conversation, without the excluded
  /// device.
  func receipt(_ state: FamilyState, _ child: PersonID, without excluded: DeviceID? = nil)
    -> Receipt
  {
    var receipt = Receipt()
    let devices = state.roster.devices
    for index in devices.indices where devices[index].id != excluded {
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

  /// Advances both values to this event.
  mutating func advance(to seq: UInt64) {
    (delivered, read) = (max(delivered, seq), max(read, seq))
  }
}

extension DeliveryTracker: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(positions)
    packer.add(lastActivity)
    packer.add(UInt64(attempts))
    packer.add(checkedHeads)
  }

  init(_ packed: inout Unpacker) {
    positions = packed.value()
    lastActivity = packed.value()
    attempts = Int(clamping: packed.number())
    checkedHeads = packed.value()
  }
}

extension DeliveryTracker.ReaderKey: Packable {
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
