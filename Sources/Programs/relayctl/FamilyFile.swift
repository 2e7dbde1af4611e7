import FamilyModel
import Foundation
import Yams

/// The family file: YAML or JSON that lists families and their members.
struct FamilyFile: Codable {
  struct Member: Codable {
    /// The person's number, 1 or more and unique in the family; `nil`: assigned when applied.
    var id: UInt32?
    /// The display name, unique in the family.
    var name: String
    /// `organizer`, `guardian`, `child` or `adult`.
    var role: String
    /// ISO 3166-1 alpha-2 or ISO 3166-2; `nil` means `US`.
    var region: String?
    /// The time zone of the member's days, for example `Europe/Paris`; `nil`: that of the device.
    var timeZone: String?
    /// How the age was checked: `payment`, `governmentID` or `other`; `nil`: unchecked.
    var checked: String?
    /// The birthdate, for example `2014-05-17`.
    var birthdate: String?
    /// The number of devices; `nil` means one.
    var devices: Int?
    /// A child's initial communication limits; `nil` means on.
    var limits: Bool?
  }
  struct Family: Codable {
    /// The family's number, 1 or more and unique in the file.
    var id: UInt64
    var members: [Member]
  }
  var families: [Family]

  static func read(_ path: String) throws -> FamilyFile {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
      throw FamilyFileError(
        description: "Cannot read '\(path)'. `relayctl generate` prints an example.")
    }
    do { return try YAMLDecoder().decode(FamilyFile.self, from: text) } catch {
      throw FamilyFileError(
        description: "'\(path)' is not a family file: \(FamilyFileError.cause(of: error)). "
          + "`relayctl generate` prints an example.")
    }
  }

  func yaml() throws -> String { try YAMLEncoder().encode(self) }

  static func example(families count: Int) -> FamilyFile {
    FamilyFile(
      families: (1...UInt64(max(1, count))).map { id in
        Family(
          id: id,
          members: [
            Member(name: "Olivia", role: "organizer"), Member(name: "Gus", role: "guardian"),
            Member(name: "Cleo", role: "child", birthdate: "2014-05-17", devices: 2),
          ])
      })
  }

  /// All errors in the file; empty for a valid file.
  func errors() -> [FamilyFileError] {
    var ids: Set<UInt64> = []
    return families.flatMap { family in
      var errors = family.errors()
      if !ids.insert(family.id).inserted {
        errors.append(
          FamilyFileError(
            description: "Family \(family.id) occurs twice. Give each family its own id."))
      }
      return errors
    }
  }
}

/// An error in a family file or its credential files, with the next step.
struct FamilyFileError: Error, CustomStringConvertible {
  let description: String

  /// A decoding error in words: the position in the file and the fault there.
  fileprivate static func cause(of error: any Error) -> String {
    func position(_ path: [any CodingKey]) -> String {
      // A path such as `families[0].members[2]`.
      let keys = path.map { key in key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)" }
      return keys.isEmpty ? "the file" : String(keys.joined().trimmingPrefix("."))
    }
    switch error {
    case DecodingError.keyNotFound(let key, let context):
      return "\(position(context.codingPath)) has no '\(key.stringValue)'"
    case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
      return "\(position(context.codingPath)) has a value of the wrong type"
    case DecodingError.dataCorrupted(let context):
      // Yams appends an excerpt of the file to the two lines with position and cause.
      let text = context.underlyingError.map { "\($0)" } ?? context.debugDescription
      let lines = text.split(separator: "\n").prefix(2).joined(separator: " ")
      return lines.hasSuffix(":") ? String(lines.dropLast()) : lines
    default: return "\(error)"
    }
  }
}

extension FamilyFile.Family {
  func errors() -> [FamilyFileError] {
    var found: [String] = []
    if id == 0 { found.append("the id must be 1 or more.") }
    if members.count(where: { $0.role == "organizer" }) != 1 {
      found.append("exactly one member must have the role 'organizer'.")
    }
    let names = members.map(\.fileName)
    if let name = names.first(where: { name in names.count { $0 == name } > 1 }) {
      found.append(
        "two members are named '\(name)'. Names must differ in their first 48 characters.")
    }
    let ids = members.compactMap(\.id)
    if Set(ids).count != ids.count || ids.contains(0) {
      found.append("the members' ids must be 1 or more and unique.")
    }
    let devices = members.reduce(0) { $0 &+ ($1.devices ?? 1) }
    if members.count > Limits.persons || devices > Limits.devices {
      found.append(
        "a family has at most \(Limits.persons) members and \(Limits.devices) devices.")
    }
    for member in members {
      if !(1...Limits.devices ~= member.devices ?? 1) {
        found.append("\(member.name): a member must have 1 to \(Limits.devices) devices.")
      }
      if !(1...Limits.titleBytes ~= member.name.utf8.count) {
        found.append("'\(member.name)' is not a name: a name has 1 to \(Limits.titleBytes) bytes.")
      }
      do {
        _ = try member.parsedRole(in: id)
        _ = try member.account(in: id)
      } catch { found.append("\(error)") }
    }
    return found.map { FamilyFileError(description: "Family \(id): \($0)") }
  }
}

extension FamilyFile.Member {
  /// The name as a part of the credential file's name: no separators, at most 48 characters.
  var fileName: String {
    let name = name.map { $0 == "/" || $0 == "\0" ? "_" : $0 }
    return String(name.prefix(48))
  }

  func parsedRole(in family: UInt64) throws -> Role {
    switch role {
    case "organizer": return .organizer
    case "guardian": return .guardian
    case "child": return .child
    case "adult": return .adult
    default:
      throw FamilyFileError(
        description:
          "\(name): unknown role '\(role)'. Choose organizer, guardian, child or adult.")
    }
  }

  func account(in family: UInt64) throws -> Account {
    let day = try birthdate.map { text in
      guard let day = Account.Day(iso: text) else {
        throw FamilyFileError(
          description: "\(name): '\(text)' is not a day. Write a birthdate such as 2014-05-17.")
      }
      return day
    }
    let region = region ?? "US"
    guard Account.isRegion(region) else {
      throw FamilyFileError(
        description: "\(name): '\(region)' is not a region. Write one such as FR or US-TX.")
    }
    if let timeZone, TimeZone(identifier: timeZone) == nil {
      throw FamilyFileError(
        description: "\(name): '\(timeZone)' is not a time zone. Write one such as Europe/Paris.")
    }
    return Account(
      birthdate: day, region: region, declaration: try declaration(), timeZone: timeZone ?? "")
  }

  private func declaration() throws -> Account.Declaration {
    let isChild = role == "child"
    switch checked {
    case nil: return isChild ? .guardianDeclared : .selfDeclared
    case "payment": return isChild ? .guardianPaymentChecked : .paymentChecked
    case "governmentID": return isChild ? .guardianGovernmentIDChecked : .governmentIDChecked
    case "other": return isChild ? .guardianCheckedByOtherMethod : .checkedByOtherMethod
    case let other?:
      throw FamilyFileError(
        description: "\(name): unknown value '\(other)' of 'checked'. Choose payment, governmentID "
          + "or other, or leave it out.")
    }
  }
}
