public import FamilyCore
public import FamilyModel
import Foundation
import SwiftProtobuf

/// A record key that sorts as its parts do: a tag, big-endian numbers, and texts after their
/// lengths.
struct KeyWriter {
  var bytes: [UInt8]
  init(_ tag: UInt8) { bytes = [tag] }
  func with(_ number: UInt64) -> KeyWriter {
    var copy = self
    withUnsafeBytes(of: number.bigEndian) { copy.bytes.append(contentsOf: $0) }
    return copy
  }
  func with(_ handle: Handle) -> KeyWriter {
    with(UInt64(handle.kind.rawValue)).with(handle.value)
  }
  func with(_ text: String) -> KeyWriter {
    var copy = self
    withUnsafeBytes(of: UInt16(clamping: text.utf8.count).bigEndian) {
      copy.bytes.append(contentsOf: $0)
    }
    copy.bytes.append(contentsOf: text.utf8)
    return copy
  }
}

extension RecordKey {
  /// The key's bytes. Lexicographic order is the order of audiences and positions.
  public var bytes: [UInt8] {
    switch self {
    case .event(let audience, let seq): KeyWriter(1).with(audience.rawValue).with(seq).bytes
    case .cursor(let audience): KeyWriter(2).with(audience.rawValue).bytes
    case .receipt(let audience): KeyWriter(3).with(audience.rawValue).bytes
    case .outbox(let position): KeyWriter(4).with(position).bytes
    case .app(let app): KeyWriter(5).with(app.rawValue).bytes
    case .entry(let app, let position): KeyWriter(6).with(app.rawValue).with(position).bytes
    case .notification(let id): KeyWriter(20).with(id.high).with(id.low).bytes
    case .latestTime: KeyWriter(8).bytes
    case .named(let app, let handle): KeyWriter(9).with(app.rawValue).with(handle).bytes
    case .managed(let app, let name): KeyWriter(50).with(app.rawValue).with(name).bytes
    case .activity(let app, let name): KeyWriter(51).with(app.rawValue).with(name).bytes
    case .passed(let audience, let seq): KeyWriter(30).with(audience.rawValue).with(seq).bytes
    case .newer(let audience, let seq): KeyWriter(32).with(audience.rawValue).with(seq).bytes
    case .snapshot: KeyWriter(40).bytes
    case .webUse(let app, let day): KeyWriter(52).with(app.rawValue).with(day.number).bytes
    case .webReport(let person, let device, let day):
      KeyWriter(53).with(UInt64(person.rawValue)).with(UInt64(device.rawValue)).with(day.number)
        .bytes
    case .lost(let name):
      KeyWriter(31).with(UInt64(name.device.rawValue)).with(name.id.high).with(name.id.low).bytes
    }
  }
}

private func number(_ bytes: some Collection<UInt8>) -> UInt64 {
  bytes.reduce(0) { $0 << 8 | UInt64($1) }
}

/// The text that follows the tag of the key.
private func text(_ key: [UInt8]) throws(Problem) -> String {
  guard key.count >= 3 else { throw .malformed }
  let count = Int(key[1]) << 8 | Int(key[2])
  guard key.count >= 3 + count else { throw .malformed }
  return String(decoding: key[3..<3 + count], as: UTF8.self)
}

extension DeviceRecord {
  /// The record's encoded value. ``RecordKey/bytes`` is its key.
  public var value: [UInt8] {
    switch self {
    case .event(let event), .newer(let event): event.encode()
    case .cursor(let cursor): Wire.encode(cursor.wire)
    case .receipt(_, let receipt): Wire.encode(receipt.wire)
    case .outbox(_, let id, let command, let basedOnSeq):
      Wire.encode(
        PBPending.with {
          $0.commandID = Data(id.bytes)
          $0.command = command.wire
          $0.basedOn = basedOnSeq
        })
    case .app(_, let standing):
      Wire.encode(
        PBAppStanding.with {
          $0.registered = standing.registered
          $0.acknowledged = standing.acknowledged
          $0.head = standing.head
          $0.rating = standing.rating.wire
        })
    case .entry(_, let entry): Wire.encode(entry.wire)
    case .notification(let notification): Wire.encode(notification.wire)
    case .latestTime(let time): Wire.encode(time.latestWire)
    case .named(_, let handle): Wire.encode(handle.wire)
    case .managed(_, let name, let settings): Wire.encode(settings.wire(name))
    case .activity(_, let watched): Wire.encode(watched.wire)
    case .passed(_, let position): position.hash.bytes
    case .snapshot(let bytes): bytes
    case .webUse(_, let day, let message):
      Wire.encode(
        PBAppWebDay.with {
          $0.day = day.wire
          $0.message = message
        })
    case .webReport(_, _, let report): Wire.encode(report.wire)
    case .lost(let event, let after): KeyWriter(31).with(after).bytes + event.encode()
    }
  }

  /// Decodes a record. An event's content stays sealed; an outbox command's content is not sealed
  /// yet.
  ///
  /// - Throws: `malformed`, or the problem of an invalid value.
  public static func decode(key: [UInt8], value: [UInt8]) throws(Problem) -> DeviceRecord {
    guard let tag = key.first else { throw .malformed }
    switch tag {
    case 1: return .event(try Event.decode(value, keepingUnreadable: true))
    case 2: return .cursor(Cursor(try Wire.parse(PBCursor.self, value)))
    case 3:
      return .receipt(
        Audience(rawValue: number(key.dropFirst())),
        Receipt(try Wire.parse(PBReceipt.self, value)))
    case 4:
      let pending = try Wire.parse(PBPending.self, value)
      return .outbox(
        position: number(key.dropFirst()), try Wire.id(pending.commandID),
        try Command(pending.command).opened(), basedOnSeq: pending.basedOn)
    case 5:
      let standing = try Wire.parse(PBAppStanding.self, value)
      return .app(
        AppID(try text(key)),
        AppProgress(
          registered: standing.registered, acknowledged: standing.acknowledged,
          head: standing.head, rating: try AgeRating?(wire: standing.rating)))
    case 6:
      return .entry(AppID(try text(key)), try AppEntry(try Wire.parse(PBAppEntry.self, value)))
    case 20:
      return .notification(try DeviceNotification(try Wire.parse(PBNotification.self, value)))
    case 8: return .latestTime(try Instant(try Wire.parse(PBLatestTime.self, value)))
    case 9: return .named(AppID(try text(key)), try Handle(try Wire.parse(PBHandle.self, value)))
    case 50:
      let store = try Wire.parse(PBManagedStore.self, value)
      return .managed(AppID(try text(key)), store.name, try ManagedSettings(store))
    case 51:
      let watched = try WatchedActivity(try Wire.parse(PBWatchedActivity.self, value))
      return .activity(AppID(try text(key)), watched)
    case 30:
      guard key.count == 17 else { throw .malformed }
      return .passed(
        Audience(rawValue: number(key[1...8])),
        ChainPosition(
          seq: number(key[9...]), hash: try Wire.require(ChainHash(bytes: value))))
    case 40: return .snapshot(value)
    case 52:
      let use = try Wire.parse(PBAppWebDay.self, value)
      return .webUse(AppID(try text(key)), try WebDay(use.day), message: use.message)
    case 53:
      guard key.count == 25 else { throw .malformed }
      return .webReport(
        PersonID(try Wire.require(UInt32(exactly: number(key[1...8])))),
        DeviceID(try Wire.require(UInt32(exactly: number(key[9...16])))),
        try ReportedWebDay(try Wire.parse(PBReportedWebDay.self, value)))
    case 31:
      guard value.count > 9 else { throw .malformed }
      return .lost(try Event.decode(Array(value[9...])).opened(), after: number(value[1..<9]))
    case 32: return .newer(try Event.decode(value, keepingUnreadable: true))
    default: throw .malformed
    }
  }
}

extension Account.Day {
  /// A number that ascends with the days.
  fileprivate var number: UInt64 {
    UInt64(clamping: Int64(year) * 10_000 + Int64(month) * 100 + Int64(day))
  }
}

extension Instant {
  fileprivate var latestWire: PBLatestTime { .with { $0.at = milliseconds } }

  fileprivate init(_ wire: PBLatestTime) throws(Problem) { self.init(milliseconds: wire.at) }
}

extension Command {
  /// The command with its content decoded if possible.
  func opened() -> Command {
    switch self {
    case .ask(let header, let content): .ask(header, content.openedIfPossible)
    case .post(let child, let content): .post(child: child, content.openedIfPossible)
    case .changeContact(let child, let content):
      .changeContact(child: child, content.openedIfPossible)
    case .setAccount(let person, let content): .setAccount(person, content.openedIfPossible)
    case .answerInPerson(let header, let content, let choice, let proof):
      .answerInPerson(header, content.openedIfPossible, choice: choice, proof: proof)
    case .withdraw(let child, let content): .withdraw(child: child, content.openedIfPossible)
    case .noteAge(let person, let content): .noteAge(person, content.openedIfPossible)
    case .setAge(let person, let content, let proof):
      .setAge(person, content.openedIfPossible, proof: proof)
    case .changeSettings(let child, let content, let proof):
      .changeSettings(child, content.openedIfPossible, proof: proof)
    case .setRoster, .setLimits, .remind, .cancel, .answer, .setPasscode, .addChild, .shareKeys,
      .complain, .invite, .beat, .opaque:
      self
    }
  }
}

extension AppRecord {
  /// The key of the record of a known handle.
  public static func key(of handle: Handle) -> [UInt8] {
    KeyWriter(1).with(handle).bytes
  }

  /// The common prefix of all keys of known handles.
  public static let knownPrefix: [UInt8] = [1]

  /// The record's key: a tag and the fields that identify the record.
  public var key: [UInt8] {
    switch self {
    case .known(let handle): Self.key(of: handle)
    case .position: [2]
    case .consentWithdrawn: [3]
    case .consumedAhead(let position): KeyWriter(4).with(position).bytes
    case .pinned: [5]
    case .statement(let statement):
      KeyWriter(6).with(UInt64(statement.kind.rawValue)).with(statement.handle).bytes
    case .asked(let question): KeyWriter(7).with(question.id.high).with(question.id.low).bytes
    case .latestTime: [8]
    case .named(let handle): KeyWriter(9).with(handle).bytes
    case .roster(let digest): [10] + digest.bytes
    case .site(let access): [11] + Array(access.site.name.utf8)
    case .webRestricted: [12]
    case .authorizationDenied: [20]
    case .managed(let name, _): [21] + Array(name.utf8)
    case .activity(let planned): [22] + Array(planned.activity.name.utf8)
    case .safety: [13]
    case .webDeletion(let number, _): KeyWriter(14).with(number).bytes
    }
  }

  /// The record's encoded value; empty for records that are only keys.
  public var value: [UInt8] {
    switch self {
    case .known(let handle), .named(let handle): Wire.encode(handle.wire)
    case .position(let applied, let consumed):
      Wire.encode(
        PBAppPosition.with {
          $0.applied = applied
          $0.consumed = consumed
        })
    case .consentWithdrawn, .consumedAhead, .roster, .authorizationDenied: []
    case .managed(let name, let settings): Wire.encode(settings.wire(name))
    case .activity(let planned): Wire.encode(planned.wire)
    case .site(let access): Wire.encode(access.wire)
    case .webRestricted(let isRestricted): [isRestricted ? 1 : 0]
    case .safety(let setting): [setting.rawValue]
    case .webDeletion(let number, let part): Wire.encode(part.wire(number))
    case .pinned(let security):
      Wire.encode(
        PBAppPin.with {
          $0.family = security.family.rawValue
          $0.child = security.child.rawValue
          $0.organizerKey = Data(security.organizerKey)
        })
    case .statement(let statement):
      Wire.encode(
        PBAppStatement.with {
          $0.place = UInt32(statement.kind.rawValue)
          $0.handle = statement.handle.wire
          $0.changes = statement.changes.all.map(\.wire)
        })
    case .asked(let question): Wire.encode(question.wire)
    case .latestTime(let time): Wire.encode(time.latestWire)
    }
  }

  /// Decodes a record.
  ///
  /// - Throws: `malformed`, or the problem of an invalid value.
  public static func decode(key: [UInt8], value: [UInt8]) throws(Problem) -> AppRecord {
    switch key.first {
    case 1: return .known(try Handle(try Wire.parse(PBHandle.self, value)))
    case 9: return .named(try Handle(try Wire.parse(PBHandle.self, value)))
    case 11: return .site(try SiteAccess(try Wire.parse(PBSiteAccess.self, value)))
    case 12: return .webRestricted(value == [1])
    case 14:
      let deletion = try Wire.parse(PBWebDeletion.self, value)
      return .webDeletion(deletion.number, try WebHistoryPart(deletion))
    case 20: return .authorizationDenied
    case 21:
      let store = try Wire.parse(PBManagedStore.self, value)
      return .managed(store.name, try ManagedSettings(store))
    case 22:
      return .activity(try PlannedActivity(try Wire.parse(PBPlannedActivity.self, value)))
    case 13:
      return .safety(try Wire.require(value.first.flatMap(CommunicationSafety.init)))
    case 2:
      let position = try Wire.parse(PBAppPosition.self, value)
      return .position(applied: position.applied, consumed: position.consumed)
    case 3: return .consentWithdrawn
    case 4: return .consumedAhead(number(key.dropFirst()))
    case 5:
      let pin = try Wire.parse(PBAppPin.self, value)
      return .pinned(
        AppSecurity(
          family: FamilyID(pin.family), child: PersonID(pin.child),
          organizerKey: [UInt8](pin.organizerKey)))
    case 6:
      let statement = try Wire.parse(PBAppStatement.self, value)
      let kind = UInt8(exactly: statement.place).flatMap(KnownStatement.Kind.init)
      // A statement about the consent has no handle.
      let handle =
        kind == .consent ? Handle("", .custom) : try Handle(statement.handle)
      var changes = Statements<KnownStatement.Change>()
      for change in statement.changes {
        let until = change.hasUntil ? Instant(milliseconds: change.until) : nil
        changes.add(
          KnownStatement.Change(isKnown: change.isKnown, until: until),
          StatementOrder(
            seq: change.seq, known: change.known,
            command: CommandName(DeviceID(change.device), try Wire.id(change.command))))
      }
      return .statement(
        KnownStatement(kind: try Wire.require(kind), handle: handle, changes: changes))
    case 7: return .asked(try Question(try Wire.parse(PBQuestion.self, value)))
    case 8: return .latestTime(try Instant(try Wire.parse(PBLatestTime.self, value)))
    case 10: return .roster(try Wire.require(ChainHash(bytes: [UInt8](key.dropFirst()))))
    default: throw .malformed
    }
  }
}

extension Statements<KnownStatement.Change>.Statement {
  fileprivate var wire: PBAppStatement.Change {
    .with {
      $0.seq = order.seq
      $0.known = order.known
      $0.command = Data(order.command.id.bytes)
      $0.device = order.command.device.rawValue
      $0.isKnown = value.isKnown
      if let until = value.until { $0.until = until.milliseconds }
    }
  }
}
