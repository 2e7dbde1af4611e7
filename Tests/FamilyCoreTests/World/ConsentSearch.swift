import FamilyModel

@testable import FamilyCore

/// A search through every sequence of a child's acts on a question about an update.
///
/// The child holds the device, knows no passcode, and controls the relay's refusals. No guardian
/// acts, so no sequence may end in an approval.
struct ConsentSearch {
  /// An act of the child, of the app in the child's hand, or of the network.
  enum Act: Hashable {
    case answer(PromptAnswer)
    case ask(AskManner)
    case askAgain
    case cancelQuestion
    case relayRefuses
    case dayPasses
  }

  static let acts: [Act] =
    [
      .askByMessage, .inPerson, .send(names: []), .remind, .passcode("000000", choice: nil),
      .passcode("000000", choice: "approve"), .acknowledge, .share, .dontShare, .cancel,
    ].map(Act.answer)
    + [.choose, .byMessage, .inPerson, .acknowledge].map(Act.ask)
    + [.askAgain, .cancelQuestion, .relayRefuses, .dayPasses]

  /// The device under search. The mutant accepts an OK in the place of the guardians.
  struct Device {
    var machine: ChildMachine
    var letsOKThrough = false
    var now: Instant
    /// A clock that is never set; `nil`: as the wall clock.
    var uptime: Milliseconds?
    /// The proof of each passcode; `nil`: every passcode is wrong.
    var proof: [UInt8]?
    var prompt: UInt64?
    var isQuestionCopied = false

    mutating func step(_ input: ChildMachine.Input) -> [DeviceEffect] {
      if letsOKThrough, case .answered(_, .acknowledge) = input, prompt != nil {
        let id = UpdateConsentTests.question(1).id
        return [.app(World.app, .asked(id, .answeredInPerson(approved: true)))]
      }
      var effects = machine.step(input, now: now, uptime: uptime)
      for effect in effects {
        switch effect {
        case .prompt(let number, _, _): prompt = number
        case .send(let number, .evaluate(let element, _)):
          let secret = PasscodeEvaluator.ideal.makeSecret()
          let evaluation = PasscodeEvaluator.ideal.evaluate(secret, element)!
          effects += step(.reply(number, .evaluated(evaluation)))
        case .checkPasscode(let prompt, _, _, _, _):
          effects += step(.passcodeChecked(prompt: prompt, proof: proof))
        case .requestAdmission(let id): effects += step(.admitted(id))
        default: break
        }
      }
      return effects
    }

    /// Performs the act.
    ///
    /// - Returns: The effects, or `nil` if the act is impossible now.
    mutating func perform(_ act: Act) -> [DeviceEffect]? {
      switch act {
      case .answer(let answer):
        guard let shown = prompt else { return nil }
        if !letsOKThrough || answer != .acknowledge { prompt = nil }
        return step(.answered(prompt: shown, answer))
      case .ask(let manner): return ask(UpdateConsentTests.question(1), manner)
      case .askAgain:
        guard !isQuestionCopied else { return nil }
        isQuestionCopied = true
        return ask(UpdateConsentTests.question(2), .choose)
      case .cancelQuestion: return step(.cancel(UpdateConsentTests.question(1).id))
      case .relayRefuses:
        let pending = machine.link.pendingCommandsByID
        guard !pending.isEmpty else { return nil }
        return pending.flatMap { step(.reply(1, .refused($0.id, .limitsOff))) }
      case .dayPasses:
        now = now + Limits.reminderInterval
        return step(.timer)
      }
    }

    private mutating func ask(_ question: Question, _ manner: AskManner) -> [DeviceEffect] {
      var question = question
      question.defaultChoice = .approve
      return step(.app(World.app, .ask(question, manner)))
    }
  }

  /// The number of sequences that the search has tried.
  private(set) var count = 0

  /// The first sequence of at most `length` acts that ends in an approval; `nil`: none does.
  mutating func approval(on device: Device, length: Int) -> [Act]? {
    guard length > 0 else { return nil }
    for act in Self.acts {
      var device = device
      guard let effects = device.perform(act) else { continue }
      count += 1
      if effects.contains(where: \.isApproval) { return [act] }
      if let rest = approval(on: device, length: length - 1) { return [act] + rest }
    }
    return nil
  }
}

extension DeviceEffect {
  /// Whether an app, or the relay, learns of an approval.
  var isApproval: Bool {
    switch self {
    case .app(_, .asked(_, .answeredInPerson(approved: true))): true
    case .app(_, .entry(let entry)):
      if case .response(_, let choice) = entry.body { choice.answer == .approval } else { false }
    case .send(_, .command(_, .answerInPerson, _)), .send(_, .command(_, .answer, _)): true
    default: false
    }
  }
}
