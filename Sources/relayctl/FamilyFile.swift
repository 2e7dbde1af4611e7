import FamilyModel
import Foundation

/// The file that describes families: YAML, of which JSON is a part.
struct FamilyFile: Codable {
  struct Member: Codable {
    var name: String
    /// `organizer`, `guardian`, `child` or `adult`.
    var role: String
    var region: String?
    /// `2014-05-17`.
    var birthdate: String?
    /// How many devices; one, unless said.
    var devices: Int?
    /// Of a child: whether communication limits are on; they are, unless said.
    var limits: Bool?
  }
  struct Family: Codable {
    var id: UInt64
    var members: [Member]
  }
  var families: [Family]
}

/// What is wrong in the file, and where.
struct FamilyFileError: Error, CustomStringConvertible {
  let description: String
}

extension FamilyFile.Member {
  func parsedRole(in family: UInt64) throws -> Role {
    switch role {
    case "organizer": return .organizer
    case "guardian": return .guardian
    case "child": return .child
    case "adult": return .adult
    default:
      throw FamilyFileError(
        description:
          "Family \(family), \(name): the role is organizer, guardian, child or adult, not \(role)."
      )
    }
  }

  func account(in family: UInt64) throws -> Account {
    var day: Account.Day?
    if let birthdate {
      let parts = birthdate.split(separator: "-").compactMap { Int32($0) }
      guard parts.count == 3, (1...12).contains(parts[1]), (1...31).contains(parts[2]) else {
        throw FamilyFileError(
          description: "Family \(family), \(name): a birthdate is written 2014-05-17.")
      }
      day = Account.Day(year: parts[0], month: UInt8(parts[1]), day: UInt8(parts[2]))
    }
    return Account(
      birthdate: day, region: region ?? "US",
      declaration: role == "child" ? .guardianDeclared : .selfDeclared)
  }
}
