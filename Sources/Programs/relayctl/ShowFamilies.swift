import ArgumentParser
import Credentials
import FamilyModel
import ProgramOptions
import Foundation
import RelayClient
import ZeroMQ

extension Administrator {
  /// Who is in the family; `nil`: there is no such family.
  mutating func roster(of family: FamilyID) throws -> Roster? {
    guard
      case .rosterChanged(let roster) = try history(of: .family, in: family).last(where: {
        if case .rosterChanged = $0.body { true } else { false }
      })?.body
    else { return nil }
    return roster
  }

  /// Who is in the family, which must be there.
  mutating func knownRoster(of family: UInt64) throws -> Roster {
    guard family != 0, let roster = try roster(of: FamilyID(family)) else {
      throw ControlError(
        "There is no family \(family) at this relay: `relayctl apply` makes families, and "
          + "`relayctl families` shows which there are.")
    }
    return roster
  }
}

struct Families: ExplainedCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show families: how many members, children and devices.")
  @OptionGroup var administrator: AdministratorOptions
  @Option(
    help: "Families of these numbers, for example 1-50; those that are not there are skipped.")
  var families: String?
  @Option(help: "Families of the credential files in this folder.") var credentials: String?
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard (families == nil) != (credentials == nil) else {
      throw ValidationError("Give either --families, for example 1-50, or --credentials FOLDER.")
    }
  }

  func perform() throws {
    let credential = try administrator.credential()
    let numbers = try families.map { Array(try FamilyRange.parse($0)) } ?? inFiles(credential)
    var relay = try Administrator(credential)
    var listing = Listing(
      columns: [.init("family"), .init("members"), .init("children"), .init("devices")])
    for number in numbers where number != 0 {
      guard let roster = try relay.roster(of: FamilyID(number)) else { continue }
      listing.rows.append(
        [
          number, UInt64(roster.persons.count), UInt64(roster.children.count),
          UInt64(roster.devices.count),
        ].map { .number($0) })
    }
    output.show(listing, empty: "None of these families is at the relay.")
  }

  private func inFiles(_ administrator: AdministratorCredential) throws -> [UInt64] {
    let folder = URL(fileURLWithPath: credentials!)
    guard
      let files = try? FileManager.default.contentsOfDirectory(
        at: folder, includingPropertiesForKeys: nil)
    else {
      throw ControlError("There is no folder \(folder.path). `relayctl apply` makes it.")
    }
    let found = try files.filter {
      $0.lastPathComponent.hasPrefix("family-") && $0.pathExtension == "json"
    }.map { try Credential.read(from: $0) }.filter { $0.relayKey == administrator.relayKey }
    return Set(found.map(\.address.family.rawValue)).sorted()
  }
}

struct Members: ExplainedCommand {
  static let configuration = CommandConfiguration(abstract: "Show who is in a family.")
  @Argument(help: "The family's number.") var family: UInt64
  @OptionGroup var administrator: AdministratorOptions
  @OptionGroup var output: OutputOptions

  func perform() throws {
    var relay = try Administrator(try administrator.credential())
    let roster = try relay.knownRoster(of: family)
    var listing = Listing(
      columns: [.init("person"), .init("name"), .init("role"), .init("devices")])
    listing.rows = roster.persons.map { person in
      let devices = roster.devices.filter { $0.person == person.id }
      return [
        .number(UInt64(person.id.rawValue)), .text(person.displayName), .text("\(person.role)"),
        .list(devices.map { .number(UInt64($0.id.rawValue)) }),
      ]
    }
    output.show(listing, empty: "Nobody is in the family.")
  }
}

struct Devices: ExplainedCommand {
  /// Characters of a public key that are shown: enough to compare by eye.
  static let shownKey = 8

  static let configuration = CommandConfiguration(
    abstract: "Show the devices of a family, and how their public keys begin.")
  @Argument(help: "The family's number.") var family: UInt64
  @OptionGroup var administrator: AdministratorOptions
  @OptionGroup var output: OutputOptions

  func perform() throws {
    var relay = try Administrator(try administrator.credential())
    let roster = try relay.knownRoster(of: family)
    var listing = Listing(
      columns: [
        .init("device"), .init("person", "name"), .init(nil, "person"), .init("key"),
      ])
    listing.rows = roster.devices.map { device in
      let name = roster.person(device.person)?.displayName ?? ""
      let key = CurvePublicKey(bytes: device.publicKey)?.z85 ?? ""
      return [
        .number(UInt64(device.id.rawValue)), .text(name), .number(UInt64(device.person.rawValue)),
        .text(String(key.prefix(Self.shownKey))),
      ]
    }
    output.show(listing, empty: "The family has no devices.")
  }
}
