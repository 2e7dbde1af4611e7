import FamilyModel

/// Numbers of new persons and devices. Numbers are never reused, so events of a former member keep
/// their author.
///
/// Numbers ascend. A guardian's device with modified software can use up the largest one. From then on
/// the smallest unused number is next, so that the family can still add members.
extension FamilyProjection {
  /// A number that no person of the family ever had.
  ///
  /// - Parameters:
  ///   - roster: A roster whose numbers count as used, too.
  ///   - number: The number to return if it is above all others.
  func unusedPerson(besides roster: Roster, preferring number: PersonID = PersonID(0)) -> PersonID {
    let used = formerPersons.union(roster.persons.map(\.id.rawValue))
    return PersonID(Self.unused(used, number.rawValue))
  }

  /// A number that no device of the family ever had.
  ///
  /// - Parameters:
  ///   - roster: A roster whose numbers count as used, too.
  ///   - number: The number to return if it is above all others.
  func unusedDevice(besides roster: Roster, preferring number: DeviceID = DeviceID(0)) -> DeviceID {
    let used = Set(owners.keys.map(\.rawValue)).union(roster.devices.map(\.id.rawValue))
    return DeviceID(Self.unused(used, number.rawValue))
  }

  private static func unused(_ used: Set<UInt32>, _ preferred: UInt32) -> UInt32 {
    let last = used.max() ?? 0
    if preferred > last { return preferred }
    guard last >= Limits.largestNumber else { return last + 1 }
    var number: UInt32 = 1
    while used.contains(number) { number += 1 }
    return number
  }
}
