import Foundation
import PermissionKit
import PermissionKitTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct ChatTests {
  private let family = TestFamily(child: "Emily", guardians: ["Rosa", "Alex"])
  private let chat = Chat(
    participants: [CommunicationHandle(value: "ada", kind: .custom)], preview: "Hello!")

  @Test func approvalOpensTheChat() async throws {
    family.guardian("Rosa").will(.approve)
    try await family.app {
      #expect(await chat.visiblePreview == nil)
      try await chat.askForPermission()
      var updates = CommunicationLimits.current.updates.makeAsyncIterator()
      #expect(try await updates.next()?.choice == .approve)
      #expect(await chat.visiblePreview == "Hello!")
    }
  }

  @Test func denialKeepsTheChatHidden() async throws {
    family.guardian("Alex").will(.decline, after: .seconds(60))
    try await family.app {
      try await chat.askForPermission()
      await family.advance(by: .seconds(60))
      var updates = CommunicationLimits.current.updates.makeAsyncIterator()
      #expect(try await updates.next()?.choice == .decline)
      #expect(await chat.visiblePreview == nil)
    }
  }

  @Test func cancellationSendsNothing() async throws {
    family.child.will(.cancel)
    try await family.app { try await chat.askForPermission() }
    #expect(family.organizer.openQuestions.isEmpty)
  }
}
