public import FamilyModel

/// Rosters that a guardian proposes. Numbers of persons and devices are never reused, so events of
/// a former member keep their author.
extension DeviceLink {
  /// The roster with one more person.
  public func roster(adding name: String, as role: Role) -> Roster {
    family.roster(adding: name, as: role)
  }

  /// The roster with the device of a join request, owned by `person`.
  public func roster(adding join: JoinRequest, of person: PersonID) -> Roster {
    family.roster(adding: join, of: person)
  }

  /// The roster without the device. The relay shuts the device out when it commits this roster.
  public func roster(removing device: DeviceID) -> Roster {
    var roster = roster
    roster.devices.removeAll { $0.id == device }
    return roster
  }

  /// The roster without the person and the person's devices.
  public func roster(removing person: PersonID) -> Roster {
    var roster = roster
    roster.persons.removeAll { $0.id == person }
    roster.devices.removeAll { $0.person == person }
    return roster
  }
}
