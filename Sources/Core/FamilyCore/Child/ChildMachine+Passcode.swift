import FamilyModel

/// Decisions of a guardian on the child's device, with the passcode: a typed passcode is blinded,
/// evaluated by the relay, and checked by the shell, which signs the proof.
extension ChildMachine {
  mutating func askPasscode(
    _ flow: AskFlow, after failure: PasscodeFailure? = nil, effects: inout [DeviceEffect]
  ) {
    var flow = flow
    flow.stage = .passcode
    let prompt = Prompt.passcode(
      flow.app, flow.question, wait: failure.wait, after: failure)
    show(prompt, flow, effects: &effects)
  }

  mutating func askPasscode(
    _ settings: AgeSettings, after failure: PasscodeFailure? = nil,
    effects: inout [DeviceEffect]
  ) {
    let prompt = show(
      .ageSettings(settings, wait: failure.wait, after: failure), effects: &effects)
    ageRequests.startFlow(prompt, .passcode(settings))
  }

  // MARK: a question

  /// Requests the evaluation of a passcode that was typed for a question.
  mutating func check(
    _ typed: String, _ choiceID: String?, _ prompt: UInt64, _ flow: AskFlow, now: Instant,
    into out: inout DeviceLink.Output, effects: inout [DeviceEffect]
  ) {
    let choices = flow.question.choices
    let choice = choices.first { choice in
      choiceID.map { $0 == choice.id } ?? (choice.answer == .approval)
    }
    guard let choice else { return askPasscode(flow, effects: &effects) }
    if let failure = failure(beforeChecking: typed) {
      return askPasscode(flow, after: failure, effects: &effects)
    }
    // Shares the key, if it is missing, before the evaluation returns.
    _ = link.sealed(answer(flow, choice), id: proofID(now: now), now: now, into: &out)
    var flow = flow
    flow.stage = .evaluating(choice: choice)
    flows[prompt] = flow
    link.evaluate(blind(typed), isNew: false, number: prompt, now: now, into: &out)
  }

  private func answer(_ flow: AskFlow, _ choice: Choice, proof: [UInt8] = []) -> Command {
    .answerInPerson(header(of: flow), .question(flow.question), choice: choice.id, proof: proof)
  }

  private mutating func evaluated(
    _ prompt: UInt64, _ flow: AskFlow, _ attempt: PasscodeAttempt,
    _ evaluation: PasscodeEvaluation, now: Instant, into out: inout DeviceLink.Output,
    effects: inout [DeviceEffect]
  ) {
    guard case .evaluating(let choice) = flow.stage, let passcode = link.passcode else { return }
    let id = proofID(now: now)
    let command = link.sealed(answer(flow, choice), id: id, now: now, into: &out)
    guard case .answerInPerson(let header, let content, _, _)? = command else {
      return askPasscode(flow, after: .unchecked(.noRelay), effects: &effects)
    }
    var flow = flow
    flow.stage = .checking(choice: choice, id)
    flows[prompt] = flow
    let bytes = InPerson.signedBytes(
      family: link.address.family, command: id, header: header, choice: choice.id,
      content: link.proofDigest(of: content))
    effects.append(
      .checkPasscode(prompt: prompt, attempt, evaluation, passcode, sign: bytes))
  }

  mutating func passcodeChecked(
    _ prompt: UInt64, _ proof: [UInt8]?, now: Instant, into out: inout DeviceLink.Output,
    effects: inout [DeviceEffect]
  ) {
    if let flow = ageRequests.endFlow(prompt) {
      return passcodeChecked(flow, proof, now: now, into: &out, effects: &effects)
    }
    guard let flow = flows.removeValue(forKey: prompt),
      case .checking(let choice, let id) = flow.stage
    else { return }
    guard let proof else { return askPasscode(flow, after: .wrong, effects: &effects) }
    if let problem = refusal(of: flow.question, by: flow.app) {
      return effects.append(.app(flow.app, .asked(flow.question.id, .refused(problem))))
    }
    var outcome = AskOutcome.answeredInPerson(approved: choice.answer == .approval)
    do throws(Problem) {
      try link.send(answer(flow, choice, proof: proof), id: id, now: now, into: &out)
    } catch { outcome = .refused(error) }
    effects.append(.app(flow.app, .asked(flow.question.id, outcome)))
  }

  // MARK: age settings

  /// Requests the evaluation of a passcode that was typed for age settings.
  mutating func check(
    _ typed: String, _ settings: AgeSettings, _ prompt: UInt64, now: Instant,
    into out: inout DeviceLink.Output, effects: inout [DeviceEffect]
  ) {
    if let failure = failure(beforeChecking: typed) {
      return askPasscode(settings, after: failure, effects: &effects)
    }
    _ = link.sealed(change(settings), id: proofID(now: now), now: now, into: &out)
    ageRequests.startFlow(prompt, .evaluating(settings))
    link.evaluate(blind(typed), isNew: false, number: prompt, now: now, into: &out)
  }

  private func change(_ settings: AgeSettings, proof: [UInt8] = []) -> Command {
    .setAge(link.personID, .ageSettings(settings), proof: proof)
  }

  private mutating func evaluated(
    _ prompt: UInt64, _ settings: AgeSettings, _ attempt: PasscodeAttempt,
    _ evaluation: PasscodeEvaluation, now: Instant, into out: inout DeviceLink.Output,
    effects: inout [DeviceEffect]
  ) {
    guard let passcode = link.passcode else { return }
    let id = proofID(now: now)
    guard let command = link.sealed(change(settings), id: id, now: now, into: &out) else {
      return askPasscode(settings, after: .unchecked(.noRelay), effects: &effects)
    }
    ageRequests.startFlow(prompt, .checking(settings, id))
    let bytes = InPerson.signedBytes(
      family: link.address.family, command: id, child: link.personID,
      content: link.proofDigest(of: command.content))
    effects.append(
      .checkPasscode(prompt: prompt, attempt, evaluation, passcode, sign: bytes))
  }

  private mutating func passcodeChecked(
    _ flow: AgeRequestQueue.Flow, _ proof: [UInt8]?, now: Instant,
    into out: inout DeviceLink.Output,
    effects: inout [DeviceEffect]
  ) {
    guard case .checking(let settings, let id) = flow else { return }
    guard let proof else { return askPasscode(settings, after: .wrong, effects: &effects) }
    let command = change(settings, proof: proof)
    if let problem = change(command, id, now: now, into: &out) {
      effects.append(.notify(.refused(command, problem)))
    }
  }

  // MARK: both

  /// The reason why a typed passcode needs no evaluation; `nil` if it needs one.
  private func failure(beforeChecking typed: String) -> PasscodeFailure? {
    guard let passcode = link.passcode else { return .unchecked(.noPasscode) }
    if passcode.isOutdated { return .unchecked(.passcodeOutdated) }
    do throws(Problem) { try Passcode.validate(typed: typed) } catch { return .wrong }
    return nil
  }

  /// A command id with the relay's time, because the relay rejects the proofs of another time. The
  /// wall clock of a child's device may be wrong.
  private mutating func proofID(now: Instant) -> CommandID {
    guard let time = relayTime.now(uptime: uptime) else { return link.nextID(now: now) }
    return link.nextID(at: time, now: now)
  }

  /// An evaluation ended: the shell checks the passcode, or the prompt is shown again.
  mutating func evaluated(
    _ done: DeviceLink.Evaluated, now: Instant, into out: inout DeviceLink.Output,
    effects: inout [DeviceEffect]
  ) {
    let prompt = done.number
    switch (ageRequests.endFlow(prompt), flows.removeValue(forKey: prompt), done.result) {
    case (.evaluating(let settings)?, _, .success(let evaluation)):
      evaluated(
        prompt, settings, done.attempt, evaluation, now: now, into: &out, effects: &effects)
    case (.evaluating(let settings)?, _, .failure(let problem)):
      askPasscode(settings, after: .unchecked(problem), effects: &effects)
    case (_, let flow?, .success(let evaluation)):
      evaluated(prompt, flow, done.attempt, evaluation, now: now, into: &out, effects: &effects)
    case (_, let flow?, .failure(let problem)):
      askPasscode(flow, after: .unchecked(problem), effects: &effects)
    default: break
    }
  }
}

extension PasscodeFailure? {
  /// The time until the relay accepts the next guess.
  fileprivate var wait: Milliseconds {
    if case .unchecked(let problem) = self { problem.retryAfter } else { .zero }
  }
}
