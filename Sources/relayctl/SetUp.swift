import FamilyModel
import FamilyTrust
import Foundation
import RelayRuntime
import RelayWire
import ZeroMQ

/// Makes families at the relay, one after the other.
///
/// The credential files are what remembers ids: a member and a device keep theirs however the file of
/// families is rearranged. They are written first, so that a key that the relay knows is never lost.
struct SetUp: ~Copyable {
  private let credential: AdministratorCredential
  private let folder: URL
  private var administrator: Administrator
  private let known: [UInt64: [Credential]]

  init(_ credential: AdministratorCredential, credentials folder: URL) throws {
    let known = try Self.read(folder, for: credential.relayKey)
    let administrator = try Administrator(credential)
    self.credential = credential
    self.folder = folder
    self.known = known
    self.administrator = administrator
  }

  private static func read(_ folder: URL, for relay: CurvePublicKey) throws
    -> [UInt64: [Credential]]
  {
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let files = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    var known: [UInt64: [Credential]] = [:]
    for file in files
    where file.pathExtension == "json" && file.lastPathComponent.hasPrefix("family-") {
      let found = try Credential.read(from: file)
      guard found.relayKey == relay else {
        throw FamilyFileError(
          description: "\(file.path) is for another relay: choose another --credentials folder.")
      }
      known[found.address.family.rawValue, default: []].append(found)
    }
    return known
  }

  mutating func apply(_ family: FamilyFile.Family) throws {
    let persons = try persons(of: family)
    let devices = try devices(of: family, persons)
    let address = FamilyID(family.id)
    let roster = Roster(persons: persons, devices: devices)
    let last = try administrator.history(of: .family, in: address).last?.body
    if last != .rosterChanged(roster) { try administrator.send(.setRoster(roster), to: address) }
    for (person, member) in zip(persons, family.members) {
      try setAccount(of: person, try member.account(in: family.id), in: address)
      guard person.role == .child, let limits = member.limits else { continue }
      // The id makes it happen once: what guardians choose later stays.
      let id = CommandID(high: limits ? 2 : 1, low: UInt64(person.id.rawValue))
      try administrator.send(.setLimits(child: person.id, on: limits), to: address, id: id)
    }
  }

  private mutating func setAccount(of person: Person, _ account: Account, in family: FamilyID)
    throws
  {
    let last = try administrator.history(of: .account(person.id), in: family).last
    if last?.opened().body == .accountChanged(person.id, .account(account)) { return }
    try administrator.send(.setAccount(person.id, .account(account)), to: family)
  }

  private func persons(of family: FamilyFile.Family) throws -> [Person] {
    let known = known[family.id] ?? []
    var taken = Set(family.members.compactMap(\.id)).union(known.map(\.personID.rawValue))
    return try family.members.map { member in
      var id = member.id ?? known.first { $0.name == member.name }?.personID.rawValue
      if id == nil {
        id = (taken.max() ?? 0) + 1
        taken.insert(id!)
      }
      return Person(
        id: PersonID(id!), role: try member.parsedRole(in: family.id), displayName: member.name)
    }
  }

  /// The devices, with a credential file for each; what is there stays.
  private func devices(of family: FamilyFile.Family, _ persons: [Person]) throws -> [Device] {
    let known = known[family.id] ?? []
    var last = known.map(\.address.device.rawValue).max() ?? 0
    // What all devices of the family trust from the first on.
    let first = DeviceKeys()
    let organizerKey = known.first?.organizerKey ?? first.signingKey
    var isFirst = known.isEmpty
    var devices: [Device] = []
    for (person, member) in zip(persons, family.members) {
      for number in 1...(member.devices ?? 1) {
        let file = folder.appendingPathComponent(
          "family-\(family.id)-\(member.fileName)-\(number).json")
        var found: Credential
        if FileManager.default.fileExists(atPath: file.path) {
          found = try Credential.read(from: file)
          guard found.personID == person.id, found.address.family.rawValue == family.id else {
            throw FamilyFileError(
              description: "\(file.path) is somebody else's: move it away, or change the id.")
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
        devices.append(
          Device(
            id: found.address.device, person: person.id, publicKey: found.keys.publicKey.bytes,
            keys: found.deviceKeys))
      }
    }
    return devices
  }
}
