import DeviceConnection
import FamilyCore
import FamilyModel
import Foundation
import Testing

@testable import AppClient

/// An app and a real child-agent, which is stopped and killed.
@Suite(.timeLimit(.minutes(20))) struct StoppedDeviceTests {
  private let device = RealDevice(app: "exit 0")

  /// Whether a question fails. A question of its own: a repeated one may have an outcome on its way.
  private func isAway(_ session: AppSession, _ handle: String) async throws -> Bool {
    do {
      _ = try await session.ask(.about(handle), .choose)
      return false
    } catch let problem as DeviceProblem { return problem.number == 420 }
  }

  /// Asks and cancels. On a busy machine a question may fail before its cancellation, and is repeated.
  private func cancelQuestion(_ session: AppSession, _ handle: String) async {
    while true {
      let question = Task { try await session.ask(.about(handle), .choose) }
      for _ in 0..<50 where await session.calls.isEmpty {
        try? await Task.sleep(for: .milliseconds(20))
      }
      question.cancel()
      do {
        let outcome = try await question.value
        Issue.record("answered with \(outcome) by a stopped device")
        return
      } catch is CancellationError { return } catch {
        #expect((error as? DeviceProblem)?.number == 420)
      }
    }
  }

  @Test(
    "A8: calls fail while child-agent is stopped, succeed when it continues, and fail after a kill")
  func stopped() async throws {
    try await device.run { process in
      let session = try await device.session()
      Task { await session.run() }
      // A person without a family: the default choice is the response.
      #expect(try await session.ask(.about("ada"), .choose) == .answeredByDefault)
      // The person thinks longer than the limit.
      let thinking = Task { try await session.ask(.about("eve"), .acknowledge) }
      try await Task.sleep(for: .seconds(4))
      try device.openGate()
      #expect(try await thinking.value == .acknowledged)

      kill(process, SIGSTOP)
      #expect(try await isAway(session, "dora"))
      await cancelQuestion(session, "ben")
      kill(process, SIGCONT)
      #expect(try await session.ask(.about("cleo"), .choose) == .answeredByDefault)
      // The responses of the abandoned questions are not lost.
      let loop = session.openLoop(.communication)
      var deliveries = loop.deliveries.makeAsyncIterator()
      var received: Set<QuestionID> = []
      while received.count < 4 {
        await loop.requestNext()
        guard let delivery = await deliveries.next() else { break }
        loop.received(delivery.position)
        received.insert(delivery.question.id)
      }
      #expect(received.isSuperset(of: ["ada", "ben", "cleo"].map { Question.about($0).id }))

      kill(process, SIGKILL)
      #expect(try await isAway(session, "finn"))
    }
  }
}
