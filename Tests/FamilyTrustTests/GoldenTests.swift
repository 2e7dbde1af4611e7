import FamilyModel
import Foundation
import Testing

@testable import FamilyCore

/// Today's code beside the files of each released version.
@Suite(.serialized) struct GoldenTests {
  @Test(
    "O5: the golden family is written (tools/golden)", .enabled(if: Golden.written != nil))
  func write() throws {
    try GoldenFamily(folder: try #require(Golden.written)).write(GoldenFamily.play())
  }

  @Test("O5: stores of each released version open, and their content is derived again")
  func opens() throws {
    #expect(!Golden.versions.isEmpty)
    for version in Golden.versions {
      let golden = GoldenFamily(folder: version)
      let home = try golden.read()
      #expect(Golden.Derived(home) == (try golden.derived), "\(version.lastPathComponent)")
      #expect(home.problems == [:] && home.appProblems == [:])
    }
  }

  @Test("O5: a family of each released version continues with today's programs")
  func continues() throws {
    for version in Golden.versions {
      var home = try GoldenFamily(folder: version).read()
      for id: UInt32 in [1, 2, 3, 4] { home.connect(id) }
      home.wait(.seconds(5))
      home.answer(home.ask("later"), "approve", by: 2)
      for id: UInt32 in [3, 4] {
        #expect(home.children[id]!.link.pendingCommands.isEmpty)
        let known = home.children[id]!.knownHandles(in: SignedFamily.app).map(\.value)
        #expect(known.contains("later") && known.contains("ada"))
      }
      #expect(home.guardians[1]!.link.pendingCommands.isEmpty)
      #expect(home.problems == [:] && home.appProblems == [:] && home.lost.isEmpty)
    }
  }
}
