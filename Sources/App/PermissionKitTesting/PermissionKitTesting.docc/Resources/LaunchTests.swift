import Foundation
import PermissionKit
import PermissionKitTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct LaunchTests {
  private let family = TestFamily(child: "Emily", guardians: ["Rosa"])
  private let chat = Chat(
    participants: [CommunicationHandle(value: "ada", kind: .custom)], preview: "Hello!")

  @Test func anApprovalLaunchesTheSleepingApp() async throws {
    try await family.app {
      let updates = Task { await Decisions().run() }
      try await family.untilListening()
      try await chat.askForPermission()
      updates.cancel()
    }
    let decisions = Decisions()
    family.whenLaunched { await decisions.run() }
    await family.organizer.answer(.approve)
    await family.settle()
    #expect(family.launches == 1)
    #expect(await decisions.isApproved.values.elementsEqual([true]))
  }

  @Test func aCrashedAppReceivesTheResponseAgain() async throws {
    family.organizer.will(.approve)
    var first: UUID?
    try await family.app {
      try await chat.askForPermission()
      var updates = CommunicationLimits.current.updates.makeAsyncIterator()
      first = try await updates.next()?.question.id
      family.crashApp()
    }
    try await family.app {
      var updates = CommunicationLimits.current.updates.makeAsyncIterator()
      let second = try await updates.next()?.question.id
      #expect(second == first)
    }
  }
}
