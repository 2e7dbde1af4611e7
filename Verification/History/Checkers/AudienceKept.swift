import FamilyCore
import FamilyModel

/// No event reaches a device whose person may not see it.
///
/// A device may have an event if it was in the audience just before the event, with it, or under any roster
/// after it: who joins sees what came before. (What it kept when it left, it keeps.)
public struct AudienceKept: Checker {
  public let name = "no event outside its audience"
  /// A checker.
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
    // The last roster's end of each device in each audience: up to there it may see all.
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

  /// The last event that the device may see of the audience; zero: none.
  static func end(
    of device: DeviceAddress, _ audience: Audience, _ rosters: [(seq: UInt64, roster: Roster)]
  ) -> UInt64 {
    var end: UInt64 = 0
    for (index, (_, roster)) in rosters.enumerated() {
      guard let person = roster.owner(of: device.device), roster.isMember(person, of: audience)
      else { continue }
      // Who leaves with a roster hears of that roster.
      end = index + 1 < rosters.count ? rosters[index + 1].seq : .max
    }
    return end
  }
}
