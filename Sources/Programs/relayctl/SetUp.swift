import Credentials
import FamilyCore
import FamilyModel
import FamilyTrust
import Foundation
import RelayClient
import RelayWire
import SystemClock
import ZeroMQ

/// Applies families to the relay, one after the other.
///
/// The credential files are the record of assigned ids, so reordering the family file changes none.
/// They are written before the relay learns a key, so that no enrolled key is lost.
struct SetUp: ~Copyable {
  private let credential: AdministratorCredential
  private let folder: URL
  private var administrator: Administrator
  private let known: [UInt64: [Credential]]
  private let prunes: Bool

  /// - Parameter prunes: Whether members and devices that are not in the file are removed.
  init(_ credential: AdministratorCredential, credentials folder: URL, prunes: Bool) throws {
    let known = try Self.read(folder, for: credential.relayKey)
    let administrator = try Administrator(credential)
    self.credential = credential
    self.folder = folder
    self.known = known
    self.prunes = prunes
    self.administrator = administrator
  }

  private static func read(_ folder: URL, for relay: CurvePublicKey) throws
    -> [UInt64: [Credential]]
  {
    try PrivateFile.createFolder(folder)
    let files = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    var known: [UInt64: [Credential]] = [:]
    for file in files
    where file.pathExtension == "json" && file.lastPathComponent.hasPrefix("family-") {
      let found = try Credential.read(from: file)
      guard found.isInFamily else { continue }
      guard found.relayKey == relay else {
        throw FamilyFileError(
          "'\(file.path)' is for another relay. Choose another --credentials folder.")
      }
      known[found.address.family.rawValue, default: []].append(found)
    }
    return known
  }

  /// Applies one family. The administrator only submits commands that devices signed.
  ///
  /// The organizer's device signs the roster and the children's accounts. Every other account is
  /// signed by a device of its person.
  mutating func apply(_ family: FamilyFile.Family) throws {
    let address = FamilyID(family.id)
    var events = try administrator.history(of: .family, in: address)
    let rosters = events.compactMap { event in
      if case .rosterChanged(let roster) = event.body { roster } else { nil }
    }
    let removal = Removal(rosters)
    let all = try self.persons(of: family, after: rosters)
    let present = zip(all, family.members).filter { !removal.contains($0.0) }
    let persons = present.map(\.0)
    var kept = family
    kept.members = present.map(\.1)
    let files = try self.credentials(of: kept, persons, after: rosters)
    let credentials = files.filter { !removal.contains($0) }
    reportRemovedEarlier(
      all.filter(removal.contains), files.filter(removal.contains), of: family.id)
    var roster = Roster(persons: persons, devices: credentials.map(\.device))
    let organizer = try organizer(of: roster, among: credentials, now: events)
    var machine = organizer.machine(restoring: events)
    let before = machine.link.roster
    if !prunes { roster = roster.keeping(before) }
    if before != roster {
      for step in before.steps(to: roster) {
        try administrator.send(machine.prepare(.setRoster(step), now: .now), to: address)
        events = try administrator.history(of: .family, in: address)
        machine = organizer.machine(restoring: events)
      }
      reportRemoved(before, roster, of: family.id)
    }
    reportKept(persons, credentials, roster, of: family.id)
    for (person, member) in zip(persons, kept.members) {
      let signer =
        person.role == .child
        ? organizer : credentials.first { $0.personID == person.id } ?? organizer
      try setAccount(of: person, try member.account(), signer, in: address, events)
      guard person.role == .child, let isOn = member.limits else { continue }
      try setLimits(of: person.id, isOn, organizer, in: address, events)
    }
  }

  /// Sets a child's limits unless this value is the last one that was applied.
  private mutating func setLimits(
    of child: PersonID, _ isOn: Bool, _ signer: Credential, in family: FamilyID, _ events: [Event]
  ) throws {
    var applied = try AppliedLimits(in: folder, of: family.rawValue)
    guard applied.value(of: child) != isOn else { return }
    var machine = signer.machine(restoring: events)
    let prepared = try machine.prepare(.setLimits(child: child, on: isOn), now: .now)
    try administrator.send(prepared, to: family)
    try applied.record(isOn, of: child)
  }

  /// Prints the members and devices that guardians added and the file does not contain.
  private func reportKept(
    _ persons: [Person], _ credentials: [Credential], _ roster: Roster, of family: UInt64
  ) {
    let inFile = Set(persons.map(\.id))
    let devices = Set(credentials.map(\.address.device))
    let kept =
      roster.persons.filter { !inFile.contains($0.id) }.map(\.displayName)
      + roster.devices.filter { inFile.contains($0.person) && !devices.contains($0.id) }
      .map { "\(roster.person($0.person)?.displayName ?? "?")'s device \($0.id.rawValue)" }
    guard !kept.isEmpty else { return }
    let names = kept.joined(separator: ", ")
    print(
      "Family \(family): kept, but not in the file: \(names). Use --prune to remove them.".printable
    )
  }

  /// Prints the members and devices of the file that guardians removed. They do not return.
  private func reportRemovedEarlier(
    _ persons: [Person], _ credentials: [Credential], of family: UInt64
  ) {
    let gone =
      persons.map(\.displayName)
      + credentials.map { "\($0.name)'s device \($0.address.device.rawValue)" }
    guard !gone.isEmpty else { return }
    print(
      """
      Family \(family): removed by a guardian, and not added again: \(gone.joined(separator: ", ")). \
      To add them again, a guardian runs relayctl add-member or relayctl invite.
      """.printable)
  }

  /// Prints the devices that the new roster removes.
  private func reportRemoved(_ before: Roster, _ roster: Roster, of family: UInt64) {
    let gone = before.devices.filter { roster.device($0.id)?.publicKey != $0.publicKey }.map {
      "\(before.person($0.person)?.displayName ?? "?")'s device \($0.id.rawValue)"
    }
    guard !gone.isEmpty else { return }
    print("Family \(family): removed, not in the file: \(gone.joined(separator: ", ")).".printable)
  }

  private mutating func setAccount(
    of person: Person, _ account: Account, _ signer: Credential, in family: FamilyID,
    _ events: [Event]
  ) throws {
    let records = try administrator.history(of: .account(person.id), in: family)
    var machine = signer.machine(restoring: events + records)
    if machine.link.accounts[person.id] == account { return }
    let prepared = try machine.prepare(.setAccount(person.id, .account(account)), now: .now)
    try administrator.send(prepared, to: family)
  }

  /// A credential of the organizer that may sign: its key is in the newest roster.
  ///
  /// In a family without devices, the key that signs the first roster qualifies.
  private func organizer(of roster: Roster, among credentials: [Credential], now events: [Event])
    throws -> Credential
  {
    let own = credentials.filter { roster.person($0.personID)?.role == .organizer }
    let known = own.first?.machine(restoring: events).link.roster
    let found = own.first { credential in
      guard let known, !known.devices.isEmpty else {
        return credential.deviceKeys.signingKey == credential.organizerKey
      }
      return known.device(credential.address.device)?.signingKey
        == credential.deviceKeys.signingKey
    }
    guard let found else {
      throw FamilyFileError(
        "Family of \(roster.organizerName): no credential in the folder belongs to a "
          + "current device of the organizer. Only such a device can sign the roster.")
    }
    return found
  }

  /// The file's members with their ids. A member whom a guardian added is recognized by name.
  ///
  /// - Parameter rosters: The family's rosters so far; their ids are never reused.
  private func persons(of family: FamilyFile.Family, after rosters: [Roster]) throws -> [Person] {
    let known = known[family.id] ?? []
    let added = rosters.last?.persons ?? []
    var taken = Set(family.members.compactMap(\.id)).union(known.map(\.personID.rawValue))
      .union(rosters.flatMap(\.persons).map(\.id.rawValue))
    return try family.members.map { member in
      var id =
        member.id ?? known.first { $0.name == member.name }?.personID.rawValue
        ?? added.first { $0.displayName == member.name }?.id.rawValue
      if id == nil {
        id = (taken.max() ?? 0) + 1
        taken.insert(id!)
      }
      return Person(
        id: PersonID(id!), role: try member.parsedRole(), displayName: member.name)
    }
  }

  /// The credential of each device; missing files are created, existing ones are kept.
  private func credentials(
    of family: FamilyFile.Family, _ persons: [Person], after rosters: [Roster]
  ) throws -> [Credential] {
    let known = known[family.id] ?? []
    let numbers =
      known.map(\.address.device.rawValue) + rosters.flatMap(\.devices).map(\.id.rawValue)
    var last = numbers.max() ?? 0
    // All devices of the family trust this key from the start.
    let first = DeviceKeys()
    let organizerKey = known.first?.organizerKey ?? first.signingKey
    var isFirst = known.isEmpty
    var credentials: [Credential] = []
    for (person, member) in zip(persons, family.members) {
      for number in 1...(member.devices ?? 1) {
        let file = folder.appendingPathComponent(
          "family-\(family.id)-\(member.fileName)-\(number).json")
        var found: Credential
        if FileManager.default.fileExists(atPath: file.path) {
          found = try Credential.read(from: file)
          guard found.personID == person.id, found.address.family.rawValue == family.id else {
            throw FamilyFileError(
              "'\(file.path)' belongs to another member. Move the file, or change the "
                + "id in the family file.")
          }
          if found.role != person.role {
            found.role = person.role
            try found.write(to: file)
          }
        } else {
          last += 1
          let isOrganizer = isFirst && person.role == .organizer
          if isOrganizer { isFirst = false }
          found = Credential(
            address: DeviceAddress(family: FamilyID(family.id), device: DeviceID(last)),
            personID: person.id, role: person.role, name: person.displayName,
            keys: try .generate(), deviceKeys: isOrganizer ? first : DeviceKeys(),
            organizerKey: organizerKey, relayKey: credential.relayKey,
            requests: credential.requests,
            broadcasts: credential.broadcasts)
          try found.write(to: file)
        }
        credentials.append(found)
      }
    }
    return credentials
  }
}

/// The members and devices that were in a roster of the family and no longer are.
private struct Removal {
  private var persons: Set<PersonID> = []
  private var keys = RemovedKeys()

  /// - Parameter rosters: The family's rosters, in order.
  init(_ rosters: [Roster]) {
    guard var last = rosters.first else { return }
    for next in rosters {
      keys.record(from: last, to: next)
      last = next
    }
    persons = Set(rosters.flatMap(\.persons).map(\.id)).subtracting(last.persons.map(\.id))
  }

  func contains(_ person: Person) -> Bool { persons.contains(person.id) }
  func contains(_ credential: Credential) -> Bool {
    keys.contains(credential.deviceKeys.signingKey)
  }
}

extension Roster {
  fileprivate var organizerName: String {
    persons.first { $0.role == .organizer }?.displayName ?? ""
  }
}
