import FamilyModel
import Foundation
import Yams

/// The file that describes families: YAML, of which JSON is a part.
struct FamilyFile: Codable {
  struct Member: Codable {
    /// Unique in the family; chosen, unless said.
    var id: UInt32?
    var name: String
    /// `organizer`, `guardian`, `child` or `adult`.
    var role: String
    /// ISO 3166-1 alpha-2 or ISO 3166-2; `US`, unless said.
    var region: String?
    /// Where the member's days begin, for example `Europe/Paris`; where the device is, unless said.
    var timeZone: String?
    /// How the age was checked: `payment`, `governmentID` or `other`; it was not, unless said.
    var checked: String?
    /// `2014-05-17`.
    var birthdate: String?
    /// How many devices; one, unless said.
    var devices: Int?
    /// Of a child: whether communication limits are on at first; they are, unless said.
    var limits: Bool?
  }
  struct Family: Codable {
    /// One or more, unique.
    var id: UInt64
    var members: [Member]
  }
  var families: [Family]

  static func read(_ path: String) throws -> FamilyFile {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
      throw FamilyFileError(description: "Cannot read \(path). `relayctl generate` writes one.")
    }
    do { return try YAMLDecoder().decode(FamilyFile.self, from: text) } catch {
      throw FamilyFileError(
        description: "\(path) is no file of families: \(error). Compare `relayctl generate`.")
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

  /// Everything that is wrong, each with what to do.
  func errors() -> [FamilyFileError] {
    var seen: Set<UInt64> = []
    return families.flatMap { family in
      var errors = family.errors()
      if !seen.insert(family.id).inserted {
        errors.append(
          FamilyFileError(description: "Family \(family.id) is there twice: change one id."))
      }
      return errors
    }
  }
}

/// What is wrong, and what to do.
struct FamilyFileError: Error, CustomStringConvertible {
  let description: String
}

extension FamilyFile.Family {
  func errors() -> [FamilyFileError] {
    var found: [String] = []
    if id == 0 { found.append("the id is 1 or more.") }
    if members.count(where: { $0.role == "organizer" }) != 1 {
      found.append("one member, and only one, has the role organizer.")
    }
    if Set(members.map(\.fileName)).count != members.count {
      found.append("two members have one name: names tell their credential files apart.")
    }
    let ids = members.compactMap(\.id)
    if Set(ids).count != ids.count || ids.contains(0) {
      found.append("the members' ids are 1 or more, and each is there once.")
    }
    let devices = members.reduce(0) { $0 &+ ($1.devices ?? 1) }
    if members.count > Limits.persons || devices > Limits.devices {
      found.append("it has at most \(Limits.persons) members and \(Limits.devices) devices.")
    }
    for member in members {
      if !(1...Limits.devices ~= member.devices ?? 1) {
        found.append("\(member.name) has 1 to \(Limits.devices) devices.")
      }
      if !(1...Limits.titleBytes ~= member.name.utf8.count) {
        found.append("a name has 1 to \(Limits.titleBytes) bytes.")
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
  /// The name as a part of a file's name.
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
        description: "\(name): the role is organizer, guardian, child or adult, not \(role).")
    }
  }

  func account(in family: UInt64) throws -> Account {
    let day = try birthdate.map { text in
      guard let day = Account.Day(text) else {
        throw FamilyFileError(description: "\(name): a birthdate is written 2014-05-17.")
      }
      return day
    }
    let region = region ?? "US"
    guard Account.isRegion(region) else {
      throw FamilyFileError(description: "\(name): a region is written FR or US-TX.")
    }
    if let timeZone, TimeZone(identifier: timeZone) == nil {
      throw FamilyFileError(description: "\(name): a time zone is written Europe/Paris.")
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
    default:
      throw FamilyFileError(
        description: "\(name): checked is payment, governmentID or other, where it is there.")
    }
  }
}
