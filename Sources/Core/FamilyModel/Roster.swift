/// A family's persons and devices.
public struct Roster: Hashable, Sendable {
  /// The members, ascending by id.
  public var persons: [Person]
  /// The devices, ascending by id.
  public var devices: [Device]
  /// Creates a roster and sorts its members and devices by id.
  public init(persons: [Person] = [], devices: [Device] = []) {
    self.persons = persons.ascending { $0.id < $1.id }
    self.devices = devices.ascending { $0.id < $1.id }
  }

  /// Creates a roster.
  ///
  /// Precondition: both arrays ascend by id.
  package init(ascending persons: [Person], _ devices: [Device]) {
    self.persons = persons
    self.devices = devices
  }

  /// The member with this id.
  public func person(_ id: PersonID) -> Person? {
    // Access by index, here and below, avoids a copy of each element.
    for index in persons.indices where persons[index].id == id { return persons[index] }
    return nil
  }
  @inline(__always)
  private func index(of id: DeviceID) -> Int? {
    for index in devices.indices where devices[index].id == id { return index }
    return nil
  }
  /// The device with this id.
  public func device(_ id: DeviceID) -> Device? {
    index(of: id).map { devices[$0] }
  }
  /// The device's owner. With `key`, only if the device has this CURVE key.
  package func member(of id: DeviceID, key: [UInt8]? = nil) -> Member? {
    guard let index = index(of: id) else { return nil }
    if let key, !key.withUnsafeBytes({ devices[index].publicKey.isSame(as: $0) }) { return nil }
    return member(devices[index].person)
  }
  /// The member with this id.
  package func member(_ id: PersonID) -> Member? {
    role(of: id).map { Member(id: id, role: $0) }
  }
  /// The role of the member with this id.
  public func role(of id: PersonID) -> Role? {
    for index in persons.indices where persons[index].id == id { return persons[index].role }
    return nil
  }
  /// Whether the device has a signing key.
  package func signs(_ id: DeviceID) -> Bool {
    index(of: id).map { !devices[$0].signingKey.isEmpty } ?? false
  }
  /// The device's owner.
  public func owner(of id: DeviceID) -> Person? {
    index(of: id).flatMap { person(devices[$0].person) }
  }
  /// The children, ascending by id.
  public var children: [Person] { persons.filter { $0.role == .child } }
  /// The guardians, ascending by id.
  public var guardians: [Person] { persons.filter(\.role.isGuardian) }

  /// Checks that the roster is well formed: exactly one organizer, unique ids within their
  /// bounds, and an owner for each device.
  ///
  /// - Throws: `tooMany`, `badFamily`, `weakKey` or `badText`.
  public func validate() throws(Problem) {
    guard persons.count <= Limits.persons, devices.count <= Limits.devices else { throw .tooMany }
    guard persons.count(where: { $0.role == .organizer }) == 1,
      Set(persons.map(\.id)).count == persons.count,
      Set(devices.map(\.id)).count == devices.count,
      persons.allSatisfy({ 1...Limits.largestNumber ~= $0.id.rawValue }),
      devices.allSatisfy({
        1...Limits.largestNumber ~= $0.id.rawValue && person($0.person) != nil && $0.isWellFormed
      })
    else { throw .badFamily }
    guard !devices.contains(where: \.hasWeakKey) else { throw .weakKey }
    for person in persons { try checkText(person.displayName, Limits.titleBytes) }
  }
}

extension Array {
  /// The elements in order. A sorted array is returned as it is: relays hold many rosters, and a
  /// sorted copy reserves spare capacity.
  fileprivate func ascending(by isLess: (Element, Element) -> Bool) -> [Element] {
    let isSorted = zip(self, dropFirst()).allSatisfy { !isLess($1, $0) }
    return isSorted ? self : sorted(by: isLess)
  }
}
