import Foundation

/// The newest events of the family's log, as the relay sees them.
struct FamilyLog: Encodable, Equatable, Sendable {
  /// An event without its content, which is sealed.
  struct Row: Encodable, Equatable, Sendable {
    var seq: UInt64
    /// Milliseconds since 1970.
    var at: Int64
    var kind: String?
    var signer: String?
    var device: String?
    var audience: String
    var bytes: Int?
    /// The devices that have applied the event.
    var heldBy: [String]
    /// The devices of the audience.
    var holders: [String]
  }
  /// The rows of one document or page.
  static let rows = 60

  var newest: UInt64
  var events: [Row]
}

/// Makes the log from the traces and the positions of devices.
struct LogReader {
  /// A device and its owner.
  struct Holder: Sendable {
    var key: String
    var person: UInt32
    var name: String
    var isGuardian: Bool
    /// Whether the owner is a child, whose account the guardians' devices share.
    var isChild: Bool
  }

  var index: TraceIndex
  var devices: [Holder]
  /// The position of each device in each of its audiences.
  var positions: [String: [UInt64: UInt64]]

  /// The newest rows before a number.
  func log(before: UInt64 = .max) -> FamilyLog {
    let numbers = index.events.keys.filter { $0 < before }.sorted(by: >).prefix(FamilyLog.rows)
    return FamilyLog(newest: index.events.keys.max() ?? 0, events: numbers.map(row))
  }

  private func row(_ seq: UInt64) -> FamilyLog.Row {
    let event = index.events[seq]!
    let device = event.device.map { "\(index.family)-\($0)" }
    let holders = holders(of: event.audience)
    return FamilyLog.Row(
      seq: seq, at: event.at, kind: event.kind,
      signer: devices.first { $0.key == device }?.name, device: device,
      audience: name(of: event.audience), bytes: event.bytes,
      heldBy: holders.filter { positions[$0]?[event.audience] ?? 0 >= seq }, holders: holders)
  }

  /// The devices of an audience, whose kind is in the upper 32 bits, and whose person in the lower
  /// ones.
  private func holders(of audience: UInt64) -> [String] {
    let person = UInt32(truncatingIfNeeded: audience)
    let isChild = devices.contains { $0.person == person && $0.isChild }
    return devices.filter { device in
      switch audience >> 32 {
      case 1: device.isGuardian || device.person == person
      case 2: device.person == person || isChild && device.isGuardian
      default: true
      }
    }.map(\.key)
  }

  private func name(of audience: UInt64) -> String {
    let number = UInt32(truncatingIfNeeded: audience)
    let person = devices.first { $0.person == number }?.name ?? "\(number)"
    return switch audience >> 32 {
    case 1: "conversation · \(person)"
    case 2: "account · \(person)"
    default: "family"
    }
  }
}
