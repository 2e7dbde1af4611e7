public import FamilyModel

/// An event as the store keeps it. The payload is opaque to the store.
public struct StoredEvent: Hashable, Sendable {
  /// The family.
  public var family: FamilyID
  /// The place in the family's log.
  public var seq: UInt64
  /// Who may see it.
  public var audience: Audience
  /// The command that led to it.
  public var command: CommandID
  /// The relay's clock when it was accepted.
  public var at: Instant
  /// The encoded event.
  public var payload: [UInt8]
  /// An event with these parts.
  public init(
    family: FamilyID, seq: UInt64, audience: Audience, command: CommandID, at: Instant,
    payload: [UInt8]
  ) {
    self.family = family
    self.seq = seq
    self.audience = audience
    self.command = command
    self.at = at
    self.payload = payload
  }

  /// The checksum of all parts, kept beside them.
  public var checksum: UInt32 {
    var sum = Checksum()
    sum.add(family.rawValue)
    sum.add(seq)
    sum.add(audience.rawValue)
    sum.add(command.high)
    sum.add(command.low)
    sum.add(UInt64(bitPattern: at.milliseconds))
    sum.add(payload)
    return sum.value
  }
}

/// How far a device has come in an audience.
public struct StoredCursor: Hashable, Sendable {
  /// The family.
  public var family: FamilyID
  /// The device.
  public var device: DeviceID
  /// The position.
  public var cursor: Cursor
  /// The position `cursor` of `device`.
  public init(family: FamilyID, device: DeviceID, cursor: Cursor) {
    self.family = family
    self.device = device
    self.cursor = cursor
  }

  /// The checksum of all parts.
  public var checksum: UInt32 {
    var sum = Checksum()
    sum.add(family.rawValue)
    sum.add(UInt64(device.rawValue))
    sum.add(cursor.audience.rawValue)
    sum.add(cursor.delivered)
    sum.add(cursor.read)
    return sum.value
  }
}

/// A family's state at an event: a cache, from which the log goes on. It is opaque to the store.
public struct StoredSnapshot: Hashable, Sendable {
  /// The family.
  public var family: FamilyID
  /// The last event that it includes.
  public var seq: UInt64
  /// The encoded state.
  public var payload: [UInt8]
  /// The state `payload` of `family` after the event `seq`.
  public init(family: FamilyID, seq: UInt64, payload: [UInt8]) {
    self.family = family
    self.seq = seq
    self.payload = payload
  }

  /// The checksum of all parts.
  public var checksum: UInt32 {
    var sum = Checksum()
    sum.add(family.rawValue)
    sum.add(seq)
    sum.add(payload)
    return sum.value
  }
}

/// What one commit makes durable, all or nothing.
public struct Batch: Hashable, Sendable {
  /// New events.
  public var events: [StoredEvent] = []
  /// Cursors, over the old ones.
  public var cursors: [StoredCursor] = []
  /// Snapshots, over the old ones.
  public var snapshots: [StoredSnapshot] = []
  /// A batch of nothing.
  public init() {}
  /// Empties it; the memory stays for the next one.
  public mutating func removeAll() {
    events.removeAll(keepingCapacity: true)
    cursors.removeAll(keepingCapacity: true)
    snapshots.removeAll(keepingCapacity: true)
  }
  /// Whether there is nothing to commit.
  public var isEmpty: Bool { events.isEmpty && cursors.isEmpty && snapshots.isEmpty }
}

/// What the store has of a family.
public struct StoredFamily: Hashable, Sendable {
  /// The events, in order.
  public var events: [StoredEvent]
  /// The cursors, by device and audience.
  public var cursors: [StoredCursor]
  /// A family of these parts.
  public init(events: [StoredEvent] = [], cursors: [StoredCursor] = []) {
    self.events = events
    self.cursors = cursors
  }
}
