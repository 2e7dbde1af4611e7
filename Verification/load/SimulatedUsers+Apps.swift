import FamilyCore
import FamilyModel
import History
import LoadFamilies
import ZeroMQ

extension SimulatedUsers.State {
  /// Starts the family's app unless it runs.
  mutating func wake(_ family: FamilyID) -> [ChildMachine.Input] {
    if apps[family] == nil {
      apps[family] = AppMachine(SimulatedUsers.app)
      recorder.record(.registered(Self.app(family)), family)
      return step(.connected, family) + step(.subscribe(.communication), family)
    }
    guard asleep.remove(family) != nil else { return [] }
    return step(.connected, family)
  }

  private static func app(_ family: FamilyID) -> AppAddress {
    AppAddress(DeviceAddress(family: family, device: FamilyFactory.child), SimulatedUsers.app)
  }

  /// Steps the app's machine.
  ///
  /// - Returns: The inputs for the child's device.
  mutating func step(_ input: AppMachine.Input, _ family: FamilyID) -> [ChildMachine.Input] {
    var inputs: [ChildMachine.Input] = []
    for effect in apps[family]?.step(input) ?? [] {
      switch effect {
      // The app's state needs no disk: the app ends with the load.
      case .persist, .consentChanged, .age, .rejected, .namesChanged, .sitesChanged, .authorized,
        .managed, .safetyChanged, .analyzed, .watched, .moment:
        break
      case .send(let request):
        inputs.append(.app(SimulatedUsers.app, request))
        if case .acknowledge = request { markConsumed(family) }
      case .deliver(let position, let question, let choice):
        recordHandled(question, choice, family)
        inputs += step(.consumed(position), family)
      case .asked(let id, let outcome): inputs += asked(id, outcome, family)
      case .caughtUp:
        if launched.remove(family) != nil { inputs += sleep(family) }
      }
    }
    return inputs
  }

  private mutating func recordHandled(_ question: Question, _ choice: Choice, _ family: FamilyID) {
    recorder.record(.handled(Self.app(family), question.id, choice: choice.id), family)
    recorder.handled[family, default: []].append(question.id)
    guard let entry = inFlight[question.id] else { return }
    if !isCorrect(entry.kind, choice.id) { counts.wrongAnswers += 1 }
  }

  /// Records that the app has acknowledged all handled responses.
  private mutating func markConsumed(_ family: FamilyID) {
    for id in recorder.handled.removeValue(forKey: family) ?? [] {
      recorder.record(.consumed(Self.app(family), id), family)
      guard let entry = inFlight[id], !entry.isHandled else { continue }
      inFlight[id]!.isHandled = true
      if entry.isMeasured {
        measure(entry.wasOffline ? .heldUp : .approval, entry.kind, since: entry.scheduled)
        counts.finished += 1
        if !entry.wasOffline { lastFinished = MonotonicInstant.now }
      }
      finish(id)
    }
  }

  private mutating func asked(
    _ id: QuestionID, _ outcome: AskOutcome, _ family: FamilyID
  ) -> [ChildMachine.Input] {
    guard let entry = inFlight[id] else { return [] }
    switch outcome {
    case .sent:
      inFlight[id]!.timesSent += 1
      recorder.record(.sent(Self.app(family), id), family)
      guard entry.timesSent == 0 else { return [] }
      switch entry.kind {
      case .asleep: return sleep(family)
      case .duplicate where entry.isMeasured: return askAgain(id, entry)
      default: return []
      }
    case .alreadyAsked:
      counts.alreadyAsked += 1
      inFlight[id] = nil
    default:
      counts.refused += 1
      inFlight[id] = nil
    }
    return []
  }

  /// Repeats the question, as after a lost reply, and asks another one about the same person.
  private mutating func askAgain(_ id: QuestionID, _ entry: InFlightQuestion) -> [ChildMachine
    .Input]
  {
    let arrival = Arrival(
      number: id.low, at: .zero, family: entry.family.rawValue, kind: .duplicate, random: 0)
    let same = LoadQuestion.make(arrival)
    var other = same
    other.id = LoadQuestion.id(id.low | LoadQuestion.again)
    var copy = entry
    copy.isMeasured = false
    inFlight[other.id] = copy
    return step(.ask(same, .choose), entry.family) + step(.ask(other, .choose), entry.family)
  }

  private mutating func sleep(_ family: FamilyID) -> [ChildMachine.Input] {
    asleep.insert(family)
    _ = step(.disconnected, family)
    return [.app(SimulatedUsers.app, .detach), .appGone(SimulatedUsers.app, exited: true)]
  }
}
