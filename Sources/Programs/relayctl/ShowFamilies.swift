import ArgumentParser
import Credentials
import FamilyModel
import ProgramOptions
import Foundation
import RelayClient
import ZeroMQ

extension Administrator {
  /// The family's newest roster; `nil` if the relay has no such family.
  mutating func roster(of family: FamilyID) throws -> Roster? {
    guard
      case .rosterChanged(let roster) = try history(of: .family, in: family).last(where: {
        if case .rosterChanged = $0.body { true } else { false }
      })?.body
    else { return nil }
    return roster
  }

  /// The family's newest roster.
  ///
  /// - Throws: `ControlError` if the relay has no such family.
  mutating func knownRoster(of family: UInt64) throws -> Roster {
    guard family != 0, let roster = try roster(of: FamilyID(family)) else {
      throw ControlError(
        "The relay has no family \(family). `relayctl families` lists families, and "
          + "`relayctl apply` creates them.")
    }
    return roster
  }
}

struct Families: ExplainedCommand {
  static let configuration = CommandConfiguration(
    abstract: "List families with their numbers of members, children and devices.")
  @OptionGroup var administrator: AdministratorOptions
  @Option(
    help: "The families to list: a number or a range, for example 1-50. Missing ones are skipped.")
  var families: String?
  @Option(help: "List the families of the credential files in this folder.")
  var credentials: String?
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
    output.show(listing, empty: "The relay has none of these families.")
  }

  private func inFiles(_ administrator: AdministratorCredential) throws -> [UInt64] {
    let folder = URL(fileURLWithPath: credentials!)
    guard
      let files = try? FileManager.default.contentsOfDirectory(
        at: folder, includingPropertiesForKeys: nil)
    else {
      throw ControlError("Cannot read the folder '\(folder.path)'. `relayctl apply` creates it.")
    }
    let found = try files.filter {
      $0.lastPathComponent.hasPrefix("family-") && $0.pathExtension == "json"
    }.map { try Credential.read(from: $0) }.filter { $0.relayKey == administrator.relayKey }
    return Set(found.map(\.address.family.rawValue)).sorted()
  }
}

struct Members: ExplainedCommand {
  static let configuration = CommandConfiguration(abstract: "List a family's members.")
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
    output.show(listing, empty: "The family has no members.")
  }
}

struct Devices: ExplainedCommand {
  /// The number of a public key's characters in the table: enough to compare by eye.
  private static let keyPrefix = 8

  static let configuration = CommandConfiguration(
    abstract: "List a family's devices with the start of their public keys.")
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
        .text(String(key.prefix(Self.keyPrefix))),
      ]
    }
    output.show(listing, empty: "The family has no devices.")
  }
}
