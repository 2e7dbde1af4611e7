import DeviceAgent
import FamilyCore
import FamilyModel
import History
import ProcessCluster
import Synchronization

/// The people and apps of a worker's devices: they answer prompts and bubbles and handle responses.
///
/// The word after the number in a question's handle is the people's plan for the question.
final class CrowdPeople: Responder, LocalApps {
  static let app = AppID(RunningCluster.app)

  private struct State {
    var apps: [DeviceAddress: AppMachine] = [:]
    /// Responses that an app has handled and not acknowledged.
    var handled: [DeviceAddress: [QuestionID]] = [:]
    /// Questions for which a child has asked a guardian on the spot in this process.
    var askedInPerson: Set<QuestionID> = []
    /// Questions that a guardian has seen in this process.
    var seen: Set<QuestionID> = []
    var random = IDSource.system
    var lastAge: UInt64 = 0
  }
  private let state = Mutex(State())
  private let journal: FactJournal

  init(_ journal: FactJournal) { self.journal = journal }

  // MARK: Responder

  nonisolated(nonsending) func answer(_ prompt: Prompt, in window: String) async -> PromptAnswer {
    switch prompt {
    // In a family without a passcode the prompt returns.
    case .permission(_, let question):
      question.has("person") && state.withLock { $0.askedInPerson.insert(question.id).inserted }
        ? .inPerson : .askByMessage
    case .compose: .send(names: [])
    case .alreadyAsked(_, _, let mayRemind): mayRemind ? .remind : .cancel
    case .passcode(_, _, .zero, nil): .passcode(ChaosCluster.passcode, choice: nil)
    case .passcode, .ageSettings: .cancel
    case .acknowledge: .acknowledge
    case .ageRange: state.withLock { Bool.random(using: &$0.random) ? .share : .dontShare }
    }
  }

  nonisolated(nonsending) func answer(_ bubble: Bubble) async -> BubbleAnswer? {
    let question = bubble.question
    let isFirst = state.withLock { $0.seen.insert(question.id).inserted }
    if question.has("race") {
      return BubbleAnswer(choice: isFirst ? "approve" : "decline", reviewed: isFirst)
    }
    guard isFirst else { return nil }
    if question.has("yes") { return BubbleAnswer(choice: "approve", reviewed: true) }
    if question.has("no") { return BubbleAnswer(choice: "decline", reviewed: false) }
    return question.has("day") ? BubbleAnswer(choice: "day", reviewed: true) : nil
  }

  func notified(_ notice: Notice, on address: DeviceAddress) {
    guard case .decided(let id, let choice, _) = notice else { return }
    journal.record(.decided(address, id, choice: choice.id))
  }

  // MARK: LocalApps

  func received(_ reply: AppReply, by app: AppID, on address: DeviceAddress) -> [ChildMachine.Input]
  {
    step(.reply(reply), on: address)
  }

  func launch(_ app: AppID, on address: DeviceAddress) -> [ChildMachine.Input] {
    step(.connected, on: address)
  }

  // MARK: apps

  /// Starts the device's app, which holds its state in memory.
  func openApp(on address: DeviceAddress) -> [ChildMachine.Input] {
    let app = AppAddress(address, Self.app)
    journal.record([.appLostState(app), .registered(app)])
    state.withLock { $0.apps[address] = AppMachine(Self.app) }
    return step(.connected, on: address) + step(.subscribe(.communication), on: address)
  }

  func ask(_ question: Question, on address: DeviceAddress) -> [ChildMachine.Input] {
    step(.ask(question, .choose), on: address)
  }

  func askAge(on address: DeviceAddress) -> [ChildMachine.Input] {
    let number = state.withLock { state in
      state.lastAge += 1
      return state.lastAge
    }
    return step(.askAge(number, gates: [13, 16, 18]), on: address)
  }

  /// Steps the device's app.
  ///
  /// - Returns: The app's requests.
  private func step(_ input: AppMachine.Input, on address: DeviceAddress) -> [ChildMachine.Input] {
    var facts: [Fact] = []
    let inputs = state.withLock { Self.step(input, on: address, &$0, &facts) }
    if !facts.isEmpty { journal.record(facts) }
    return inputs
  }

  private static func step(
    _ input: AppMachine.Input, on address: DeviceAddress, _ state: inout State,
    _ facts: inout [Fact]
  ) -> [ChildMachine.Input] {
    let app = AppAddress(address, Self.app)
    var inputs: [ChildMachine.Input] = []
    for effect in state.apps[address]?.step(input) ?? [] {
      switch effect {
      case .persist, .consentChanged, .age, .rejected, .namesChanged, .sitesChanged,
        .authorized, .managed, .safetyChanged, .analyzed, .caughtUp, .watched, .moment:
        break
      case .send(let request):
        inputs.append(.app(Self.app, request))
        guard case .acknowledge = request else { continue }
        for id in state.handled.removeValue(forKey: address) ?? [] {
          facts.append(.consumed(app, id))
        }
      case .deliver(let position, let question, let choice):
        facts.append(.handled(app, question.id, choice: choice.id))
        state.handled[address, default: []].append(question.id)
        inputs += step(.consumed(position), on: address, &state, &facts)
      case .asked(let id, .sent), .asked(let id, .answeredInPerson): facts.append(.sent(app, id))
      case .asked: break
      }
    }
    return inputs
  }
}

extension Question {
  /// Whether the people's plan for the question is this one.
  fileprivate func has(_ plan: String) -> Bool {
    topic.handles.first?.value.contains("-\(plan)-") ?? false
  }
}
