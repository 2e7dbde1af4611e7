public import FamilyModel

/// Who may see what. The one place that says so.
extension Roster {
  /// Whether the person, a member, may see the audience's events.
  package func isMember(_ person: Person, of audience: Audience) -> Bool {
    isMember(person.id, person.role, of: audience)
  }

  func isMember(_ person: PersonID, _ role: Role, of audience: Audience) -> Bool {
    if audience == .family { return true }
    if let child = audience.conversationChild {
      return self.role(of: child) == .child && (person == child || role.isGuardian)
    }
    guard let owner = audience.accountPerson, let owners = self.role(of: owner) else {
      return false
    }
    return person == owner || owners == .child && role.isGuardian
  }

  /// The audiences of the person, ascending.
  public func audiences(of person: Person) -> [Audience] {
    var audiences = [Audience.family]
    for child in persons where child.role == .child {
      if person.id == child.id || person.role.isGuardian {
        audiences.append(.conversation(child.id))
      }
    }
    for owner in persons
    where owner.id == person.id || owner.role == .child && person.role.isGuardian {
      audiences.append(.account(owner.id))
    }
    return audiences
  }
}

extension FamilyState {
  func isMember(_ person: Person, of audience: Audience) -> Bool {
    roster.isMember(person, of: audience)
  }

  func audiences(of person: Person) -> [Audience] { roster.audiences(of: person) }
}
