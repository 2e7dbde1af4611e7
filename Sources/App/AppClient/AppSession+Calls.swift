package import DeviceConnection
import FamilyCore
package import FamilyModel
import Foundation
import SystemClock

extension DeviceProblem {
  static let deviceAway = DeviceProblem(
    .deviceAway, advice: "Start child-agent, or wait until it answers.")

  static func appRuns(_ process: Int32?) -> DeviceProblem {
    let name = process.map { "the process \($0)" } ?? "the other process"
    return DeviceProblem(
      .appRuns, advice: "End \(name), or wait: a background launch ends after 30 s.")
  }

  /// The reason why a call has no answer.
  ///
  /// - Parameter error: An error of ``AppSession/current()`` or of a call.
  package init(reason error: any Error) {
    self =
      switch error {
      case let problem as DeviceProblem: problem
      case let problem as Problem: DeviceProblem(problem)
      case is AppSession.NoDevice:
        DeviceProblem(.noDevice, advice: "PERMISSION_RELAY_DEVICE names no credential file.")
      case let error as AppSession.BadCredential:
        DeviceProblem(.noDevice, advice: error.description)
      default: DeviceProblem(.appStoreFailed, advice: "\(error)")
      }
  }
}

extension AppSession {
  /// A suspended call of the app's code.
  struct Call {
    /// The subject of a call.
    enum Subject: Hashable {
      case question(QuestionID)
      case age
      case picture
    }
    let subject: Subject
    let continuation: CheckedContinuation<Answer, any Error>
    let started: Duration
  }

  /// The answer to a call.
  enum Answer: Sendable {
    case asked(AskOutcome)
    case age(AgeReply)
    case analyzed(PictureAnalysis)
  }

  /// Asks the device; returns the outcome, however long the person takes.
  ///
  /// - Throws: `DeviceProblem`, or `CancellationError` at once when the task is cancelled. A
  ///   response that follows nevertheless is delivered.
  ///
  /// - Parameter window: The name of the app's window that asks; empty: none given.
  package func ask(
    _ question: Question, _ manner: AskManner, in window: String = ""
  ) async throws -> AskOutcome {
    // Sites and authorizations have reports of their own.
    if question.topic.kind.hasResponse {
      record(answersAbout: question.topic.handles.map(\.canonical))
    }
    let answer = try await call(.question(question.id)) { _ in
      .ask(question, manner, window: window)
    }
    guard case .asked(let outcome) = answer else { preconditionFailure("an ask has an outcome") }
    return outcome
  }

  /// Sends an age request; returns the answer, however long the person takes.
  ///
  /// - Throws: `DeviceProblem` or `CancellationError`, as for a question.
  package func ask(_ request: AgeRequest, in window: String = "") async throws -> AgeReply {
    switch request {
    case .range(let gates): return try await askAge { .askAge($0, gates: gates, window: window) }
    case .status: return try await askAge { .askAge($0, gates: nil) }
    case .rating: return try await askAge { .askRating($0) }
    case .acknowledge(let description):
      let question = Question(
        id: ID128(UUID()),
        topic: .significantUpdate(description: description))
      switch try await ask(question, .acknowledge, in: window) {
      case .acknowledged: return .acknowledged
      case .refused(let problem): return .failed(problem)
      default: return .declined
      }
    }
  }

  private func askAge(_ input: (UInt64) -> AppMachine.Input) async throws -> AgeReply {
    let answer = try await call(.age, input)
    guard case .age(let reply) = answer else { preconditionFailure("an age request has a reply") }
    return reply
  }

  func call(
    _ subject: Call.Subject, _ input: (UInt64) -> AppMachine.Input
  ) async throws -> Answer {
    try Task.checkCancellation()
    if let storeFailure { throw storeFailure }
    lastCall += 1
    let number = lastCall
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        // Registered before the send, because the reply may arrive at once.
        let now = elapsed
        calls[number] = Call(subject: subject, continuation: continuation, started: now)
        if isOpen { liveness.start(number, now: now) }
        step(input(number))
        schedule()
        // The task may have been cancelled before its call was registered.
        if Task.isCancelled { abandon(number, CancellationError()) }
      }
    } onCancel: {
      Task { await self.abandon(number, CancellationError()) }
    }
  }

  func finishAsks(of id: QuestionID, _ outcome: AskOutcome) {
    for number in calls.filter({ $0.value.subject == .question(id) }).keys.sorted() {
      finish(number, .success(.asked(outcome)))
    }
  }

  func finish(_ number: UInt64, _ result: Result<Answer, any Error>) {
    liveness.end(number)
    calls.removeValue(forKey: number)?.continuation.resume(with: result)
  }

  /// Ends a call without an answer. The machine stops repeating the request.
  private func abandon(_ number: UInt64, _ error: any Error) {
    guard let call = calls[number] else { return }
    finish(number, .failure(error))
    switch call.subject {
    case .age: step(.abandonAge(number))
    case .picture: step(.abandonPicture(number &+ firstPicture))
    case .question(let question):
      guard !calls.values.contains(where: { $0.subject == call.subject }) else { return }
      step(.abandonAsk(question))
    }
  }

  // MARK: time limits

  /// Sets the timer for the earliest time limit.
  func schedule() {
    let waiting = isOpen ? nil : calls.values.map { $0.started + timing.storeWait }.min()
    guard let due = [waiting, liveness.deadline, loops.deadline].compactMap({ $0 }).min() else {
      return
    }
    // A timer that fires early computes its deadline again.
    if let timer, timer.due <= due { return }
    timer?.task.cancel()
    let delay = max(.zero, due - elapsed)
    timer = (
      Task { [weak self] in
        guard (try? await Task.sleep(for: delay, clock: .suspending)) != nil else { return }
        await self?.timerFired(due)
      }, due
    )
  }

  private func timerFired(_ due: Duration) {
    timer = nil
    let now = elapsed
    // This process was stopped itself: messages of the device may wait unread.
    if now - due > timing.deviceSilence / 2 { liveness.received(now: now) }
    finishDueLoops()
    if liveness.ping(now: now) { connection.assumeIsolated { $0.send(.ping) } }
    for number in liveness.expire(now: now) { abandon(number, DeviceProblem.deviceAway) }
    if !isOpen {
      let expired = calls.filter { $0.value.started + timing.storeWait <= now }.keys.sorted()
      for number in expired { abandon(number, DeviceProblem.appRuns(copy?.read().process)) }
    }
    schedule()
  }
}
