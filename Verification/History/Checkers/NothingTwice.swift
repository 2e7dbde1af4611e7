import FamilyModel

/// Checks that no command is applied twice: it has one event in the log, and a device applies an
/// event once.
///
/// A device that lost state applies events again from its restored cursor.
public struct NothingTwice: Checker {
  public let name = "nothing is applied twice"
  /// Creates the checker.
  public init() {}

  public func check(_ history: History) -> Verdict {
    var held: [DeviceAddress: [Audience: Set<UInt64>]] = [:]
    var commands: [FamilyID: [CommandName: UInt64]] = [:]
    for (index, fact) in history.facts {
      switch fact {
      case .lostState(let device): held[device] = [:]
      case .restored(let device, let audience, let seqs, _):
        held[device, default: [:]][audience] = Set(seqs)
      case .applied(let device, let audience, let seq, _):
        if !held[device, default: [:]][audience, default: []].insert(seq).inserted {
          return .violated(
            "device \(device.device.rawValue) applied event \(seq) again", at: index)
        }
      case .stored(let family, let event):
        let name = CommandName(event.device, event.command)
        if let other = commands[family, default: [:]].updateValue(event.seq, forKey: name) {
          return .violated("events \(other) and \(event.seq) have the same command id", at: index)
        }
      default: break
      }
    }
    return .ok
  }
}
