public import FamilyModel

/// A piece of a device's durable state. A device is restored from its records alone.
public enum DeviceRecord: Hashable, Sendable {
  /// An event in its audience's order.
  case event(Event)
  /// The device's cursor in an audience.
  case cursor(Cursor)
  /// The guardians' receipt in a conversation.
  case receipt(Audience, Receipt)
  /// The position of an event that the device read and did not keep.
  case passed(Audience, ChainPosition)
  /// An event that is newer than this version, or that depends on such an event. A later version
  /// evaluates it at its start.
  case newer(Event)
  /// The copy, with its content open, of a verified event that the relay has lost. `after` is the
  /// last position that the present history shares with that of the event.
  case lost(Event, after: UInt64)
  /// A command that the relay has not acknowledged. `position` is its place in the order of the
  /// outbox. `basedOnSeq` is the newest event of the family that the device knew. A roster states
  /// changes of the roster of that event.
  case outbox(position: UInt64, CommandID, Command, basedOnSeq: UInt64 = 0)
  /// An app's registration and progress.
  case app(AppID, AppProgress)
  /// An app entry that the app has not acknowledged.
  case entry(AppID, AppEntry)
  /// A notification that the owner has not dismissed.
  case notification(DeviceNotification)
  /// The latest time that the device has seen. Approvals with an end are judged by it.
  case latestTime(Instant)
  /// A handle that an app has named, in canonical form.
  case named(AppID, Handle)
  /// The managed settings of an app's store with this name.
  case managed(AppID, String, ManagedSettings)
  /// An activity that an app watches.
  case activity(AppID, WatchedActivity)
  /// The use of the web on one day that an app on this device has reported, and the number of the app's
  /// last message.
  case webUse(AppID, WebDay, message: UInt64)
  /// The newest report of a person's use of the web on one day, by one of the person's devices.
  case webReport(PersonID, DeviceID, ReportedWebDay)
  /// The state that the events up to a position add up to: a cache. See ``SnapshotCoverage``.
  case snapshot([UInt8])
}

/// The key of a record in the store.
public enum RecordKey: Hashable, Sendable {
  /// The key of an event.
  case event(Audience, seq: UInt64)
  /// The key of a cursor.
  case cursor(Audience)
  /// The key of a receipt.
  case receipt(Audience)
  /// The key of the position of an event that was not kept.
  case passed(Audience, seq: UInt64)
  /// The key of an event that is newer than this version.
  case newer(Audience, seq: UInt64)
  /// The key of the copy of a lost event.
  case lost(CommandName)
  /// The key of a command in the outbox.
  case outbox(position: UInt64)
  /// The key of an app's progress.
  case app(AppID)
  /// The key of an app entry.
  case entry(AppID, position: UInt64)
  /// The key of a notification.
  case notification(CommandID)
  /// The key of the latest time.
  case latestTime
  /// The key of a handle that an app has named.
  case named(AppID, Handle)
  /// The key of the managed settings of an app's store.
  case managed(AppID, String)
  /// The key of an activity of an app.
  case activity(AppID, String)
  /// The key of the use of the web that an app has reported.
  case webUse(AppID, Account.Day)
  /// The key of a report of the use of the web.
  case webReport(PersonID, DeviceID, Account.Day)
  /// The key of the snapshot.
  case snapshot
}

extension DeviceRecord {
  /// The record's key.
  public var key: RecordKey {
    switch self {
    case .event(let event): .event(event.audience, seq: event.seq)
    case .cursor(let cursor): .cursor(cursor.audience)
    case .receipt(let audience, _): .receipt(audience)
    case .passed(let audience, let position): .passed(audience, seq: position.seq)
    case .newer(let event): .newer(event.audience, seq: event.seq)
    case .lost(let event, _): .lost(event.commandName ?? CommandName(event.device, event.command))
    case .outbox(let position, _, _, _): .outbox(position: position)
    case .app(let app, _): .app(app)
    case .entry(let app, let entry): .entry(app, position: entry.position)
    case .notification(let notification): .notification(notification.id)
    case .latestTime: .latestTime
    case .named(let app, let handle): .named(app, handle)
    case .managed(let app, let name, _): .managed(app, name)
    case .activity(let app, let watched): .activity(app, watched.activity.name)
    case .webUse(let app, let day, _): .webUse(app, day.day)
    case .webReport(let person, let device, let report): .webReport(person, device, report.day.day)
    case .snapshot: .snapshot
    }
  }
}

/// A change of a device's durable state. All changes of one step are one transaction.
public enum RecordChange: Hashable, Sendable {
  /// Write the record and replace the one with the same key.
  case put(DeviceRecord)
  /// Remove the record.
  case delete(RecordKey)
}

extension [DeviceRecord] {
  /// The positions that the device has read and stored, ascending: of events, and of those that were not
  /// kept.
  public var positions: [Audience: [UInt64]] {
    var positions: [Audience: [UInt64]] = [:]
    for record in self {
      switch record {
      case .event(let event): positions[event.audience, default: []].append(event.seq)
      case .passed(let audience, let position):
        positions[audience, default: []].append(position.seq)
      default: break
      }
    }
    return positions.mapValues { $0.sorted() }
  }
}

/// An app's registration, and its progress through its app entries.
public struct AppProgress: Hashable, Sendable {
  /// Whether the device may launch the app in the background.
  public var registered: Bool
  /// The position of the last entry that the app acknowledged.
  public var acknowledged: UInt64
  /// The position of the newest entry.
  public var head: UInt64
  /// The app's rating when the device last started; `nil`: no rating is recorded.
  public var rating: AgeRating?
  /// Creates a progress; positions of an app without entries are zero.
  public init(
    registered: Bool = false, acknowledged: UInt64 = 0, head: UInt64 = 0, rating: AgeRating? = nil
  ) {
    self.registered = registered
    self.acknowledged = acknowledged
    self.head = head
    self.rating = rating
  }

  /// The progress of an app on a device without records.
  ///
  /// Positions begin after a random one. An app that kept its positions while the device lost its
  /// store is then outside their range, so that the device resets it.
  init(startingAfter position: UInt64) { self.init(acknowledged: position, head: position) }
}
