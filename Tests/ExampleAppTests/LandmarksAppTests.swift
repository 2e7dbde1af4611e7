import Foundation
import PermissionKit
import PermissionKitTesting
import Testing

/// The tests that the developers of Landmarks write.
@Suite(.timeLimit(.minutes(10))) struct LandmarksAppTests {
  private let family = TestFamily(child: "Emily", guardians: ["Rosa", "Alex"])
  private let model = LandmarksModel()
  private let chat = Conversation(
    participants: [
      CommunicationHandle(value: "dragonslayer42", kind: .custom),
      CommunicationHandle(value: "progamer67", kind: .custom),
    ], preview: "Have you seen the lighthouse?")

  @Test("X1, K4: an approval opens the chat") func opens() async throws {
    family.guardian("Rosa").will(.approve)
    try await family.app {
      #expect(await chat.visiblePreview == nil)
      try await model.askToChat()
      await model.handleUpdates { $0.answers.count == 1 }
      #expect(await chat.visiblePreview == "Have you seen the lighthouse?")
    }
    #expect(family.child.notifications == 1)
  }

  @Test("X1, R4: a denial keeps the chat hidden") func declined() async throws {
    family.guardian("Alex").will(.decline)
    try await family.app {
      try await model.askToChat()
      await model.handleUpdates { $0.answers.count == 1 }
      #expect(model.answers.values.allSatisfy { !$0 })
      #expect(await chat.visiblePreview == nil)
    }
  }

  @Test("R6: a decision launches the sleeping app, which handles it once")
  func wakes() async throws {
    try await family.app {
      let listening = Task { await LandmarksModel().handleUpdates() }
      try await family.untilListening()
      try await model.askToChat()
      listening.cancel()
    }
    let (handled, continuation) = AsyncStream.makeStream(of: UUID.self)
    family.whenLaunched {
      for await update in CommunicationLimits.current.updates {
        continuation.yield(update.question.id)
      }
    }
    await family.guardian("Rosa").answer(.approve)
    var first = handled.makeAsyncIterator()
    #expect(await first.next() != nil)
    #expect(family.launches == 1)
    // The app never exits, so the device ends it after 30 seconds.
    await family.advance(by: .seconds(31))
    try await family.app { #expect(await chat.visiblePreview != nil) }
  }

  @Test("S1: the launched app reports a decision to its own server despite failures")
  func webhook() async throws {
    let server = OwnServer()
    let webhook = try await server.start()
    try await family.app {
      let listening = Task { await LandmarksModel().handleUpdates() }
      try await family.untilListening()
      try await model.askToMessage(avatar: nil)
      listening.cancel()
    }
    family.whenLaunched {
      for await update in CommunicationLimits.current.updates {
        try await webhook.send(Report(question: update.question, choice: update.choice))
      }
    }
    // The server rejects the first request. The app fails, and the device launches it again.
    await family.guardian("Rosa").answer(.approve)
    await family.advance(by: .seconds(60))
    let reports = try server.reports
    #expect(reports.count >= 2 && Set(reports.map(\.question.id)).count == 1)
    for report in reports {
      #expect(report.choice == .approve && report.question.topic.actions == [.message])
      let people = report.question.topic.personInformation
      #expect(people.map(\.handle.value) == ["dragonslayer42", "+1 555 0100"])
      #expect(people[0].nameComponents?.givenName == "Ada")
    }
    // More launches are possible if the server answers later than the end of the app's 30 seconds.
    #expect(family.launches >= 2)
  }

  @Test("R9: a withdrawal hides the chat again") func withdrawn() async throws {
    family.organizer.will(.approve)
    try await family.app {
      try await model.askToChat()
      await model.handleUpdates { $0.answers.count == 1 }
      await family.organizer.withdraw(CommunicationHandle(value: "progamer67", kind: .custom))
      #expect(await chat.visiblePreview == nil)
    }
  }

  @Test("R8, Q7: approves with a custom choice; an expired question approves nothing")
  func choices() async throws {
    family.organizer.will(.choose("hour"), after: .seconds(30))
    try await family.app {
      let ada = CommunicationHandle(value: "ada", kind: .custom)
      try await model.askForSomeTime(ada)
      #expect(family.guardian("Alex").openQuestions == [[ada]])
      await family.advance(by: .seconds(30))
      await model.handleUpdates { $0.answers.count == 1 }
      let late = CommunicationHandle(value: "late", kind: .custom)
      try await model.askForSomeTime(late, until: family.now + 10)
      await family.advance(by: .seconds(60))
      #expect(await !CommunicationLimits.current.isKnownHandle(late))
      #expect(await CommunicationLimits.current.isKnownHandle(ada))
    }
  }

  @Test("Q5: a guardian decides about a significant update")
  func update() async throws {
    family.organizer.will(.approve)
    try await family.app {
      try await model.askAboutNewChats()
      #expect(model.mayUseNewChats == true)
    }
  }
}

@Suite(.timeLimit(.minutes(10))) struct PhotoSharingTests {
  @Test(
    "D3: enables photo sharing from 16 on",
    arguments: [(.child9, false), (.teen14, false), (.teen16Payment, true), (.adult42, true)]
      as [(SandboxCase, Bool)])
  func photos(_ sandbox: SandboxCase, _ isEnabled: Bool) async throws {
    let family = TestFamily(child: "Olivia")
    let photos = PhotoSharing()
    await family.sandbox(sandbox)
    try await family.app { await photos.requestAgeRange() }
    #expect(photos.isEnabled == isEnabled && photos.problem == nil)
  }

  @Test("D5, D6: needs no approval without limits; a declined range disables photos")
  func others() async throws {
    let family = TestFamily(child: "Olivia")
    let photos = PhotoSharing()
    await family.sandbox(.teen14NoLimits)
    try await family.app { await photos.requestAgeRange() }
    #expect(!photos.isAskingNeeded)
    family.child.will(.dontShare)
    await family.child.shareAgeAgain()
    try await family.app { await photos.requestAgeRange() }
    #expect(!photos.isEnabled && photos.problem == nil)
  }
}
