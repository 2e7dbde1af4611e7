import Credentials
import FamilyModel
import Foundation
import SystemClock
import Yams

/// The family file: YAML or JSON that lists families and their members.
struct FamilyFile: Encodable {
  struct Member: Encodable {
    enum CodingKeys: String, CodingKey, CaseIterable {
      case id, name, role, region, timeZone, checked, birthdate, devices, limits
    }
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
    /// The line in the file, for errors.
    var line = 1
  }
  struct Family: Encodable {
    enum CodingKeys: String, CodingKey { case id, members }
    /// The family's number, 1 or more and unique in the file.
    var id: UInt64
    var members: [Member]
    /// The line in the file, for errors.
    var line = 1
  }
  var families: [Family]

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
            line: family.line, "family \(family.id) occurs twice", "Give each family its own id."))
      }
      return errors
    }
  }
}

extension FamilyFile.Family {
  func errors(now: Instant = .now) -> [FamilyFileError] {
    var found: [FamilyFileError] = []
    func add(_ line: Int, _ fault: String) {
      found.append(FamilyFileError(line: line, "family \(id): \(fault)"))
    }
    if id == 0 { add(line, "the id must be 1 or more") }
    if members.count(where: { $0.role == "organizer" }) != 1 {
      add(line, "exactly one member must have the role 'organizer'")
    }
    var names: Set<String> = []
    for member in members where !names.insert(member.fileName.lowercased()).inserted {
      add(
        member.line,
        "two members are named '\(member.fileName)'. Names must differ in their first 48 characters"
      )
    }
    let ids = members.compactMap(\.id)
    if Set(ids).count != ids.count || ids.contains(0) {
      add(line, "the members' ids must be 1 or more and unique")
    }
    let devices = members.reduce(0) { $0 &+ ($1.devices ?? 1) }
    if members.count > Limits.persons || devices > Limits.devices {
      add(line, "a family has at most \(Limits.persons) members and \(Limits.devices) devices")
    }
    for member in members {
      if !(1...Limits.devices ~= member.devices ?? 1) {
        add(member.line, "\(member.name): a member must have 1 to \(Limits.devices) devices")
      }
      if !(1...Limits.titleBytes ~= member.name.utf8.count) {
        add(
          member.line,
          "'\(member.name)' is not a name: a name has 1 to \(Limits.titleBytes) bytes")
      }
      do {
        _ = try member.parsedRole()
        _ = try member.account(now: now)
      } catch { add(member.line, "\(member.name): \(error.fault)") }
    }
    return found
  }
}

extension FamilyFile.Member {
  /// An invalid value of a member.
  struct Invalid: Error { let fault: String }

  /// The name as a part of the credential file's name: no separators, at most 48 characters.
  var fileName: String {
    let name = name.map { $0 == "/" || $0 == "\0" ? "_" : $0 }
    return String(name.prefix(48))
  }

  func parsedRole() throws(Invalid) -> Role {
    let roles: [String: Role] = [
      "organizer": .organizer, "guardian": .guardian, "child": .child, "adult": .adult,
    ]
    guard let found = roles[role] else {
      let advice = NearestWord.advice(role, in: ["organizer", "guardian", "child", "adult"])
      throw Invalid(fault: "'\(role)' is not a role. \(advice.dropLast())")
    }
    return found
  }

  func account(now: Instant = .now) throws(Invalid) -> Account {
    let region = region ?? "US"
    guard Account.isRegion(region) else {
      throw Invalid(fault: "'\(region)' is not a region. Write one such as FR or US-TX")
    }
    if let timeZone, TimeZone(identifier: timeZone) == nil {
      throw Invalid(fault: "'\(timeZone)' is not a time zone. Write one such as Europe/Paris")
    }
    return Account(
      birthdate: try birthday(now: now), region: region, declaration: try declaration(),
      timeZone: timeZone ?? "")
  }

  private func birthday(now: Instant) throws(Invalid) -> Account.Day? {
    guard let birthdate else { return nil }
    guard let day = Account.Day(iso: birthdate) else {
      throw Invalid(fault: "'\(birthdate)' is not a day. Write a birthdate such as 2014-05-17")
    }
    do throws(Problem) { try day.validate(asBirthdateAt: now) } catch {
      throw Invalid(fault: "the birthdate '\(birthdate)' is in the future")
    }
    return day
  }

  private func declaration() throws(Invalid) -> Account.Declaration {
    let isChild = role == "child"
    switch checked {
    case nil: return isChild ? .guardianDeclared : .selfDeclared
    case "payment": return isChild ? .guardianPaymentChecked : .paymentChecked
    case "governmentID": return isChild ? .guardianGovernmentIDChecked : .governmentIDChecked
    case "confirmed": return .confirmed
    case "other": return isChild ? .guardianCheckedByOtherMethod : .checkedByOtherMethod
    case let other?:
      let advice = NearestWord.advice(other, in: ["confirmed", "payment", "governmentID", "other"])
      throw Invalid(fault: "'\(other)' is not a value of 'checked'. \(advice.dropLast())")
    }
  }
}
