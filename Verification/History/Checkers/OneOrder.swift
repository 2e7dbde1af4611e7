import FamilyModel

/// Checks that every device applies each audience's events in the order of the log and without a
/// gap, also after a restart.
public struct OneOrder: Checker {
  public let name = "one order for everybody"
  /// Creates the checker.
  public init() {}

  public func check(_ history: History) -> Verdict {
    let log = StoredLog(history)
    guard log.isRead else { return .unknown("the store was not read at the end") }
    var chains: [FamilyID: [Audience: [UInt64]]] = [:]
    for family in log.families.keys.sorted() { chains[family] = log.chains(family) }
    var counts: [DeviceAddress: [Audience: Int]] = [:]
    for (index, fact) in history.facts {
      switch fact {
      case .lostState(let device): counts[device] = [:]
      case .restored(let device, let audience, let seqs, let cursor):
        let chain = chains[device.family]?[audience] ?? []
        guard Array(chain.prefix(seqs.count)) == seqs, seqs.last ?? 0 == cursor else {
          return .violated(
            "device \(device.device.rawValue) starts with a gap before event \(cursor)", at: index)
        }
        counts[device, default: [:]][audience] = seqs.count
      case .applied(let device, let audience, let seq, let command):
        let chain = chains[device.family]?[audience] ?? []
        let count = counts[device, default: [:]][audience, default: 0]
        guard count < chain.count, chain[count] == seq,
          command == nil || log.event(device.family, seq)?.command == command
        else {
          return .violated(
            "device \(device.device.rawValue) applied event \(seq) out of order", at: index)
        }
        counts[device, default: [:]][audience] = count + 1
      default: break
      }
    }
    return .ok
  }
}
