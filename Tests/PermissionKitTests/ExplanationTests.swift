import Foundation
import PermissionKit
import PermissionKitTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct ExplanationTests {
  private let family = TestFamily(guardians: ["Rosa", "Alex"])

  @Test("K1, K5: an app that spells a name in another normal form sees it known")
  func spelling() async throws {
    let composed = CommunicationHandle(value: "Zo\u{EB}", kind: .custom)
    let decomposed = CommunicationHandle(value: "Zoe\u{308}", kind: .custom)
    family.guardian("Rosa").will(.approve)
    try await family.app {
      try await ask(decomposed)
      _ = await next()
      #expect(await CommunicationLimits.current.knownHandles(in: [composed]) == [composed])
    }
    // The next process answers from the app's store.
    try await family.app {
      #expect(await CommunicationLimits.current.isKnownHandle(composed))
      #expect(await CommunicationLimits.current.isKnownHandle(decomposed))
    }
  }

  @Test("X6: a test asks why a handle is hidden")
  func explains() async throws {
    #expect(family.explain(ada).rule == "never-asked")
    try await family.app { try await ask(ada, phone) }
    #expect(family.explain(ada).rule == "waiting" && !family.explain(ada).isKnown)
    family.guardian("Alex").will(.approve)
    let question = family.organizer.openQuestions
    #expect(question.count == 1)
    await family.organizer.setContact(phone)
    let explanation = family.explain(phone)
    #expect(explanation.isKnown && explanation.rule == "contact")
    #expect(explanation.guardian == "Rosa" && explanation.date == family.now)
    let other = CommunicationHandle(value: "15550100", kind: .phoneNumber)
    #expect(family.explain(other).similar.map(\.value) == ["+15550100"])
    #expect(family.explain(other).description == "not known: never-asked; similar: +15550100")
  }

  @Test("Q10: a handle that is not of its kind is an invalid question")
  func invalid() async throws {
    try await family.app {
      await #expect(throws: AskError.self) {
        try await ask(CommunicationHandle(value: "hello", kind: .phoneNumber))
      }
    }
  }
}
