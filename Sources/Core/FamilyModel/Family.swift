/// What a person is in the family (F1).
public enum Role: UInt8, Sendable {
  /// The guardian who made the family.
  case organizer = 1
  /// A guardian.
  case guardian = 2
  /// A child.
  case child = 3
  /// Another adult.
  case adult = 4

  /// Whether the person answers questions.
  public var isGuardian: Bool { self == .organizer || self == .guardian }
}

/// A member of a family.
public struct Person: Hashable, Sendable {
  /// Unique in the family, not zero.
  public var id: PersonID
  /// What the person is.
  public var role: Role
  /// What others in the family see.
  public var displayName: String
  /// A member with these parts.
  public init(id: PersonID, role: Role, displayName: String) {
    self.id = id
    self.role = role
    self.displayName = displayName
  }
}

/// A member of a family without the name: what the relay looks at, and a copy of it counts no references.
package struct Member: Hashable, Sendable {
  /// As in ``Person``.
  package var id: PersonID
  /// What the person is.
  package var role: Role

  package init(id: PersonID, role: Role) {
    self.id = id
    self.role = role
  }

  /// The person, without the name.
  package init(_ person: Person) { self.init(id: person.id, role: person.role) }
}

/// A person's device and its public keys (F3).
public struct Device: Hashable, Sendable {
  /// Unique in the family, not zero.
  public var id: DeviceID
  /// Whose it is.
  public var person: PersonID
  /// The CURVE public key, 32 bytes: what the relay knows the device by.
  public var publicKey: [UInt8]
  /// The Ed25519 public key, 32 bytes: what the family knows the device's decisions by. A device without
  /// one decides nothing.
  public var signingKey: [UInt8]
  /// The X25519 public key, 32 bytes: what is sealed for the device is sealed under it. A device without
  /// one reads nothing that is sealed.
  public var agreementKey: [UInt8]
  /// A device with these parts.
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

  /// Whether its keys are there in full, or, but for the CURVE key, not at all.
  public var isWellFormed: Bool {
    publicKey.count == 32 && [0, 32].contains(signingKey.count)
      && [0, 32].contains(agreementKey.count)
  }
}

/// Who is in a family, with which devices (F1, F3).
public struct Roster: Hashable, Sendable {
  /// The members, ascending by id.
  public var persons: [Person]
  /// Their devices, ascending by id.
  public var devices: [Device]
  /// A family of these people and devices.
  public init(persons: [Person] = [], devices: [Device] = []) {
    self.persons = persons.ascending { $0.id < $1.id }
    self.devices = devices.ascending { $0.id < $1.id }
  }

  /// A family of these people and devices, which are ascending by id.
  package init(ascending persons: [Person], _ devices: [Device]) {
    self.persons = persons
    self.devices = devices
  }

  /// The member with this id.
  public func person(_ id: PersonID) -> Person? {
    // By index, here and below: what is only looked at is not copied.
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
  /// Whose device it is; with a key, if it is the one with this key.
  package func member(of id: DeviceID, key: [UInt8]? = nil) -> Member? {
    guard let index = index(of: id) else { return nil }
    if let key, !key.withUnsafeBytes({ devices[index].publicKey.isSame(as: $0) }) { return nil }
    return member(devices[index].person)
  }
  /// The member with this id.
  package func member(_ id: PersonID) -> Member? {
    role(of: id).map { Member(id: id, role: $0) }
  }
  /// What the member with this id is.
  public func role(of id: PersonID) -> Role? {
    for index in persons.indices where persons[index].id == id { return persons[index].role }
    return nil
  }
  /// Whether the device has a key to sign with.
  package func signs(_ id: DeviceID) -> Bool {
    index(of: id).map { !devices[$0].signingKey.isEmpty } ?? false
  }
  /// The owner of the device.
  public func owner(of id: DeviceID) -> Person? {
    index(of: id).flatMap { person(devices[$0].person) }
  }
  /// The children, ascending by id.
  public var children: [Person] { persons.filter { $0.role == .child } }
  /// The guardians, ascending by id.
  public var guardians: [Person] { persons.filter(\.role.isGuardian) }

  /// Refuses a family that is not well formed: exactly one organizer, unique ids, devices of members.
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
  /// Sorted, and itself where it is: many rosters are held, and a sorted copy has room for more.
  fileprivate func ascending(by isLess: (Element, Element) -> Bool) -> [Element] {
    let isSorted = zip(self, dropFirst()).allSatisfy { !isLess($1, $0) }
    return isSorted ? self : sorted(by: isLess)
  }
}

/// The part of a person's account that only the person and, of a child, the guardians see (F2).
public struct Account: Hashable, Sendable {
  /// How the birthdate came to be known.
  public enum Declaration: UInt8, Sendable, CaseIterable {
    /// By the person.
    case selfDeclared = 1
    /// By a guardian.
    case guardianDeclared = 2
    /// By the person, and checked in another way than those below.
    case checkedByOtherMethod = 3
    /// By a guardian, and the guardian's account is checked in another way than those below.
    case guardianCheckedByOtherMethod = 4
    /// By the person, checked by an identity document.
    case governmentIDChecked = 5
    /// By a guardian whose account is checked by an identity document.
    case guardianGovernmentIDChecked = 6
    /// By the person, checked by a means of payment.
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
    /// The day with these parts.
    public init(year: Int32, month: UInt8, day: UInt8) {
      self.year = year
      self.month = month
      self.day = day
    }
  }
  /// The day of birth, where it is known.
  public var birthdate: Day?
  /// ISO 3166-1 alpha-2 or ISO 3166-2, for example `FR` or `US-TX`.
  public var region: String
  /// How the birthdate was declared.
  public var declaration: Declaration
  /// Where the person's days begin, for example `Europe/Paris`; empty: where the device is.
  public var timeZone: String
  /// An account with these parts.
  public init(birthdate: Day?, region: String, declaration: Declaration, timeZone: String = "") {
    self.birthdate = birthdate
    self.region = region
    self.declaration = declaration
    self.timeZone = timeZone
  }
}
