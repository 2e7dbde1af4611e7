import FamilyCore
import FamilyModel
import History
import ZeroMQ

extension SimulatedUsers.State {
  /// The app runs from now on, if it did not.
  mutating func wake(_ family: FamilyID) -> [ChildMachine.Input] {
    if apps[family] == nil {
      apps[family] = AppMachine(SimulatedUsers.app)
      notebook.record(.registered(Self.app(family)), family)
      return step(.connected, family) + step(.subscribe(.communication), family)
    }
    guard asleep.remove(family) != nil else { return [] }
    return step(.connected, family)
  }

  private static func app(_ family: FamilyID) -> AppAddress {
    AppAddress(DeviceAddress(family: family, device: FamilyFactory.child), SimulatedUsers.app)
  }

  /// Steps the app's machine; tells what its device is to be given.
  mutating func step(_ input: AppMachine.Input, _ family: FamilyID) -> [ChildMachine.Input] {
    var inputs: [ChildMachine.Input] = []
    for effect in apps[family]?.step(input) ?? [] {
      switch effect {
      // The app's own state dies with this process, and so does the load.
      case .persist, .consentChanged, .age, .rejected: break
      case .send(let request):
        inputs.append(.app(SimulatedUsers.app, request))
        if case .acknowledge = request { settle(family) }
      case .deliver(let position, let question, let choice):
        handle(question, choice, family)
        inputs += step(.consumed(position), family)
      case .asked(let id, let outcome): inputs += asked(id, outcome, family)
      case .caughtUp:
        if launched.remove(family) != nil { inputs += sleep(family) }
      }
    }
    return inputs
  }

  private mutating func handle(_ question: Question, _ choice: Choice, _ family: FamilyID) {
    notebook.record(.handled(Self.app(family), question.id, choice: choice.id), family)
    notebook.handled[family, default: []].append(question.id)
    guard let flight = flights[question.id] else { return }
    if !isRight(flight.kind, choice.id) { counts.wrongAnswers += 1 }
  }

  /// The app has told its device that it has handled all that it was given.
  private mutating func settle(_ family: FamilyID) {
    for id in notebook.handled.removeValue(forKey: family) ?? [] {
      notebook.record(.consumed(Self.app(family), id), family)
      guard let flight = flights[id], !flight.isHandled else { continue }
      flights[id]!.isHandled = true
      if flight.isMeasured {
        measure(flight.isHeldUp ? .heldUp : .approval, flight.kind, since: flight.scheduled)
        counts.finished += 1
        if !flight.isHeldUp { lastFinished = Monotonic.now() }
      }
      finish(id)
    }
  }

  private mutating func asked(
    _ id: QuestionID, _ outcome: AskOutcome, _ family: FamilyID
  ) -> [ChildMachine.Input] {
    guard let flight = flights[id] else { return [] }
    switch outcome {
    case .sent:
      flights[id]!.timesSent += 1
      notebook.record(.sent(Self.app(family), id), family)
      guard flight.timesSent == 0 else { return [] }
      switch flight.kind {
      case .asleep: return sleep(family)
      case .duplicate where flight.isMeasured: return askAgain(id, flight)
      default: return []
      }
    case .alreadyAsked:
      counts.alreadyAsked += 1
      flights[id] = nil
    default:
      counts.refused += 1
      flights[id] = nil
    }
    return []
  }

  /// The same question once more, as after a lost reply; and another one about the same person.
  private mutating func askAgain(_ id: QuestionID, _ flight: InFlightQuestion) -> [ChildMachine
    .Input]
  {
    let arrival = Arrival(
      number: id.low, at: 0, family: flight.family.rawValue, kind: .duplicate, random: 0)
    let same = LoadQuestion.make(arrival)
    var other = same
    other.id = LoadQuestion.id(id.low | LoadQuestion.again)
    var copy = flight
    copy.isMeasured = false
    flights[other.id] = copy
    return step(.ask(same, .choose), flight.family) + step(.ask(other, .choose), flight.family)
  }

  private mutating func sleep(_ family: FamilyID) -> [ChildMachine.Input] {
    asleep.insert(family)
    _ = step(.disconnected, family)
    return [.app(SimulatedUsers.app, .detach), .appGone(SimulatedUsers.app, exited: true)]
  }
}
