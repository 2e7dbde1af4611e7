import FamilyModel

/// Checks that the log follows the order in which people act.
///
/// - A command that is issued after another one of its family was acknowledged has a later event.
/// - The texts of a device have the order in which their author wrote them.
public struct TimesFollowed: Checker {
  public let name = "the log follows the order of acts"
  /// Creates the checker.
  public init() {}

  /// The first time at which a command was issued.
  private struct Act {
    /// The newest event of the family of which any device had learned.
    var after: UInt64
    /// The number of the device's restarts. A restarted device numbers its outbox after what it holds.
    var life: Int
    var position: UInt64?
    var index: Int
  }
  private struct Author: Hashable {
    var device: DeviceAddress
    var audience: Audience
  }

  public func check(_ history: History) -> Verdict {
    let log = StoredLog(history)
    guard log.isRead else { return .unknown("the store was not read at the end") }
    var acknowledged: [FamilyID: UInt64] = [:]
    var acts: [IssuedCommand: Act] = [:]
    var lives: [DeviceAddress: Int] = [:]
    var outboxes: [DeviceAddress: [UInt64: IssuedCommand]] = [:]
    var ended: Set<IssuedCommand> = []
    for (index, fact) in history.facts {
      switch fact {
      case .acknowledged(let device, let id, let seq):
        acknowledged[device.family] = max(acknowledged[device.family] ?? 0, seq)
        ended.insert(IssuedCommand(device: device, id: id))
      case .refused(let device, let id, let problem)
      where problem != .idTaken && !problem.isEarlyID:
        ended.insert(IssuedCommand(device: device, id: id))
      case .restored(let device, _, _, _): lives[device, default: 0] += 1
      case .lostState(let device):
        lives[device, default: 0] += 1
        outboxes[device] = nil
      case .issued(let device, let id, let entry):
        let command = IssuedCommand(device: device, id: id)
        guard acts[command] == nil else { continue }
        var life = lives[device] ?? 0
        if let position = entry.position {
          // The command has a new id, if the one at its place in the outbox has not ended.
          if let former = outboxes[device]?[position], !ended.contains(former) {
            life = acts[former]?.life ?? life
          }
          outboxes[device, default: [:]][position] = command
        }
        acts[command] = Act(
          after: acknowledged[device.family] ?? 0, life: life, position: entry.position,
          index: index)
      default: break
      }
    }
    for family in log.families.keys.sorted() {
      if let verdict = violation(of: family, log, acts) { return verdict }
    }
    return .ok
  }

  private func violation(
    of family: FamilyID, _ log: StoredLog, _ acts: [IssuedCommand: Act]
  ) -> Verdict? {
    var last: [Author: Act] = [:]
    for event in log.events(family) {
      let device = DeviceAddress(family: family, device: event.device)
      guard log.isJudged(device), let act = acts[IssuedCommand(device: device, id: event.command)]
      else { continue }
      if event.seq <= act.after {
        return .violated("event \(event.seq) is before one of an earlier act", at: act.index)
      }
      guard case .posted = event.body, let position = act.position else { continue }
      let author = Author(device: device, audience: event.audience)
      if let last = last[author], (last.life, last.position ?? 0) > (act.life, position) {
        return .violated("event \(event.seq) is after a later text of its author", at: act.index)
      }
      last[author] = act
    }
    return nil
  }
}
