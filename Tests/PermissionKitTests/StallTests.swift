import Foundation
import PermissionKit
import PermissionKitTesting
import Testing

/// Tests of apps that cannot go on, and the waits of the test kit.
@Suite(.timeLimit(.minutes(10))) struct StallTests {
  private let family = TestFamily(guardians: ["Rosa", "Alex"], stallTime: .milliseconds(400))

  private func ask() async throws {
    let question = PermissionQuestion(handle: CommunicationHandle(value: "ada", kind: .custom))
    try await CommunicationLimits.current.ask(question, in: Nowhere())
  }

  /// Runs an app that waits for a response; returns the reason why the wait ended.
  private func reason(asks: Bool = true) async throws -> String {
    do {
      try await family.app {
        if asks { try await ask() }
        for await _ in CommunicationLimits.current.updates { return }
      }
      return "none"
    } catch let stalled as TestFamily.Stalled { return stalled.description }
  }

  @Test("X1: a test without an answer fails with the guardians' names") func noAnswer() async throws
  {
    let reason = try await reason()
    #expect(reason.contains("guardian(“Rosa”).will") && reason.contains("guardian(“Alex”).will"))
  }

  @Test("X1: a test with a delayed answer fails with the time to advance") func delayed()
    async throws
  {
    family.guardian("Rosa").will(.approve, after: .seconds(30))
    #expect(
      try await reason().contains("Rosa answers in 30.0 s of the family's clock: call advance"))
  }

  @Test("X1: a test with an impossible choice fails with the possible ones") func noChoice()
    async throws
  {
    family.guardian("Rosa").will(.choose("nope"))
    #expect(
      try await reason().contains(
        "chooses “nope”, and the question has the choices approve, decline"))
  }

  @Test("X1: a test without a question, or without a network, fails with the cause")
  func noQuestion() async throws {
    #expect(try await reason(asks: false).contains("No question is open"))
    await family.child.setOnline(false)
    #expect(try await reason().contains("setOnline(true)"))
  }

  @Test("X1: an answer of another task is no stall") func otherTask() async throws {
    try await family.app {
      try await ask()
      async let answered: Int = {
        try await Task.sleep(for: .milliseconds(250))
        return await family.organizer.answer(.approve)
      }()
      for await response in CommunicationLimits.current.updates {
        #expect(response.choice == .approve)
        break
      }
      #expect(try await answered == 1)
    }
  }

  @Test("X1: settle waits for loops in the foreground") func settles() async throws {
    actor Count {
      var value = 0
      func increment() { value += 1 }
    }
    family.organizer.will(.approve)
    try await family.app {
      let count = Count()
      let loop = Task {
        for await _ in CommunicationLimits.current.updates {
          try? await Task.sleep(for: .milliseconds(100))
          await count.increment()
        }
      }
      try await family.untilListening()
      try await ask()
      await family.settle()
      #expect(await count.value == 1 && family.unhandled == 0)
      loop.cancel()
    }
  }

  @Test("X1: counts the responses that the app has not handled") func unhandled() async throws {
    family.organizer.will(.approve)
    try await family.app {
      try await ask()
      #expect(family.unhandled == 1)
      for await _ in CommunicationLimits.current.updates { break }
      await family.settle()
      #expect(family.unhandled == 0)
    }
  }

  @Test("X1: waiting for a loop that never opens throws", .timeLimit(.minutes(10)))
  func neverListening() async throws {
    await #expect(throws: TestFamily.Stalled.self) {
      try await family.app { try await family.untilListening() }
    }
  }

  @Test("X1: an unknown guardian and a short passcode end the test with the rule")
  func traps() async throws {
    let name = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = TestFamily(guardians: ["Rosa", "Alex"]).guardian("Roza") }
    let text = String(decoding: name.standardErrorContent, as: UTF8.self)
    #expect(text.contains("“Roza”") && text.contains("“Rosa”, “Alex”"))
    let passcode = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { await TestFamily().organizer.setPasscode("12") }
    #expect(String(decoding: passcode.standardErrorContent, as: UTF8.self).contains("306"))
  }
}
