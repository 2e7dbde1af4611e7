public import FamilyModel

/// A piece of a device's durable state. A device is restored from its records alone.
public enum DeviceRecord: Hashable, Sendable {
  /// An event that was applied.
  case event(Event)
  /// How far the device has come in an audience.
  case cursor(Cursor)
  /// How far the guardians have come in a conversation.
  case receipt(Audience, Receipt)
  /// A command that the relay has not acknowledged; `position` keeps the order.
  case outbox(position: UInt64, CommandID, Command)
  /// What the device knows of an app.
  case app(AppID, AppProgress)
  /// An entry that the app has not acknowledged.
  case entry(AppID, AppEntry)
  /// How often a wrong passcode was typed here.
  case passcodeTries(PasscodeTries)
}

/// What names a record.
public enum RecordKey: Hashable, Sendable {
  /// An event.
  case event(Audience, seq: UInt64)
  /// A cursor.
  case cursor(Audience)
  /// A receipt.
  case receipt(Audience)
  /// A place in the outbox.
  case outbox(position: UInt64)
  /// An app.
  case app(AppID)
  /// An entry of an app.
  case entry(AppID, position: UInt64)
  /// The tries of the passcode.
  case passcodeTries
}

extension DeviceRecord {
  /// The record's name.
  public var key: RecordKey {
    switch self {
    case .event(let event): .event(event.audience, seq: event.seq)
    case .cursor(let cursor): .cursor(cursor.audience)
    case .receipt(let audience, _): .receipt(audience)
    case .outbox(let position, _, _): .outbox(position: position)
    case .app(let app, _): .app(app)
    case .entry(let app, let entry): .entry(app, position: entry.position)
    case .passcodeTries: .passcodeTries
    }
  }
}

/// A change of a device's durable state. All changes of one step are one transaction.
public enum RecordChange: Hashable, Sendable {
  /// Write the record, over the one of the same key.
  case put(DeviceRecord)
  /// Remove the record.
  case delete(RecordKey)
}

/// What a device knows of an app.
public struct AppProgress: Hashable, Sendable {
  /// Whether the app may be launched in the background (R7).
  public var registered: Bool
  /// The last entry that the app acknowledged.
  public var acknowledged: UInt64
  /// The last entry made for the app.
  public var head: UInt64
  /// An app with this standing.
  public init(registered: Bool = false, acknowledged: UInt64 = 0, head: UInt64 = 0) {
    self.registered = registered
    self.acknowledged = acknowledged
    self.head = head
  }

  /// An app that nothing was told yet, by a device without records. Positions begin after a random one: an
  /// app that kept its positions while the device lost its store is out of their range, and starts anew.
  init(startingAfter position: UInt64) { self.init(acknowledged: position, head: position) }
}
