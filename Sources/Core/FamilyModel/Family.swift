/// A person's role in the family.
public enum Role: UInt8, Sendable {
  /// The guardian whose key signed the first roster.
  case organizer = 1
  /// A person who may answer questions, manage children and change the roster.
  case guardian = 2
  /// A person whose contacts and apps guardians approve.
  case child = 3
  /// A member who is neither a child nor a guardian.
  case adult = 4

  /// Whether the role may answer questions: organizer or guardian.
  public var isGuardian: Bool { self == .organizer || self == .guardian }
}

/// A member of a family.
public struct Person: Hashable, Sendable {
  /// Unique in the family; not zero.
  public var id: PersonID
  /// The person's role.
  public var role: Role
  /// The name that the family's members see, up to `Limits.titleBytes` bytes of UTF-8.
  public var displayName: String
  /// Creates a member.
  public init(id: PersonID, role: Role, displayName: String) {
    self.id = id
    self.role = role
    self.displayName = displayName
  }
}

/// A person without the name. The relay uses this type in checks because a copy counts no
/// references.
package struct Member: Hashable, Sendable {
  /// As in ``Person``.
  package var id: PersonID
  /// The person's role.
  package var role: Role

  package init(id: PersonID, role: Role) {
    self.id = id
    self.role = role
  }

  /// Copies the person without the name.
  package init(_ person: Person) { self.init(id: person.id, role: person.role) }
}

/// A person's device and its public keys.
public struct Device: Hashable, Sendable {
  /// Unique in the family; not zero.
  public var id: DeviceID
  /// The device's owner.
  public var person: PersonID
  /// The CURVE public key, 32 bytes. The relay identifies the device by it.
  public var publicKey: [UInt8]
  /// The Ed25519 public key, 32 bytes, that verifies the device's commands. A device without one
  /// cannot decide.
  public var signingKey: [UInt8]
  /// The X25519 public key, 32 bytes, that content keys are sealed for. A device without one cannot
  /// open content.
  public var agreementKey: [UInt8]
  /// Creates a device; without signing and agreement keys only for tests of the machines.
  public init(
    id: DeviceID, person: PersonID, publicKey: [UInt8], signingKey: [UInt8] = [],
    agreementKey: [UInt8] = []
  ) {
    self.id = id
    self.person = person
    self.publicKey = publicKey
    self.signingKey = signingKey
    self.agreementKey = agreementKey
  }

  /// Whether every key has 32 bytes. The signing key and the agreement key may also be empty.
  public var isWellFormed: Bool {
    publicKey.count == 32 && [0, 32].contains(signingKey.count)
      && [0, 32].contains(agreementKey.count)
  }
}

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

  /// Checks that the roster is well formed: exactly one organizer, unique ids, and an owner for
  /// each device.
  ///
  /// - Throws: `tooMany`, `badFamily` or `badText`.
  public func validate() throws(Problem) {
    guard persons.count <= Limits.persons, devices.count <= Limits.devices else { throw .tooMany }
    guard persons.count(where: { $0.role == .organizer }) == 1,
      Set(persons.map(\.id)).count == persons.count,
      Set(devices.map(\.id)).count == devices.count,
      persons.allSatisfy({ $0.id.rawValue != 0 }),
      devices.allSatisfy({
        $0.id.rawValue != 0 && person($0.person) != nil && $0.isWellFormed
      })
    else { throw .badFamily }
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

/// The part of a person's account that only the person and, for a child, the guardians may read.
public struct Account: Hashable, Sendable {
  /// The method by which the birthdate was declared.
  public enum Declaration: UInt8, Sendable, CaseIterable {
    /// By the person.
    case selfDeclared = 1
    /// By a guardian.
    case guardianDeclared = 2
    /// By the person, and checked by a method that is not listed below.
    case checkedByOtherMethod = 3
    /// By a guardian whose account is checked by a method that is not listed below.
    case guardianCheckedByOtherMethod = 4
    /// By the person, and checked by an identity document.
    case governmentIDChecked = 5
    /// By a guardian whose account is checked by an identity document.
    case guardianGovernmentIDChecked = 6
    /// By the person, and checked by a means of payment.
    case paymentChecked = 7
    /// By a guardian whose account is checked by a means of payment.
    case guardianPaymentChecked = 8
  }
  /// A calendar day.
  public struct Day: Hashable, Sendable {
    /// For example 2014.
    public var year: Int32
    /// 1 to 12.
    public var month: UInt8
    /// 1 to 31.
    public var day: UInt8
    /// Creates a day; the values are not checked.
    public init(year: Int32, month: UInt8, day: UInt8) {
      self.year = year
      self.month = month
      self.day = day
    }
  }
  /// The day of birth; `nil` if unknown.
  public var birthdate: Day?
  /// ISO 3166-1 alpha-2 or ISO 3166-2, for example `FR` or `US-TX`.
  public var region: String
  /// The method by which the birthdate was declared.
  public var declaration: Declaration
  /// The time zone in which the person's days begin, for example `Europe/Paris`; empty: the
  /// device's.
  public var timeZone: String
  /// Creates an account.
  public init(birthdate: Day?, region: String, declaration: Declaration, timeZone: String = "") {
    self.birthdate = birthdate
    self.region = region
    self.declaration = declaration
    self.timeZone = timeZone
  }
}
