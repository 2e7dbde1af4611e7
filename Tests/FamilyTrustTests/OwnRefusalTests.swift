import FamilyCore
import FamilyModel
import Testing

@Suite struct OwnRefusalTests {
  @Test("a device tells its owner about a command that it cannot seal any more")
  func removedChild() {
    var home = SignedFamily()
    home.disconnect(1)
    home.guardian(
      1,
      .setAccount(
        SignedFamily.emily,
        Account(
          birthdate: Account.Day(year: 2014, month: 5, day: 17), region: "US-TX",
          declaration: .guardianDeclared)))
    #expect(home.guardians[1]!.link.pendingCommands.count == 1)
    let removal = home.guardians[2]!.link.roster(removing: SignedFamily.emily)
    home.guardian(2, .setRoster(removal))
    home.connect(1)
    home.wait(.seconds(5))
    #expect(home.guardians[1]!.link.pendingCommands.isEmpty)
    #expect(home.refused[1] == [.notPermitted])
  }

  @Test("a child learns that a question of before the change of its role was not sent")
  func grownUp() {
    var home = SignedFamily()
    home.disconnect(3)
    home.ask("ada")
    #expect(home.children[3]!.link.pendingCommands.count == 1)
    #expect(home.change { $0.persons[2].role = .adult } == nil)
    home.connect(3)
    home.wait(.seconds(5))
    #expect(home.children[3]!.link.pendingCommands.isEmpty)
    #expect(home.refused[3] == [.notPermitted])
  }
}
