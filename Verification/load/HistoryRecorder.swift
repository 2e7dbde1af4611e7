import FamilyModel
import History
import SystemClock

/// What a worker writes down for the checkers.
///
/// Whole histories are kept of every n-th family, since they take some 5 KB an approval. What the relay
/// acknowledged is kept of all.
struct HistoryRecorder: Sendable {
  /// An acknowledgement: this command is that event.
  struct Acknowledgement: Sendable {
    var device: DeviceAddress
    var command: CommandID
    var seq: UInt64
  }
  /// Acknowledgements that one host keeps, 40 bytes each. Of later ones the number is kept, and told.
  static let maximum = 8_000_000
  /// Facts that all workers together keep, about.
  static let facts = 2_000_000.0
  /// Facts of an approval with two guardians, and of a family that was only set up; about.
  static let factsPerApproval = 25.0
  static let factsPerFamily = 6.0

  /// Whole histories are kept of the families whose number this divides; zero: of none.
  let every: UInt64
  private(set) var histories: [FamilyID: History] = [:]
  private(set) var acknowledgements: [Acknowledgement] = []
  private(set) var notKept = 0
  /// Responses that apps have handled and not yet told their devices of.
  var handled: [FamilyID: [QuestionID]] = [:]

  init(every: UInt64) { self.every = every }

  func isWhole(_ family: FamilyID) -> Bool { every > 0 && family.rawValue % every == 0 }

  mutating func note(_ fact: @autoclosure () -> Fact, _ family: FamilyID) {
    guard isWhole(family) else { return }
    histories[family, default: History()].note(fact(), at: .now)
  }

  mutating func acknowledged(_ command: CommandID, seq: UInt64, _ device: DeviceAddress) {
    guard !isWhole(device.family) else {
      return note(.acknowledged(device, command, seq: seq), device.family)
    }
    guard acknowledgements.count < Self.maximum else { return notKept += 1 }
    acknowledgements.append(Acknowledgement(device: device, command: command, seq: seq))
  }
}
