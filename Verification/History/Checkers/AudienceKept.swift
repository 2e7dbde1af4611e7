import FamilyCore
import FamilyModel

/// Checks that no event reaches a device outside its audience.
///
/// A device may receive an event if any roster from the event on, or the one before it, puts the
/// device in the audience. New members read earlier events; former members keep the events up to
/// their removal. A device is known by its key: a guardian may add the key as another device.
public struct AudienceKept: Checker {
  public let name = "no event outside its audience"
  /// Creates the checker.
  public init() {}

  private struct Name: Hashable {
    var device: DeviceAddress
    var audience: Audience
  }

  public func check(_ history: History) -> Verdict {
    let log = StoredLog(history)
    guard log.isRead else { return .unknown("the store was not read at the end") }
    var rosters: [FamilyID: [(seq: UInt64, roster: Roster)]] = [:]
    for family in log.families.keys.sorted() { rosters[family] = log.rosters(family) }
    // The last event that each device may read in each audience.
    var ends: [Name: UInt64] = [:]
    for (index, fact) in history.facts {
      guard case .received(let device, let audience, let seq) = fact else { continue }
      let name = Name(device: device, audience: audience)
      let end = ends[name] ?? Self.end(of: device, audience, rosters[device.family] ?? [])
      ends[name] = end
      if seq > end {
        return .violated("device \(device.device.rawValue) received event \(seq)", at: index)
      }
    }
    return .ok
  }

  /// The last event of the audience that the device may read; 0 for none.
  static func end(
    of device: DeviceAddress, _ audience: Audience, _ rosters: [(seq: UInt64, roster: Roster)]
  ) -> UInt64 {
    let keys = Set(rosters.compactMap { $0.roster.device(device.device)?.publicKey })
    var end: UInt64 = 0
    for (index, (_, roster)) in rosters.enumerated() {
      let owners = roster.devices.filter { keys.contains($0.publicKey) }.compactMap {
        roster.owner(of: $0.id)
      }
      guard owners.contains(where: { roster.isMember($0, of: audience) }) else { continue }
      // A removed device still reads the roster that removes it.
      end = index + 1 < rosters.count ? rosters[index + 1].seq : .max
    }
    return end
  }
}
