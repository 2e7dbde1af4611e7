import DeclaredAgeRange
import PermissionKit
import PermissionKitTesting
import Testing

struct Window: PresentationAnchor {}
struct Declined: Error {}

private let service = AgeRangeService.shared

@Suite(.timeLimit(.minutes(10))) struct AgeRangeServiceTests {
  /// The bounds that the app receives; `nil`: declined.
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
    "D3, D4: shares ranges and declarations for ages 14, 9 and 42",
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

  @Test("D1: rejects invalid gates, and a gap between gates")
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

  @Test("D5: controls follow the guardian's settings") func controls() async throws {
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

  @Test("D6: a guardian chooses always, ask first or never") func sharing() async throws {
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

  @Test("D7: changes the setting on the child's device only with the passcode")
  func passcode() async throws {
    let family = TestFamily()
    await family.sandbox(.teen14)
    await family.organizer.setPasscode("258013")
    try await family.app {
      for (typed, isRight) in [("111111", false), ("258013", true)] {
        family.child.will(.approveInPerson(passcode: typed))
        await family.child.setAgeSharing(.never)
        try await expect(isRight ? nil : [nil, 15], (16, nil))
      }
    }
  }

  @Test("D6: an adult changes the setting without a passcode") func adult() async throws {
    let family = TestFamily(isChild: false)
    await family.sandbox(.adult42)
    await family.child.setAgeSharing(.always)
    try await family.app {
      try await expect([16, nil], (16, nil))
      #expect(family.child.agePrompts == 0 && family.child.ageNotifications == 1)
    }
  }

  @Test("D8, D9: an answer stays for a year, unless the person shares again") func year()
    async throws
  {
    let family = TestFamily()
    await family.sandbox(.teen14)
    try await family.app {
      try await expect([nil, 14], (15, nil))
      await family.jump(by: .seconds(200 * 86_400))
      try await expect([nil, 14], (15, nil))
      await family.jump(by: .seconds(164 * 86_400))
      // Olivia turns 15 about now. The answer is still that of last year.
      try await expect([nil, 14], (15, nil))
      #expect(family.child.agePrompts == 1)
      await family.jump(by: .seconds(40 * 86_400))
      await family.child.shareAgeAgain()
      try await expect([15, nil], (15, nil))
      #expect(family.child.agePrompts == 2)
    }
  }

  @Test("X6: the test kit names the rule behind an answer") func explained() async throws {
    let family = TestFamily()
    await family.sandbox(.teen14)
    try await family.app {
      #expect(family.child.ageExplanations.isEmpty)
      try await expect([nil, 15], (16, nil))
      let explanations = family.child.ageExplanations
      #expect(explanations.map(\.rule) == [.rememberedAnswer])
      #expect(explanations.first?.range?.upper == 15 && explanations.first?.changesOn != nil)
      await family.organizer.setAgeSharing(.never)
      #expect(family.child.ageExplanations.map(\.rule) == [.never])
    }
  }

  @Test("D8: answers survive a restart of the device") func restart() async throws {
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

  @Test("D11: each missing part of the set-up has its error") func notAvailable() async throws {
    await #expect(throws: AgeRangeService.Error.notAvailable) {
      try await service.requestAgeRange(ageGates: 16, in: Window())
    }
    let family = TestFamily()
    try await family.app {
      for (sandbox, error) in [(nil, .invalidAccount), (.noBirthdate, .declinedOnboarding)]
        as [(SandboxCase?, AgeRangeService.Error)]
      {
        if let sandbox { await family.sandbox(sandbox) }
        await #expect(throws: error) {
          try await service.requestAgeRange(ageGates: 16, in: Window())
        }
        await #expect(throws: error) { try await service.isEligibleForAgeFeatures }
      }
    }
  }

  @Test("D12: a regulated region reports its duties and always shares")
  func regulated() async throws {
    let family = TestFamily()
    await family.sandbox(.teen14Texas)
    family.child.will(.dontShare)
    try await family.app {
      var isEligible = try await service.isEligibleForAgeFeatures
      var features = try await service.requiredRegulatoryFeatures
      #expect(isEligible)
      #expect(
        features == [.declaredAgeRangeRequired, .significantAppChangeRequiresParentalConsent])
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

  @Test("D13: rejects every request of an app above the ceiling") func ceiling() async throws {
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

  @Test("D14: rejects an app without usesDeclaredAgeRange, without a prompt")
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

  @Test("D4: reports how an account was checked") func checked() async throws {
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

  @Test("D4: a teen without a family is self-declared") func alone() async throws {
    let family = TestFamily(isInFamily: false)
    await family.sandbox(.teen14)
    try await family.app {
      let range = try await shared(13, 16)
      #expect(range.ageRangeDeclaration == .selfDeclared && range.activeParentalControls == [])
    }
  }

  @Test("acknowledging an update returns; dismissing it throws") func acknowledgment()
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

  @Test(
    "D15: both frameworks answer as each of Apple's cases defines",
    arguments: [
      (.under13, [nil, 12], .guardianPaymentChecked, true, .approve),
      (.ages13To15, [13, 15], .guardianPaymentChecked, true, .approve),
      (.ages16To17, [16, 17], .guardianPaymentChecked, true, .decline),
      (.adultSelfDeclared, [18, nil], .selfDeclared, false, nil),
      (.adultPaymentChecked, [18, nil], .paymentChecked, false, nil),
    ]
      as [(SandboxCase, [Int?], AgeRangeService.AgeRangeDeclaration, Bool, PermissionChoice?)])
  func apple(
    _ sandbox: SandboxCase, _ bounds: [Int?], _ declaration: AgeRangeService.AgeRangeDeclaration,
    _ hasNotice: Bool, _ choice: PermissionChoice?
  ) async throws {
    let family = TestFamily()
    await family.sandbox(sandbox)
    try await family.app {
      let range = try await shared(7)
      #expect([range.lowerBound, range.upperBound] == bounds)
      #expect(range.ageRangeDeclaration == declaration)
      let features = try await service.requiredRegulatoryFeatures
      #expect(features.contains(.significantAppChangeRequiresParentalConsent) == hasNotice)
      #expect(family.child.agePrompts == 0)
      let question = PermissionQuestion(handle: CommunicationHandle(value: "ada", kind: .custom))
      guard let choice else {
        await #expect {
          try await CommunicationLimits.current.ask(question, in: Window())
        } throws: { error in
          if case AskError.systemError = error { true } else { false }
        }
        return
      }
      try await CommunicationLimits.current.ask(question, in: Window())
      for await response in CommunicationLimits.current.updates {
        #expect(response.choice == choice)
        break
      }
    }
  }

  @Test(
    "both frameworks answer as each case with an account defines",
    arguments: SandboxCase.allCases.filter { $0.answers == nil })
  func sandbox(_ sandbox: SandboxCase) async throws {
    let family = TestFamily()
    await family.sandbox(sandbox)
    try await family.app {
      let action = DeclaredAgeRangeAction()
      let handle = CommunicationHandle(value: "ada", kind: .custom)
      let isWithdrawn = await AskCenter.shared.isConsentWithdrawn
      #expect(isWithdrawn == (sandbox.consent == .revoked))
      if isWithdrawn {
        await #expect(throws: AgeRangeService.Error.self) { try await action(ageGates: 13, 16, 18) }
        await #expect(throws: AskError.self) {
          try await CommunicationLimits.current.ask(
            PermissionQuestion(handle: handle), in: Window())
        }
        return
      }
      if let age = sandbox.age {
        let range = try sharing(try await action(ageGates: 13, 16, 18))
        #expect(range.lowerBound ?? 0 <= Int(age) && range.upperBound ?? 99 >= Int(age))
      }
      try await CommunicationLimits.current.ask(PermissionQuestion(handle: handle), in: Window())
      for await response in CommunicationLimits.current.updates {
        // With limits off the default choice is the response: decline.
        let isApproved = sandbox.consent == .approved && sandbox.limitsOn
        #expect(response.choice.answer == (isApproved ? .approval : .denial))
        break
      }
    }
  }
}
