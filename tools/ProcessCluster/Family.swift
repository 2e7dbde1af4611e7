import Foundation

/// A family of the file that `relayctl apply` reads.
package struct FamilyFile: Codable {
  package struct Member: Codable {
    package var name: String
    package var role: String
    package var region: String = "US"
    package var birthdate: String?
    package var devices: Int = 1
  }
  package struct Family: Codable {
    package var id: UInt64
    package var members: [Member]
  }
  package var families: [Family]

  private static let children = ["Emily", "Lian", "Noah", "Aya", "Luca", "Zoe"]
  private static let guardians = ["Rosa", "Wei", "Hannah", "Kenji", "Giulia", "Marie"]

  /// Families of two guardians and a child.
  package static func example(_ count: Int) -> FamilyFile {
    FamilyFile(
      families: (1...max(1, count)).map { id in
        let name = (id - 1) % children.count
        return Family(
          id: UInt64(id),
          members: [
            Member(name: guardians[name], role: "organizer"),
            Member(name: "Alex", role: "guardian"),
            Member(name: children[name], role: "child", birthdate: "2014-05-17"),
          ])
      })
  }

  func write(to file: URL) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    try encoder.encode(self).write(to: file, options: .atomic)
  }
}
