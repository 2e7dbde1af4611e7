import FamilyModel

/// Checks the rosters that devices verified.
///
/// - Each device in a roster is one of the family's own.
/// - No device that left a roster is in a later roster of the same observer.
///
/// A device whose disk is lost reads its rosters from the first one again.
public struct NobodyReturns: Checker {
  public let name = "nobody returns, and no stranger enters"
  /// Creates the checker.
  public init() {}

  public func check(_ history: History) -> Verdict {
    var keys: [DeviceAddress: [UInt8]] = [:]
    var held: [DeviceAddress: Set<[UInt8]>] = [:]
    var left: [DeviceAddress: Set<[UInt8]>] = [:]
    for (index, fact) in history.facts {
      switch fact {
      case .belongs(let device, _, let key): keys[device] = key
      case .lostState(let device):
        held[device] = nil
        left[device] = nil
      case .holdsRoster(let observer, let devices):
        let name = "device \(observer.device.rawValue) of family \(observer.family.rawValue)"
        for device in devices {
          let address = DeviceAddress(family: observer.family, device: device.id)
          guard keys[address] == device.signingKey else {
            return .violated("\(name) trusts a stranger", at: index)
          }
          if left[observer]?.contains(device.signingKey) ?? false {
            return .violated("\(name) trusts a removed device", at: index)
          }
        }
        let present = Set(devices.map(\.signingKey))
        left[observer, default: []].formUnion((held[observer] ?? []).subtracting(present))
        held[observer] = present
      default: break
      }
    }
    return .ok
  }
}
