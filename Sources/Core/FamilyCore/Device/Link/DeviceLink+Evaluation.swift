import FamilyModel

/// A blinded passcode that awaits the relay's evaluation.
///
/// - *Sent* → (reply) done; → (time-out) *sent* again, with the same element; → (last time-out, or
///   disconnected) failed with `noRelay`.
struct PendingEvaluation: Sendable {
  var attempt: PasscodeAttempt
  var isNew: Bool
  var requestID: UInt64
  var due: Instant
  var attempts: Int
}

extension DeviceLink {
  /// A finished evaluation, for the machine that requested it.
  struct Evaluated {
    /// The number that the machine chose.
    var number: UInt64
    var attempt: PasscodeAttempt
    /// The relay's evaluation, or the problem.
    var result: Result<PasscodeEvaluation, Problem>
  }

  /// Requests with the same element, with doubling time-outs, before the evaluation fails.
  static let attemptsForEvaluation = 4

  /// Requests the relay's evaluation of a passcode. The output of this or a later step has the
  /// result under the number.
  mutating func evaluate(
    _ attempt: PasscodeAttempt, isNew: Bool, number: UInt64, now: Instant, into out: inout Output
  ) {
    var pending = PendingEvaluation(
      attempt: attempt, isNew: isNew, requestID: 0, due: now, attempts: 0)
    guard state == .attached else { return fail(number, pending, into: &out) }
    send(&pending, now: now, into: &out)
    evaluations[number] = pending
  }

  /// Ends the evaluation that the reply belongs to.
  ///
  /// - Returns: Whether there is one.
  mutating func endEvaluation(
    _ id: UInt64, _ result: Result<PasscodeEvaluation, Problem>, into out: inout Output
  ) -> Bool {
    guard let number = evaluations.first(where: { $0.value.requestID == id })?.key,
      let pending = evaluations.removeValue(forKey: number)
    else { return false }
    out.evaluated.append(Evaluated(number: number, attempt: pending.attempt, result: result))
    return true
  }

  /// Repeats the requests that are due.
  mutating func repeatEvaluations(now: Instant, into out: inout Output) {
    for number in evaluations.keys.sorted() {
      guard var pending = evaluations[number], pending.due <= now else { continue }
      guard pending.attempts < Self.attemptsForEvaluation else {
        evaluations[number] = nil
        fail(number, pending, into: &out)
        continue
      }
      send(&pending, now: now, into: &out)
      evaluations[number] = pending
    }
  }

  /// Fails all requests, because the connection is down.
  mutating func failEvaluations(into out: inout Output) {
    for number in evaluations.keys.sorted() {
      if let pending = evaluations.removeValue(forKey: number) {
        fail(number, pending, into: &out)
      }
    }
  }

  private mutating func send(
    _ pending: inout PendingEvaluation, now: Instant, into out: inout Output
  ) {
    pending.requestID = sender.send(
      .evaluate(pending.attempt.element, isNew: pending.isNew), into: &out)
    pending.due =
      now
      + Timing.backoff(
        pending.attempts, Timing.firstRequestTimeout, Timing.longestRequestTimeout)
    pending.attempts += 1
  }

  private func fail(_ number: UInt64, _ pending: PendingEvaluation, into out: inout Output) {
    out.evaluated.append(
      Evaluated(number: number, attempt: pending.attempt, result: .failure(.noRelay)))
  }
}
