import Foundation
import Subprocess
import SystemPackage

/// The families of a cluster, in the format of the family file that `relayctl apply` reads.
package struct ClusterFamilies: Codable {
  package struct Member: Codable {
    package var name: String
    package var role: String
    package var region: String?
    package var birthdate: String?
    package var devices: Int?

    /// The name as a part of file names, as in credential files.
    package var fileName: String { AgentName.fileName(name) }
  }
  package struct Family: Codable {
    package var id: UInt64
    package var members: [Member]
  }
  package var families: [Family]

  /// The names of the agents that host the families' devices.
  package var agents: [String] {
    families.flatMap { family in
      let guardians = family.members.filter { ["organizer", "guardian"].contains($0.role) }
      let hasApps = guardians.count < family.members.count
      return (hasApps ? [AgentName.child(of: family.id)] : [])
        + guardians.map { AgentName.guardian($0.name, of: family.id) }
    }
  }

  private static let children = ["Emily", "Lian", "Noah", "Aya", "Luca", "Zoe"]
  private static let guardians = ["Rosa", "Wei", "Hannah", "Kenji", "Giulia", "Marie"]

  /// Families of two guardians and a child.
  package static func example(_ count: Int) -> ClusterFamilies {
    ClusterFamilies(
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

  /// A family for age ranges: Olivia is 14, Emily 9 and Ann 42; Sam is the organizer.
  package static func ages(_ id: Int) -> Family {
    func born(_ age: Int) -> String {
      var calendar = Calendar(identifier: .gregorian)
      calendar.timeZone = .current
      let day = calendar.dateComponents([.year, .month, .day], from: Date())
      // The birthday is not later than today in its year, and never on a leap day.
      return String(format: "%04d-%02d-%02d", day.year! - age, day.month!, min(day.day!, 28))
    }
    return Family(
      id: UInt64(id),
      members: [
        Member(name: "Sam", role: "organizer"),
        Member(name: "Olivia", role: "child", birthdate: born(14)),
        Member(name: "Emily", role: "child", birthdate: born(9)),
        Member(name: "Ann", role: "adult", birthdate: born(42)),
      ])
  }

  /// Reads a family file with relayctl, which checks it.
  ///
  /// - Throws: `ClusterError` with relayctl's explanation.
  package static func read(_ file: String) async throws -> ClusterFamilies {
    let result = try await run(
      .path(FilePath(Layout.program("relayctl"))), arguments: ["check", file, "--json"],
      output: .data(limit: 1 << 24), error: .string(limit: 1 << 20))
    guard result.terminationStatus.isSuccess else {
      throw ClusterError(result.standardError)
    }
    return try JSONDecoder().decode(ClusterFamilies.self, from: result.standardOutput)
  }

  func write(to file: URL) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    try encoder.encode(self).write(to: file, options: .atomic)
  }
}
