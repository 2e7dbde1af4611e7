public import FamilyModel

/// The membership of audiences. All other code asks these functions.
extension Roster {
  /// Whether the person, a member, may read the audience's events.
  package func isMember(_ person: Person, of audience: Audience) -> Bool {
    isMember(Member(person), of: audience)
  }

  func isMember(_ member: Member, of audience: Audience) -> Bool {
    if audience == .family { return true }
    if let child = audience.conversationChild {
      return role(of: child) == .child && (member.id == child || member.role.isGuardian)
    }
    guard let owner = audience.accountPerson, let owners = role(of: owner) else {
      return false
    }
    return member.id == owner || owners == .child && member.role.isGuardian
  }

  /// The audiences that the person may read, ascending.
  public func audiences(of person: Person) -> [Audience] { audiences(of: Member(person)) }

  /// The audiences that a device leaves with the next roster. Each then starts an epoch: its later
  /// contents are closed to the device.
  func audiencesLeft(with next: Roster) -> Set<Audience> {
    var left: Set<Audience> = []
    for device in devices {
      let before = person(device.person).map { audiences(of: $0) } ?? []
      // A device with a new key is a new reader: the holder of the old key has left.
      let after = next.device(device.id) == device ? next.person(device.person) : nil
      left.formUnion(Set(before).subtracting(after.map { next.audiences(of: $0) } ?? []))
    }
    return left
  }

  /// Passes the CURVE key of each device that may read the audience to `body`.
  func forEachReader(of audience: Audience, _ body: ([UInt8]) -> Void) {
    // Access by index avoids a copy of each device.
    for index in devices.indices {
      guard let owner = member(devices[index].person), isMember(owner, of: audience) else {
        continue
      }
      body(devices[index].publicKey)
    }
  }

  func audiences(of person: Member) -> [Audience] {
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
