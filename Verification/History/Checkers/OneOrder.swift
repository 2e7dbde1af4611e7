import FamilyModel

/// Every device sees every audience alike: what it applied is a beginning of the log's chain, in order and
/// without a gap, now and after every restart (M3, M5).
public struct OneOrder: Checker {
  public let name = "one order for everybody"
  /// A checker.
  public init() {}

  public func check(_ history: History) -> Verdict {
    let log = StoredLog(history)
    guard log.isRead else { return .unknown("the store was not read at the end") }
    var chains: [FamilyID: [Audience: [UInt64]]] = [:]
    for family in log.families.keys.sorted() { chains[family] = log.chains(family) }
    var counts: [DeviceAddress: [Audience: Int]] = [:]
    for (index, fact) in history.facts {
      switch fact {
      case .forgot(let device): counts[device] = [:]
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
          log.event(device.family, seq)?.command == command
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
