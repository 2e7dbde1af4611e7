import FamilyModel

/// Checks the statements that devices have verified at the end: their author's device made each of
/// them, and no device counts a statement twice.
public struct NothingForged: Checker {
  public let name = "no statement forged or repeated"
  /// Creates the checker.
  public init() {}

  public func check(_ history: History) -> Verdict {
    var made: [FamilyID: Set<CommandName>] = [:]
    for (index, fact) in history.facts {
      switch fact {
      case .issued(let device, let command, _), .signs(let device, let command):
        made[device.family, default: []].insert(CommandName(device.device, command))
      case .holds(let device, let names):
        var seen: Set<CommandName> = []
        let title = "device \(device.device.rawValue) of family \(device.family.rawValue)"
        for name in names {
          guard made[device.family]?.contains(name) ?? false else {
            return .violated(
              "\(title) has a statement that device \(name.device.rawValue) never made", at: index)
          }
          guard seen.insert(name).inserted else {
            return .violated("\(title) counts a statement twice", at: index)
          }
        }
      default: break
      }
    }
    return .ok
  }
}
