import DeclaredAgeRange
import PermissionKit
import PermissionKitTesting
import Testing

struct Window: PresentationAnchor {}
struct Declined: Error {}

private let service = AgeRangeService.shared

@Suite(.timeLimit(.minutes(10))) struct AgeRangeServiceTests {
  /// The bounds that the app gets; `nil`: declined.
  private func bounds(_ gates: (Int, Int?)) async throws -> [Int?]? {
    let response = try await service.requestAgeRange(ageGates: gates.0, gates.1, in: Window())
    guard case .sharing(let range) = response else { return nil }
    return [range.lowerBound, range.upperBound]
  }

  private func sharing(_ response: AgeRangeService.Response) throws -> AgeRangeService.AgeRange {
    guard case .sharing(let range) = response else { throw Declined() }
    return range
  }

  private func shared(_ first: Int, _ second: Int? = nil) async throws -> AgeRangeService.AgeRange {
    try sharing(try await service.requestAgeRange(ageGates: first, second, in: Window()))
  }

  private func expect(
    _ bounds: [Int?]?, _ gates: (Int, Int?), at location: SourceLocation = #_sourceLocation
  ) async throws {
    let told = try await self.bounds(gates)
    #expect(told == bounds, sourceLocation: location)
  }

  @Test(
    "D3, D4: Olivia is 14, Emily 9, Ann 42",
    arguments: [
      (.teen14, [13, 15], .guardianDeclared), (.child9, [nil, 12], .guardianDeclared),
      (.adult42, [16, nil], .selfDeclared),
    ] as [(SandboxCase, [Int?], AgeRangeService.AgeRangeDeclaration)])
  func ranges(
    _ sandbox: SandboxCase, _ expected: [Int?], _ declaration: AgeRangeService.AgeRangeDeclaration
  ) async throws {
    let family = TestFamily()
    await family.sandbox(sandbox)
    try await family.app {
      let range = try await shared(13, 16)
      #expect([range.lowerBound, range.upperBound] == expected)
      #expect(range.ageRangeDeclaration == declaration)
      #expect(
        range.activeParentalControls == (sandbox == .adult42 ? [] : .communicationLimits))
    }
  }

  @Test("D1: gates that are not allowed, and a gap between them, are an invalid request")
  func invalid() async throws {
    let family = TestFamily()
    await family.sandbox(.teen14)
    try await family.app {
      for gates in [(13, 14, nil), (16, 13, nil), (0, nil, nil), (13, nil, 18), (.max, nil, nil)]
        as [(Int, Int?, Int?)]
      {
        await #expect(throws: AgeRangeService.Error.invalidRequest) {
          try await service.requestAgeRange(ageGates: gates.0, gates.1, gates.2, in: Window())
        }
      }
      #expect(family.child.agePrompts == 0)
    }
  }

  @Test("D5: controls go when the guardian turns them off") func controls() async throws {
    let family = TestFamily()
    await family.sandbox(.teen14NoLimits)
    try await family.app {
      let range = try await shared(16)
      #expect(range.activeParentalControls == [])
      await family.organizer.setLimits(on: true)
      let now = try await shared(16)
      #expect(now.activeParentalControls == .communicationLimits)
    }
  }

  @Test("D6: always, ask first and never, chosen by a guardian") func sharing() async throws {
    let family = TestFamily()
    await family.sandbox(.teen14)
    family.child.will(.dontShare)
    try await family.app {
      try await expect(nil, (16, nil))
      #expect(family.child.agePrompts == 1)
      await family.organizer.setAgeSharing(.always)
      try await expect([nil, 15], (16, nil))
      #expect(family.child.agePrompts == 1 && family.child.ageNotifications == 1)
      await family.organizer.setAgeSharing(.never)
      try await expect(nil, (16, nil))
      #expect(family.child.agePrompts == 1 && family.child.ageNotifications == 1)
    }
  }

  @Test("D7: on the child's device the setting changes with the passcode, and not without")
  func passcode() async throws {
    let family = TestFamily()
    await family.sandbox(.teen14)
    await family.organizer.setPasscode("2580")
    try await family.app {
      for (typed, isRight) in [("1111", false), ("2580", true)] {
        family.child.will(.approveInPerson(passcode: typed))
        await family.child.setAgeSharing(.never)
        try await expect(isRight ? nil : [nil, 15], (16, nil))
      }
    }
  }

  @Test("D6: an adult changes the own setting") func adult() async throws {
    let family = TestFamily(isChild: false)
    await family.sandbox(.adult42)
    await family.child.setAgeSharing(.always)
    try await family.app {
      try await expect([16, nil], (16, nil))
      #expect(family.child.agePrompts == 0 && family.child.ageNotifications == 1)
    }
  }

  @Test("D8, D9: the answer stays for a year; share again gives the present one") func year()
    async throws
  {
    let family = TestFamily()
    await family.sandbox(.teen14)
    try await family.app {
      try await expect([nil, 14], (15, nil))
      await family.jump(by: .seconds(200 * 86_400))
      try await expect([nil, 14], (15, nil))
      await family.jump(by: .seconds(164 * 86_400))
      // Fifteen since about today: the answer is of last year all the same.
      try await expect([nil, 14], (15, nil))
      #expect(family.child.agePrompts == 1)
      await family.jump(by: .seconds(40 * 86_400))
      await family.child.shareAgeAgain()
      try await expect([15, nil], (15, nil))
      #expect(family.child.agePrompts == 2)
    }
  }

  @Test("D8: answers outlive the device") func restart() async throws {
    let family = TestFamily()
    await family.sandbox(.teen14)
    try await family.app {
      let first = try await service.requestAgeRange(ageGates: 13, 16, in: Window())
      await family.restartDevice()
      let second = try await service.requestAgeRange(ageGates: 13, 16, in: Window())
      #expect(second == first)
      #expect(family.child.agePrompts == 1)
    }
  }

  @Test("D11: not available without a birthdate, or outside of a device") func notAvailable()
    async throws
  {
    await #expect(throws: AgeRangeService.Error.notAvailable) {
      try await service.requestAgeRange(ageGates: 16, in: Window())
    }
    let family = TestFamily()
    try await family.app {
      for sandbox in [nil, SandboxCase.noBirthdate] {
        if let sandbox { await family.sandbox(sandbox) }
        await #expect(throws: AgeRangeService.Error.notAvailable) {
          try await service.requestAgeRange(ageGates: 16, in: Window())
        }
        await #expect(throws: AgeRangeService.Error.notAvailable) {
          try await service.isEligibleForAgeFeatures
        }
      }
    }
  }

  @Test("D12: a regulated region says what it requires, and sharing cannot be declined")
  func regulated() async throws {
    let family = TestFamily()
    await family.sandbox(.teen14Texas)
    family.child.will(.dontShare)
    try await family.app {
      var isEligible = try await service.isEligibleForAgeFeatures
      var features = try await service.requiredRegulatoryFeatures
      #expect(isEligible && features == Set(AgeRangeService.RegulatoryFeature.allCases))
      let range = try await shared(16)
      #expect(
        range.activeParentalControls
          == [.communicationLimits, .significantAppChangeApprovalRequired])
      await family.sandbox(.teen14)
      isEligible = try await service.isEligibleForAgeFeatures
      features = try await service.requiredRegulatoryFeatures
      #expect(!isEligible && features.isEmpty)
    }
  }

  @Test("D13: an app above the ceiling gets nothing") func ceiling() async throws {
    let family = TestFamily()
    await family.sandbox(.teen14)
    await family.organizer.setCeiling(.sixteen)
    try await family.app {
      await #expect(throws: AgeRangeService.Error.notAvailable) {
        try await service.requestAgeRange(ageGates: 16, in: Window())
      }
      await family.organizer.setCeiling(nil)
      try await expect([nil, 15], (16, nil))
    }
  }

  @Test("D14: an app that did not declare it gets an error, and the person sees nothing")
  func manifest() async throws {
    let family = TestFamily(declaresAgeRange: false)
    await family.sandbox(.teen14)
    try await family.app {
      await #expect(throws: AgeRangeService.Error.invalidRequest) {
        try await service.requestAgeRange(ageGates: 16, in: Window())
      }
      #expect(family.child.agePrompts == 0)
    }
  }

  @Test("D4: accounts that are checked say how") func checked() async throws {
    for (sandbox, declaration) in [
      (.teen16Payment, .guardianPaymentChecked), (.adult42ID, .governmentIDChecked),
    ] as [(SandboxCase, AgeRangeService.AgeRangeDeclaration)] {
      let family = TestFamily()
      await family.sandbox(sandbox)
      try await family.app {
        let range = try await shared(16)
        #expect(range.ageRangeDeclaration == declaration)
      }
    }
  }

  @Test("D4: a teen in no family group has declared the age") func alone() async throws {
    let family = TestFamily(isInFamily: false)
    await family.sandbox(.teen14)
    try await family.app {
      let range = try await shared(13, 16)
      #expect(range.ageRangeDeclaration == .selfDeclared && range.activeParentalControls == [])
    }
  }

  @Test("an adult takes note of a significant update, or does not") func acknowledgment()
    async throws
  {
    let family = TestFamily(isChild: false)
    await family.sandbox(.adult42)
    try await family.app {
      try await service.showSignificantUpdateAcknowledgment(
        in: Window(), updateDescription: "There are chats now.")
      family.child.will(TestChild.Answer.cancel)
      await #expect(throws: AgeRangeService.Error.notAvailable) {
        try await service.showSignificantUpdateAcknowledgment(
          in: Window(), updateDescription: "There are chats now.")
      }
    }
  }

  @Test("both frameworks answer as the case says", arguments: SandboxCase.allCases)
  func sandbox(_ sandbox: SandboxCase) async throws {
    let family = TestFamily()
    await family.sandbox(sandbox)
    try await family.app {
      let action = DeclaredAgeRangeAction()
      if let age = sandbox.age {
        let range = try sharing(try await action(ageGates: 13, 16, 18))
        #expect(range.lowerBound ?? 0 <= Int(age) && range.upperBound ?? 99 >= Int(age))
      }
      let isWithdrawn = await AskCenter.shared.isConsentWithdrawn
      #expect(isWithdrawn == (sandbox.consent == .revoked))
      let handle = CommunicationHandle(value: "ada", kind: .custom)
      try await CommunicationLimits.current.ask(PermissionQuestion(handle: handle), in: Window())
      for await response in CommunicationLimits.current.updates {
        // Where limits are off the default choice stands: not to approve.
        let isApproved = sandbox.consent == .approved && sandbox.limitsOn
        #expect(response.choice.answer == (isApproved ? .approval : .denial))
        break
      }
    }
  }
}
