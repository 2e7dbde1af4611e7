import FamilyModel

/// Changes of the roster.
extension FamilyProjection {
  func roster(adding name: String, as role: Role) -> Roster {
    var roster = roster
    let id = unusedPerson(besides: roster)
    roster.persons.append(Person(id: id, role: role, displayName: name))
    return Roster(persons: roster.persons, devices: roster.devices)
  }

  func roster(adding join: JoinRequest, of person: PersonID) -> Roster {
    var roster = roster
    let id = unusedDevice(besides: roster)
    roster.devices.append(
      Device(
        id: id, person: person, publicKey: join.publicKey, signingKey: join.signingKey,
        agreementKey: join.agreementKey))
    return Roster(persons: roster.persons, devices: roster.devices)
  }

  /// The changes that lead to the next roster, each as a roster that differs from the present one by
  /// this change alone: first the removals, then the rest. Devices with other keys get new numbers.
  func parts(of next: Roster) -> [Roster] {
    let steps = roster.steps(to: next)
    guard steps.count > 1, let removal = steps.first else { return [next] }
    var last = max(owners.keys.last ?? DeviceID(0), next.devices.last?.id ?? DeviceID(0))
    var rest = next
    for index in rest.devices.indices
    where removal.device(rest.devices[index].id) == nil
      && roster.device(rest.devices[index].id) != nil
    {
      last = DeviceID(last.rawValue + 1)
      rest.devices[index].id = last
    }
    return [removal, rest.keeping(roster)]
  }

  /// The present roster with the changes that lead from `base` to `next`.
  ///
  /// Members and devices that were removed since `base` stay removed. New ones get new numbers if
  /// another change has taken theirs, unless the present roster has them already. A new device of a
  /// member that was removed since is left out.
  func roster(applying base: Roster, _ next: Roster) -> Roster {
    guard base != roster else { return next }
    var result = roster
    var numbers: [PersonID: PersonID] = [:]
    for person in next.persons {
      if let old = base.person(person.id) {
        guard old != person, let index = result.persons.firstIndex(where: { $0.id == old.id })
        else { continue }
        result.persons[index] = person
      } else if roster.person(person.id) != person {
        let id = unusedPerson(besides: result, preferring: person.id)
        numbers[person.id] = id
        result.persons.append(Person(id: id, role: person.role, displayName: person.displayName))
      }
    }
    for device in next.devices {
      if let old = base.device(device.id) {
        guard old != device, let index = result.devices.firstIndex(where: { $0.id == old.id })
        else { continue }
        result.devices[index] = device
      } else if !roster.contains(device) {
        var added = device
        added.id = unusedDevice(besides: result, preferring: device.id)
        added.person = numbers[device.person] ?? device.person
        result.devices.append(added)
      }
    }
    result.persons.removeAll { base.person($0.id) != nil && next.person($0.id) == nil }
    let devices = result.devices.filter { device in
      result.person(device.person) != nil
        && (base.device(device.id) == nil || next.device(device.id) != nil)
    }
    return Roster(persons: result.persons, devices: devices)
  }
}

extension Roster {
  /// Whether the device is in the roster, under any number.
  fileprivate func contains(_ device: Device) -> Bool {
    devices.contains {
      $0 == device || !device.signingKey.isEmpty && $0.signingKey == device.signingKey
    }
  }
}

extension DeviceLink {
  /// The notices that the current roster added devices of other persons, for every member but the
  /// roster's author. A member can thus see a device that another guardian added in the member's
  /// name.
  func noticesOfNewDevices(by author: PersonID) -> [DeviceEffect] {
    guard author != personID else { return [] }
    return family.newDevices.filter { $0.id != address.device }
      .map { .notify(.deviceAdded($0.id, of: $0.person)) }
  }
}
