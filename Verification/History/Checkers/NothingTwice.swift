import FamilyModel

/// No command is applied twice: one event each in the log, and each event once on every device (X2).
///
/// A device whose disk forgot an event applies it again; it starts from what its disk holds.
public struct NothingTwice: Checker {
  public let name = "nothing is applied twice"
  /// A checker.
  public init() {}

  public func check(_ history: History) -> Verdict {
    var held: [DeviceAddress: [Audience: Set<UInt64>]] = [:]
    var commands: [FamilyID: [CommandID: UInt64]] = [:]
    for (index, fact) in history.facts {
      switch fact {
      case .forgot(let device): held[device] = [:]
      case .restored(let device, let audience, let seqs, _):
        held[device, default: [:]][audience] = Set(seqs)
      case .applied(let device, let audience, let seq, _):
        if !held[device, default: [:]][audience, default: []].insert(seq).inserted {
          return .violated(
            "device \(device.device.rawValue) applied event \(seq) once more", at: index)
        }
      case .stored(let family, let event):
        if let other = commands[family, default: [:]].updateValue(event.seq, forKey: event.command)
        {
          return .violated("events \(other) and \(event.seq) are of one command", at: index)
        }
      default: break
      }
    }
    return .ok
  }
}
