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
  var index: TraceIndex
  /// The owners' names by device.
  var owners: [String: String]
  /// The names of people by their numbers.
  var people: [UInt32: String]
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
    let holders = positions.keys.filter { positions[$0]![event.audience] != nil }.sorted()
    return FamilyLog.Row(
      seq: seq, at: event.at, kind: event.kind, signer: device.flatMap { owners[$0] },
      device: device, audience: name(of: event.audience), bytes: event.bytes,
      heldBy: holders.filter { positions[$0]![event.audience]! >= seq }, holders: holders)
  }

  /// The audience's kind in the upper 32 bits, and its person in the lower ones.
  private func name(of audience: UInt64) -> String {
    let number = UInt32(truncatingIfNeeded: audience)
    let person = people[number] ?? "\(number)"
    return switch audience >> 32 {
    case 1: "conversation · \(person)"
    case 2: "account · \(person)"
    default: "family"
    }
  }
}
