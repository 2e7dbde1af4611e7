import FamilyModel
import History
import SystemClock

/// Records the facts of a host's families for the checkers.
///
/// Every n-th family gets a complete history, because an approval takes about 5 KB. The
/// acknowledgements of all families are recorded.
struct HistoryRecorder: Sendable {
  /// An acknowledgement: the command became event `seq`.
  struct Acknowledgement: Sendable {
    var device: DeviceAddress
    var command: CommandID
    var seq: UInt64
  }
  /// The maximum number of acknowledgements of one host, 40 bytes each. Further ones are counted
  /// and reported.
  static let maximum = 8_000_000
  /// The approximate number of facts that all workers together record.
  static let facts = 2_000_000.0
  /// The approximate number of facts of an approval with two guardians.
  static let factsPerApproval = 25.0
  /// The approximate number of facts of a family's set-up.
  static let factsPerFamily = 6.0

  /// Families whose number this divides get a complete history; 0 for none.
  let every: UInt64
  private(set) var histories: [FamilyID: History] = [:]
  private(set) var acknowledgements: [Acknowledgement] = []
  private(set) var droppedAcknowledgements = 0
  /// Responses that apps have handled but not yet acknowledged to their devices.
  var handled: [FamilyID: [QuestionID]] = [:]

  init(every: UInt64) { self.every = every }

  func isWhole(_ family: FamilyID) -> Bool { every > 0 && family.rawValue % every == 0 }

  mutating func record(_ fact: @autoclosure () -> Fact, _ family: FamilyID) {
    guard isWhole(family) else { return }
    histories[family, default: History()].record(fact(), at: .now)
  }

  mutating func acknowledged(_ command: CommandID, seq: UInt64, _ device: DeviceAddress) {
    guard !isWhole(device.family) else {
      return record(.acknowledged(device, command, seq: seq), device.family)
    }
    guard acknowledgements.count < Self.maximum else { return droppedAcknowledgements += 1 }
    acknowledgements.append(Acknowledgement(device: device, command: command, seq: seq))
  }
}
