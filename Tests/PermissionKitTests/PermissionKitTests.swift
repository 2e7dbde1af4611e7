import Foundation
import PermissionKit
import PermissionKitTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct AskingTests {
  private let family = TestFamily(guardians: ["Rosa", "Alex"])

  @Test("A5: a cancelled question sends nothing and has no response") func cancel() async throws {
    family.child.will(.cancel)
    family.organizer.will(.approve)
    try await family.app {
      try await ask(ada)
      await family.advance(by: .seconds(3_600))
      #expect(await !CommunicationLimits.current.isKnownHandle(ada))
    }
    #expect(family.organizer.openQuestions.isEmpty)
    #expect(family.launches == 0)
  }

  @Test("A6: asks about the same people once; a second ask returns")
  func twice() async throws {
    try await family.app {
      try await ask(ada)
      try await ask(ada)
      #expect(family.organizer.openQuestions == [[ada]])
    }
  }

  @Test(
    "A4: the passcode decides on the child's device; a wrong passcode decides nothing")
  func inPerson() async throws {
    await family.organizer.setPasscode("258013")
    try await family.app {
      family.child.will(.approveInPerson(passcode: "0000"))
      try await ask(ada)
      #expect(await !CommunicationLimits.current.isKnownHandle(ada))
      family.child.will(.approveInPerson(passcode: "258013"))
      let id = try await ask(ada)
      let response = await next()
      #expect(response?.question.id == id)
      #expect(response?.choice == .approve)
      #expect(await CommunicationLimits.current.isKnownHandle(ada))
    }
    #expect(family.organizer.openQuestions.isEmpty)
  }

  @Test("Q8, F7: without a family the default choice is the response") func noFamily()
    async throws
  {
    let alone = TestFamily(isInFamily: false)
    try await alone.app {
      let id = try await ask(ada)
      let response = await next()
      #expect(response?.question.id == id)
      #expect(response?.choice == .decline)
    }
  }

  @Test("Q8, F6: asks the guardians only while limits are on")
  func limits() async throws {
    await family.organizer.setLimits(on: false)
    try await family.app {
      let question = PermissionQuestion(handle: ada)
      question.defaultChoice = .approve
      try await CommunicationLimits.current.ask(question, in: Nowhere())
      #expect(await next()?.choice == .approve)
      #expect(family.organizer.openQuestions.isEmpty)
      await family.organizer.setLimits(on: true)
      try await ask(phone)
      #expect(family.organizer.openQuestions == [[phone]])
    }
  }

  @Test("Q9: an adult's question throws a system error") func adult() async throws {
    let adult = TestFamily(child: "Ben", isChild: false)
    try await adult.app {
      await #expect {
        try await ask(ada)
      } throws: { error in
        if case AskError.systemError = error { true } else { false }
      }
    }
  }

  @Test("Q10: rejects a malformed question without a prompt")
  func invalid() async throws {
    try await family.app {
      let long = CommunicationHandle(value: String(repeating: "a", count: 400), kind: .custom)
      let past = PermissionQuestion(handle: ada)
      past.expirationDate = family.now - 1
      let never = PermissionQuestion(handle: ada)
      never.expirationDate = Date(timeIntervalSince1970: .nan)
      let noDefault = PermissionQuestion(handle: ada)
      noDefault.choices = [.approve]
      let twice = PermissionQuestion(handle: ada)
      twice.choices = [.decline, .decline]
      let empty = PermissionQuestion(handles: [])
      let blank = PermissionQuestion(handle: CommunicationHandle(value: " ", kind: .custom))
      for question in [
        past, never, noDefault, twice, empty, blank, PermissionQuestion(handle: long),
      ] {
        await #expect {
          try await CommunicationLimits.current.ask(question, in: Nowhere())
        } throws: { error in
          if case AskError.invalidQuestion = error { true } else { false }
        }
      }
    }
    #expect(family.organizer.openQuestions.isEmpty)
  }

  @Test("K1: without a device no handle is known, and asking throws") func nowhere()
    async throws
  {
    #expect(await CommunicationLimits.current.knownHandles(in: [ada]).isEmpty)
    await #expect {
      try await ask(ada)
    } throws: { error in
      if case AskError.notAvailable = error { true } else { false }
    }
  }
}

@Suite(.timeLimit(.minutes(10))) struct ResponseTests {
  private let family = TestFamily(guardians: ["Rosa", "Alex"])

  @Test("R7: delivers earlier responses first, in order") func order()
    async throws
  {
    family.organizer.will(.approve)
    try await family.app {
      var asked: [UUID] = []
      for name in ["a", "b", "c"] {
        asked.append(try await ask(CommunicationHandle(value: name, kind: .custom)))
      }
      var updates = CommunicationLimits.current.updates.makeAsyncIterator()
      for id in asked { #expect(try await updates.next()?.question.id == id) }
    }
  }

  @Test("R6, X2: delivers a response again after a crash, and only until it is handled")
  func crash() async throws {
    family.organizer.will(.approve)
    var id: UUID?
    try await family.app {
      id = try await ask(ada)
      #expect(await next()?.question.id == id)
      family.crashApp()
    }
    try await family.app {
      var updates = CommunicationLimits.current.updates.makeAsyncIterator()
      #expect(try await updates.next()?.question.id == id)
      // Requesting the next response marks this one as handled.
      let other = try await ask(phone)
      #expect(try await updates.next()?.question.id == other)
    }
    try await family.app {
      let third = try await ask(CommunicationHandle(value: "c", kind: .custom))
      var updates = CommunicationLimits.current.updates.makeAsyncIterator()
      // The second process ended normally after its last response, which is therefore handled.
      #expect(try await updates.next()?.question.id == third)
    }
  }

  @Test("R6: retries a failed launch with growing delays until the app handles the response")
  func relaunch() async throws {
    try await family.app {
      let listening = Task { await next() }
      try await family.untilListening()
      try await ask(ada)
      listening.cancel()
    }
    await family.organizer.answer(.approve)
    #expect(family.launches == 1)
    await family.advance(by: .seconds(10))
    let launches = family.launches
    #expect((4...7).contains(launches))
    let (handled, continuation) = AsyncStream.makeStream(of: PermissionChoice.self)
    family.whenLaunched {
      for await update in CommunicationLimits.current.updates { continuation.yield(update.choice) }
    }
    await family.advance(by: .seconds(60))
    var choices = handled.makeAsyncIterator()
    #expect(await choices.next() == .approve)
    #expect(family.launches == launches + 1)
  }

  @Test("R7: each topic has its own loop and its own responses")
  func topics() async throws {
    family.organizer.will(.approve)
    try await family.app {
      let update = PermissionQuestion(
        significantAppUpdateTopic: SignificantAppUpdateTopic(description: "New chats"))
      try await AskCenter.shared.ask(update, in: Nowhere())
      let id = try await ask(ada)
      var people = AskCenter.shared.responses(for: CommunicationTopic.self).makeAsyncIterator()
      #expect(try await people.next()?.question.id == id)
      family.crashApp()
    }
    // The earlier response is unhandled, so the next process receives it again.
    try await family.app {
      var updates = AskCenter.shared.responses(for: SignificantAppUpdateTopic.self)
        .makeAsyncIterator()
      let response = try await updates.next()
      #expect(response?.question.topic.description == "New chats")
    }
  }

  @Test("R3: the first of two guardians' decisions wins") func race() async throws {
    family.guardian("Rosa").will(.decline, after: .seconds(2))
    family.guardian("Alex").will(.approve, after: .seconds(1))
    try await family.app {
      try await ask(ada)
      await family.advance(by: .seconds(5))
      #expect(await next()?.choice == .approve)
    }
  }

  @Test("A3, X2: sends an offline question later, also after a restart of the device")
  func offline() async throws {
    family.organizer.will(.approve)
    try await family.app {
      await family.child.setOnline(false)
      try await ask(ada)
      await family.restartDevice()
      #expect(family.organizer.openQuestions.isEmpty)
      await family.child.setOnline(true)
      #expect(await next()?.choice == .approve)
    }
  }

  @Test("R9: a withdrawn handle is unknown, also to an app that slept") func withdraw()
    async throws
  {
    family.organizer.will(.approve)
    try await family.app {
      try await ask(ada, phone)
      _ = await next()
    }
    await family.organizer.withdraw(ada)
    try await family.app {
      let known = await CommunicationLimits.current.knownHandles(in: [ada, phone])
      #expect(known == [phone])
    }
    await family.organizer.setContact(phone, known: false)
    await family.organizer.withdraw(phone)
    try await family.app {
      #expect(await CommunicationLimits.current.knownHandles(in: [ada, phone]).isEmpty)
    }
  }

}
