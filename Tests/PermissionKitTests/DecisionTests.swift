import Foundation
import PermissionKit
import PermissionKitTesting
import Testing

/// Decisions in force: approvals that end, and consent that is withdrawn and given back.
@Suite(.timeLimit(.minutes(10))) struct DecisionTests {
  private let family = TestFamily()

  @Test("Q12: an approval for an hour is known for an hour, also while the device is away")
  func ending() async throws {
    let hour = PermissionChoice(
      id: "hour", title: "For an hour", answer: .approval, end: .after(.seconds(3_600)))
    family.organizer.will(.choose("hour"))
    try await family.app {
      let question = PermissionQuestion(handles: [ada])
      question.choices = [hour, .decline]
      try await CommunicationLimits.current.ask(question, in: Nowhere())
      var updates = CommunicationLimits.current.updates.makeAsyncIterator()
      #expect(try await updates.next()?.choice == hour)
      await family.advance(by: .seconds(3_590))
      #expect(await CommunicationLimits.current.isKnownHandle(ada))
      await family.advance(by: .seconds(20))
      #expect(await !CommunicationLimits.current.isKnownHandle(ada))
      question.choices = [
        PermissionChoice(id: "no", title: "No", answer: .denial, end: hour.end), .decline,
      ]
      await #expect(throws: AskError.self) {
        try await CommunicationLimits.current.ask(question, in: Nowhere())
      }
    }
  }

  @Test("R9: an app without consent knows nobody and asks nobody until the consent is back")
  func consentGivenBack() async throws {
    family.organizer.will(.approve)
    try await family.app {
      try await ask(ada)
      for await _ in CommunicationLimits.current.updates { break }
      await family.organizer.withdrawConsent()
      #expect(await !CommunicationLimits.current.isKnownHandle(ada))
      let error = await #expect(throws: AskError.self) { try await ask(phone) }
      #expect(error?.errorDescription?.contains("problem 414") ?? false)
    }
    await family.organizer.giveConsent()
    try await family.app {
      #expect(await !AskCenter.shared.isConsentWithdrawn)
      #expect(await CommunicationLimits.current.isKnownHandle(ada))
      try await ask(phone)
    }
  }

  @Test("R9: reports a withdrawn consent until a guardian approves an update") func consent()
    async throws
  {
    family.organizer.will(.approve)
    try await family.app {
      #expect(await !AskCenter.shared.isConsentWithdrawn)
      await family.organizer.withdrawConsent()
      #expect(await AskCenter.shared.isConsentWithdrawn)
    }
    try await family.app {
      #expect(await AskCenter.shared.isConsentWithdrawn)
      let question = PermissionQuestion(
        significantAppUpdateTopic: SignificantAppUpdateTopic(description: "Again"))
      try await AskCenter.shared.ask(question, in: Nowhere())
      var withdrawals = await AskCenter.shared.consentWithdrawals.makeAsyncIterator()
      while try await withdrawals.next() == true {}
      #expect(await !AskCenter.shared.isConsentWithdrawn)
    }
  }
}
