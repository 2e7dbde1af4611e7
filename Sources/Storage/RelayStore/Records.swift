public import FamilyModel

/// An event as the store keeps it. The payload is opaque to the store.
public struct StoredEvent: Hashable, Sendable {
  /// The family whose log contains the event.
  public var family: FamilyID
  /// The event's position in the family's log: 1, 2, 3, …
  public var seq: UInt64
  /// The audience that may read the event.
  public var audience: Audience
  /// The device that sent the command; zero: the administrator, or a device that requests to join.
  public var device: DeviceID
  /// The id of the command that led to the event; unique among the device's commands.
  public var command: CommandID
  /// The relay's clock at acceptance.
  public var at: Instant
  /// The encoded event.
  public var payload: [UInt8]
  /// Creates a stored event from its encoding and its index fields.
  public init(
    family: FamilyID, seq: UInt64, audience: Audience, device: DeviceID, command: CommandID,
    at: Instant, payload: [UInt8]
  ) {
    self.family = family
    self.seq = seq
    self.audience = audience
    self.device = device
    self.command = command
    self.at = at
    self.payload = payload
  }

  /// The checksum of all fields, stored beside them.
  public var checksum: UInt32 {
    var sum = Checksum()
    sum.add(family.rawValue)
    sum.add(seq)
    sum.add(audience.rawValue)
    sum.add(UInt64(device.rawValue))
    sum.add(command.high)
    sum.add(command.low)
    sum.add(UInt64(bitPattern: at.milliseconds))
    sum.add(payload)
    return sum.value
  }
}

/// A device's cursor in one audience. The key is family, device and audience.
public struct StoredCursor: Hashable, Sendable {
  /// The device's family.
  public var family: FamilyID
  /// The device's number in the family.
  public var device: DeviceID
  /// The audience and the device's position in it.
  public var cursor: Cursor
  /// Creates the stored cursor of `device`.
  public init(family: FamilyID, device: DeviceID, cursor: Cursor) {
    self.family = family
    self.device = device
    self.cursor = cursor
  }

  /// The checksum of all fields, stored beside them.
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

/// A family's state after one event: a cache that shortens loading. The payload is opaque to the
/// store.
public struct StoredSnapshot: Hashable, Sendable {
  /// The family whose state is stored. A family has at most one snapshot.
  public var family: FamilyID
  /// The newest event that the state includes.
  public var seq: UInt64
  /// The encoded state.
  public var payload: [UInt8]
  /// Creates the snapshot `payload` of `family` after the event `seq`.
  public init(family: FamilyID, seq: UInt64, payload: [UInt8]) {
    self.family = family
    self.seq = seq
    self.payload = payload
  }

  /// The checksum of all fields, stored beside them.
  public var checksum: UInt32 {
    var sum = Checksum()
    sum.add(family.rawValue)
    sum.add(seq)
    sum.add(payload)
    return sum.value
  }
}

/// The relay's part of a family's passcode. The payload is opaque to the store and secret.
public struct StoredPasscodeLock: Hashable, Sendable {
  /// The family of the passcode. A family has at most one lock.
  public var family: FamilyID
  /// The encoded lock.
  public var payload: [UInt8]
  /// Creates the lock `payload` of `family`.
  public init(family: FamilyID, payload: [UInt8]) {
    self.family = family
    self.payload = payload
  }

  /// The checksum of all fields, stored beside them.
  public var checksum: UInt32 {
    var sum = Checksum()
    sum.add(family.rawValue)
    sum.add(payload)
    return sum.value
  }
}

/// The records that one commit makes durable, as a whole or not at all.
public struct Batch: Hashable, Sendable {
  /// New events, ascending by `seq` within each family.
  public var events: [StoredEvent] = []
  /// Cursors that replace earlier ones with the same key.
  public var cursors: [StoredCursor] = []
  /// Snapshots that replace earlier ones of the same family.
  public var snapshots: [StoredSnapshot] = []
  /// Passcode locks that replace earlier ones of the same family.
  public var passcodeLocks: [StoredPasscodeLock] = []
  /// Creates an empty batch.
  public init() {}
  /// Removes all records and keeps the arrays' capacity for the next batch.
  public mutating func removeAll() {
    events.removeAll(keepingCapacity: true)
    cursors.removeAll(keepingCapacity: true)
    snapshots.removeAll(keepingCapacity: true)
    passcodeLocks.removeAll(keepingCapacity: true)
  }
  /// Whether the batch has no records.
  public var isEmpty: Bool {
    events.isEmpty && cursors.isEmpty && snapshots.isEmpty && passcodeLocks.isEmpty
  }
}

/// A family's stored events, cursors and passcode lock.
public struct StoredFamily: Hashable, Sendable {
  /// The events, ascending by `seq`.
  public var events: [StoredEvent]
  /// The cursors, ascending by device and audience.
  public var cursors: [StoredCursor]
  /// The passcode lock; `nil` before a guardian prepares a passcode.
  public var passcodeLock: StoredPasscodeLock?
  /// Creates a family, by default without records.
  public init(
    events: [StoredEvent] = [], cursors: [StoredCursor] = [],
    passcodeLock: StoredPasscodeLock? = nil
  ) {
    self.events = events
    self.cursors = cursors
    self.passcodeLock = passcodeLock
  }
}
