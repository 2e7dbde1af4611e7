import FamilyHarness
import FamilyModel
import Testing

@testable import FamilyCore

/// Families with as many members as a roster may have.
@Suite struct FullFamilyTests {
  @Test("F4: a guardian learns that a full family takes no further child", arguments: [64, 63])
  func child(_ persons: Int) {
    var home = SignedFamily()
    let problem = home.change { roster in
      while roster.persons.count < persons {
        let id = PersonID(UInt32(roster.persons.count) + 1)
        roster.persons.append(Person(id: id, role: .adult, displayName: "\(id.rawValue)"))
      }
    }
    #expect(problem == nil)
    home.disconnect(2)
    home.guardian(2, .addChild(displayName: "Mia"))
    // The other guardian takes the last place meanwhile.
    home.guardian(1, .addChild(displayName: "Noah"))
    home.connect(2)
    home.wait(.minutes(5))
    #expect(home.guardians[2]!.link.roster.persons.count == Limits.persons)
    #expect(home.refused[2] == [.tooMany])
    #expect(home.refused[1] == (persons == 64 ? [.tooMany] : nil))
    #expect(home.guardians[1]!.link.pendingCommands.isEmpty)
    #expect(home.guardians[2]!.link.pendingCommands.isEmpty)
  }
}
