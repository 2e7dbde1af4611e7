import FamilyModel

/// Checks that a dishonest member achieves no more than its rights permit.
///
/// - No honest device counts a command that the member forged.
/// - The relay stores no command of the future, and evaluates no more guesses than its limit.
/// - No honest device seals for a former reader, and no honest device pays for the member's floods.
public struct DishonestyContained: Checker {
  public let name = "nothing dishonest counts"
  /// Creates the checker.
  public init() {}

  public func check(_ history: History) -> Verdict {
    let log = StoredLog(history)
    guard log.isRead else { return .unknown("the store was not read at the end") }
    for (index, fact) in history.facts {
      switch fact {
      case .breach(let what): return .violated(what, at: index)
      case .verified(let device, _, let seqs):
        for seq in seqs {
          guard let event = log.event(device.family, seq), log.isForged(event, in: device.family)
          else { continue }
          return .violated(
            "device \(device.device.rawValue) counts the forged event \(seq)", at: index)
        }
      default: break
      }
    }
    return .ok
  }
}
