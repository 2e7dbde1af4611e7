import DeclaredAgeRange
import PermissionKitTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct PhotoTests {
  @Test(arguments: [(.child9, false), (.teen14, false), (.adult42, true)] as [(SandboxCase, Bool)])
  func photosAreForPeopleOf16AndMore(_ sandbox: SandboxCase, _ isEnabled: Bool) async throws {
    let family = TestFamily(child: "Olivia")
    await family.sandbox(sandbox)
    try await family.app {
      var photos = PhotoFeature()
      try await photos.update()
      #expect(photos.isEnabled == isEnabled)
    }
  }

  @Test func anAnswerStaysForAYear() async throws {
    let family = TestFamily(child: "Olivia")
    await family.sandbox(.teen14)
    try await family.app {
      var photos = PhotoFeature()
      for _ in 0..<3 {
        try await photos.update()
        await family.jump(by: .seconds(100 * 86_400))
      }
      #expect(family.child.agePrompts == 1)
    }
  }

  @Test func withoutABirthdateTheAppExplains() async throws {
    let family = TestFamily(child: "Olivia")
    await family.sandbox(.noBirthdate)
    try await family.app {
      var photos = PhotoFeature()
      #expect(await photos.updateOrExplain() != nil)
    }
  }

  @Test func texasAsksTheGuardians() async throws {
    let family = TestFamily(child: "Olivia")
    await family.sandbox(.teen14Texas)
    family.organizer.will(.never)
    try await family.app {
      try await UpdateConsent(description: "Chats are new.").obtain(isChild: true)
    }
    #expect(family.organizer.openQuestions.count == 1)
  }
}
