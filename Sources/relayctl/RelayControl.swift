import ArgumentParser
import FamilyModel
import Foundation
import RelayRuntime
import Yams
import ZeroMQ

/// Makes a relay's keys, and families with their devices' keys.
@main
struct RelayControl: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "relayctl", abstract: "Sets up a relay and its families.",
    subcommands: [Init.self, Apply.self])

  struct Init: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Make the relay's keys; keys that are there stay.")
    @Option(help: "The relay's folder.") var directory: String

    func run() throws {
      let folder = URL(fileURLWithPath: directory)
      _ = try RelayKeys.create(in: folder)
      print("The relay's keys are in \(RelayKeys.file(in: folder).path) (0600).")
    }
  }

  struct Apply: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Make the families of a file at the running relay, and their credential files.",
      discussion: "Safe to run again: keys that are there stay.")
    @Argument(help: "A YAML or JSON file of families.") var file: String
    @Option(help: "The relay's folder.") var directory: String
    @Option(help: "The folder for the credential files.") var credentials: String

    func run() throws {
      let text = try String(contentsOfFile: file, encoding: .utf8)
      let families = try YAMLDecoder().decode(FamilyFile.self, from: text)
      let folder = URL(fileURLWithPath: credentials)
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      var setUp = try SetUp(relay: URL(fileURLWithPath: directory), credentials: folder)
      for family in families.families { try setUp.apply(family) }
      print("\(families.families.count) families; their credentials are in \(folder.path) (0600).")
    }
  }
}

/// Makes families at the relay.
struct SetUp: ~Copyable {
  private let relay: URL
  private let folder: URL
  private let keys: RelayKeys
  private var administrator: Administrator

  init(relay: URL, credentials: URL) throws {
    let keys = try RelayKeys.read(from: relay)
    let administrator = try Administrator(relay: relay)
    self.relay = relay
    folder = credentials
    self.keys = keys
    self.administrator = administrator
  }

  mutating func apply(_ family: FamilyFile.Family) throws {
    guard family.id != 0 else {
      throw FamilyFileError(description: "A family's id is 1 or more.")
    }
    var persons: [Person] = []
    var devices: [Device] = []
    for (index, member) in family.members.enumerated() {
      let person = Person(
        id: PersonID(UInt32(index + 1)), role: try member.parsedRole(in: family.id),
        displayName: member.name)
      persons.append(person)
      for number in 1...max(1, member.devices ?? 1) {
        let id = DeviceID(UInt32(devices.count + 1))
        let key = try credential(family.id, person, id, number)
        devices.append(Device(id: id, person: person.id, publicKey: key))
      }
    }
    let address = FamilyID(family.id)
    try administrator.send(.setRoster(Roster(persons: persons, devices: devices)), to: address)
    for (person, member) in zip(persons, family.members) {
      let account = try member.account(in: family.id)
      try administrator.send(.setAccount(person.id, .account(account)), to: address)
      if person.role == .child {
        try administrator.send(
          .setLimits(child: person.id, on: member.limits ?? true), to: address)
      }
    }
  }

  /// Writes the device's credential, unless it is there; gives its public key.
  private func credential(_ family: UInt64, _ person: Person, _ device: DeviceID, _ number: Int)
    throws -> [UInt8]
  {
    let name = person.displayName.replacing("/", with: "_")
    let file = folder.appendingPathComponent("family-\(family)-\(name)-\(number).json")
    if FileManager.default.fileExists(atPath: file.path) {
      return try Credential.read(from: file).keys.publicKey.bytes
    }
    let pair = try CurveKeyPair.generate()
    let credential = Credential(
      address: DeviceAddress(family: FamilyID(family), device: device), personID: person.id,
      role: person.role, name: person.displayName, keys: pair, relayKey: keys.keys.publicKey,
      requests: RelayKeys.requests(in: relay), broadcasts: RelayKeys.broadcasts(in: relay))
    try credential.write(to: file)
    return pair.publicKey.bytes
  }
}
