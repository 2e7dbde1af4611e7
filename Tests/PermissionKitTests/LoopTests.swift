import Foundation
import PermissionKit
import PermissionKitTesting
import Synchronization
import Testing

/// The questions that a loop has received, in order.
private final class Received: Sendable {
  private let ids = Mutex<[UUID]>([])
  var all: [UUID] { ids.withLock { $0 } }
  func append(_ id: UUID) { ids.withLock { $0.append(id) } }

  /// Waits until the loop has received this many responses.
  func reaches(_ count: Int) async { while all.count < count { await Task.yield() } }
}

/// Several loops over responses in one process, and the moment at which a response is handled.
@Suite(.timeLimit(.minutes(10))) struct LoopTests {
  private let family = TestFamily()

  @discardableResult
  private func ask(_ name: String = "ada") async throws -> UUID {
    let question = PermissionQuestion(handle: CommunicationHandle(value: name, kind: .custom))
    try await CommunicationLimits.current.ask(question, in: Nowhere())
    return question.id
  }

  private func overUpdates(_ received: Received) -> Task<Void, Never> {
    Task {
      for await update in CommunicationLimits.current.updates {
        received.append(update.question.id)
      }
    }
  }

  private func overResponses(_ received: Received) -> Task<Void, Never> {
    Task {
      for await response in AskCenter.shared.responses(for: CommunicationTopic.self) {
        received.append(response.question.id)
      }
    }
  }

  @Test("R7: several loops over updates and responses each see every response, and none ends")
  func mixed() async throws {
    family.organizer.will(.approve)
    try await family.app {
      let received = [Received(), Received(), Received()]
      let loops = [
        overUpdates(received[0]), overResponses(received[1]), overUpdates(received[2]),
      ]
      try await family.untilListening(loops: 3)
      var asked: [UUID] = []
      for name in ["a", "b", "c"] {
        asked.append(try await ask(name))
        for loop in received { await loop.reaches(asked.count) }
      }
      for loop in received { #expect(loop.all == asked) }
      for loop in loops { loop.cancel() }
    }
  }

  @Test("R7: a response is unhandled while one of two open loops has not requested the next")
  func slowest() async throws {
    family.organizer.will(.approve)
    try await family.app {
      let received = Received()
      let loop = overUpdates(received)
      var slow = CommunicationLimits.current.updates.makeAsyncIterator()
      let id = try await ask()
      #expect(try await slow.next()?.question.id == id)
      await received.reaches(1)
      await family.settle()
      family.crashApp()
      loop.cancel()
    }
    try await family.app {
      var updates = CommunicationLimits.current.updates.makeAsyncIterator()
      let again = try await updates.next()
      #expect(again != nil)
    }
  }

  @Test("R7: a loop that opens later receives the responses that another loop still handles")
  func later() async throws {
    family.organizer.will(.approve)
    try await family.app {
      let id = try await ask()
      var first = CommunicationLimits.current.updates.makeAsyncIterator()
      #expect(try await first.next()?.question.id == id)
      var second = CommunicationLimits.current.updates.makeAsyncIterator()
      #expect(try await second.next()?.question.id == id)
    }
  }

  @Test("R7: a loop that ends by break or return has handled its last response")
  func ends() async throws {
    family.organizer.will(.approve)
    let launches = Received()
    family.whenLaunched {
      for await update in CommunicationLimits.current.updates {
        launches.append(update.question.id)
        break
      }
    }
    try await family.app {
      try await ask("a")
      for await _ in CommunicationLimits.current.updates { return }
    }
    await family.advance(by: .seconds(600))
    #expect(launches.all.isEmpty && family.launches == 0)
    try await family.app {
      family.organizer.will(.never); try await ask("b")
    }
    await family.organizer.answer(.approve)
    await family.advance(by: .seconds(600))
    #expect(launches.all.count == 1 && family.launches == 1)
  }

  @Test("R6, R7: a process that fails in the body of its loop receives the response again")
  func fails() async throws {
    struct Full: Error {}
    try await family.app { try await ask() }
    let attempts = Received()
    family.whenLaunched {
      for await update in CommunicationLimits.current.updates {
        attempts.append(update.question.id)
        if attempts.all.count < 3 { throw Full() }
      }
    }
    await family.organizer.answer(.approve)
    await family.advance(by: .seconds(600))
    #expect(attempts.all.count == 3 && Set(attempts.all).count == 1)
  }

  @Test("R7: reading updates registers the app, without an iteration") func registers()
    async throws
  {
    family.organizer.will(.approve, after: .seconds(5))
    try await family.app {
      _ = CommunicationLimits.current.updates
      while !family.isListening { await Task.yield() }
    }
    #expect(family.isListening)
  }

  @Test("R6, R7: the answer launches an app that has only asked") func askRegisters() async throws {
    family.organizer.will(.approve, after: .seconds(5))
    let received = Received()
    family.whenLaunched {
      for await update in CommunicationLimits.current.updates {
        received.append(update.question.id)
      }
    }
    let id = try await family.app { try await ask() }
    await family.advance(by: .seconds(10))
    #expect(family.launches == 1 && received.all == [id])
  }

  @Test("X2: questions beyond the bound of a turn are sent, also after a restart of the device")
  func burst() async throws {
    family.organizer.will(.approve)
    await family.child.setOnline(false)
    try await family.app {
      var asked: Set<UUID> = []
      for number in 0..<40 { asked.insert(try await ask("friend\(number)")) }
      await family.restartDevice()
      await family.child.setOnline(true)
      for await update in CommunicationLimits.current.updates {
        asked.remove(update.question.id)
        if asked.isEmpty { break }
      }
    }
  }
}
