package import FamilyModel

/// The rules for roster changes and decisions. The relay and every device apply the same rules.
extension Roster {
  /// Whether the organizer has a signing key. Families without keys exist only in tests of the
  /// machines; devices with a vault reject them.
  package var isSigned: Bool {
    devices.contains { owner(of: $0.id)?.role == .organizer && !$0.signingKey.isEmpty }
  }

  /// The key that must have signed the next roster; `nil` if this device may not sign it.
  ///
  /// Every guardian's device may sign. Only the organizer's devices may change the organizer or the
  /// organizer's devices.
  package func key(forNext next: Roster, by signer: DeviceID) -> [UInt8]? {
    guard (try? checkSuccessor(next)) != nil, let device = device(signer),
      let owner = person(device.person), owner.role.isGuardian,
      !device.signingKey.isEmpty
    else { return nil }
    if owner.role == .organizer { return device.signingKey }
    return next.organizer == organizer ? device.signingKey : nil
  }

  /// Checks that the organizer of a family with keys keeps a device with a key. Otherwise the next
  /// roster would need no signature, and no later roster could repair the family.
  ///
  /// - Throws: `lastOrganizerDevice`.
  package func checkSuccessor(_ next: Roster) throws(Problem) {
    if isSigned, !next.isSigned { throw .lastOrganizerDevice }
  }

  /// Checks that a roster which removes a person or a device changes nothing else: the removed device
  /// reads this roster. Other keys or another owner count as a removal and an addition.
  ///
  /// - Throws: `mixedRemoval`.
  package func checkRemoval(in next: Roster) throws(Problem) {
    guard loses(with: next), !next.isPart(of: self) else { return }
    throw .mixedRemoval
  }

  /// Whether the next roster lacks a person, or has a device not at all or with other values.
  private func loses(with next: Roster) -> Bool {
    persons.contains { next.person($0.id) == nil }
      || devices.contains { next.device($0.id) != $0 }
  }

  /// Whether each person and device is in the other roster too, unchanged.
  func isPart(of other: Roster) -> Bool {
    persons.allSatisfy { other.person($0.id) == $0 }
      && devices.allSatisfy { other.device($0.id) == $0 }
  }

  /// The rosters that lead from this one to the next: a removal changes nothing else.
  package func steps(to next: Roster) -> [Roster] {
    guard loses(with: next), !next.isPart(of: self) else { return [next] }
    let removal = Roster(
      persons: persons.filter { next.person($0.id) != nil },
      devices: devices.filter { next.device($0.id) == $0 })
    return [removal, next]
  }

  /// The roster plus the members and devices of the roster `before` that it lacks.
  package func keeping(_ before: Roster) -> Roster {
    Roster(
      persons: persons + before.persons.filter { person($0.id) == nil },
      devices: devices + before.devices.filter { device($0.id) == nil })
  }

  /// The roster without the persons and devices that were removed by a roster that its signer may not
  /// have known.
  ///
  /// - Parameters:
  ///   - former: All rosters that counted. Their persons do not return.
  ///   - present: The last one of them.
  ///   - removedKeys: The keys that were removed.
  func withoutRemoved(since former: [Roster], now present: Roster, _ removedKeys: RemovedKeys)
    -> Roster
  {
    let known = Set(former.flatMap { $0.persons.map(\.id) })
    let persons = persons.filter { present.person($0.id) != nil || !known.contains($0.id) }
    let devices = devices.filter { device in
      persons.contains { $0.id == device.person } && !removedKeys.contains(device.signingKey)
    }
    return Roster(persons: persons, devices: devices)
  }

  /// The key that must have signed the first roster: that of an organizer's device in the roster;
  /// `nil` for any other device.
  package func key(forFirstBy signer: DeviceID) -> [UInt8]? {
    guard let device = device(signer), person(device.person)?.role == .organizer,
      !device.signingKey.isEmpty
    else { return nil }
    return device.signingKey
  }

  private var organizer: [Device] {
    devices.filter { person($0.person)?.role == .organizer }
  }

  /// Whether the person may produce this event in the audience.
  func mayDecide(_ body: Event.Body, in audience: Audience, _ person: Person) -> Bool {
    let isGuardian = person.role.isGuardian
    let child = audience.conversationChild
    func isIn(_ named: PersonID) -> Bool {
      named == child && self.person(named)?.role == .child
    }
    switch body {
    case .rosterChanged: return audience == .family && isGuardian
    case .invited(let invitation):
      guard audience == .family, let invited = self.person(invitation.person) else { return false }
      return isGuardian && (invited.role != .organizer || person.role == .organizer)
    case .joinRequested: return false
    case .passcodeChanged: return audience == .family && isGuardian
    case .accountChanged(let id, _):
      guard audience == .account(id), let owner = self.person(id) else { return false }
      return owner.role == .child ? isGuardian : owner.id == person.id
    case .ageNoted(let id, _): return audience == .account(id) && person.id == id
    case .ageSet(let id, _, _):
      // A child's own device also needs a proof of the passcode.
      guard audience == .account(id), let owner = self.person(id) else { return false }
      return owner.id == person.id || owner.role == .child && isGuardian
    case .settingsChanged(let id, _, _):
      // The child's own device also needs a proof of the passcode.
      guard audience == .account(id), self.person(id)?.role == .child else { return false }
      return person.id == id || isGuardian
    case .limitsChanged(let id, _), .contactChanged(let id, _), .withdrawn(let id, _):
      return isIn(id) && isGuardian
    case .decided: return child.map(isIn) ?? false && isGuardian
    case .posted(let id, _): return isIn(id) && (isGuardian || person.id == id)
    case .asked(let header, _), .answeredInPerson(let header, _, _, _):
      return isIn(header.child) && person.id == header.child
    case .reminded, .cancelled: return child == person.id && isIn(person.id)
    case .keysShared, .complained, .opaque: return isMember(person, of: audience)
    case .beat: return audience == .family && isGuardian
    }
  }

  /// Checks that a key share names readers of the audience only, and no pair of key and reader
  /// twice.
  ///
  /// - Throws: `badKeyShare`.
  package func check(_ wraps: [KeyWrap], in audience: Audience) throws(Problem) {
    let readers = Set(readers(of: audience).map(\.agreementKey))
    var pairs: [ContentKeyID: Set<[UInt8]>] = [:]
    for wrap in wraps {
      guard readers.contains(wrap.reader),
        pairs[wrap.key, default: []].insert(wrap.reader).inserted
      else { throw .badKeyShare }
    }
  }

  /// The devices of the audience's members that have an agreement key, ascending by id.
  ///
  /// Of devices with the same agreement key only the first one counts. A key share would otherwise
  /// name a reader twice, and the relay would refuse all key shares of the audience.
  func readers(of audience: Audience) -> [Device] {
    var keys: Set<[UInt8]> = []
    return devices.filter { device in
      !device.agreementKey.isEmpty
        && person(device.person).map { isMember($0, of: audience) } ?? false
        && keys.insert(device.agreementKey).inserted
    }
  }
}
