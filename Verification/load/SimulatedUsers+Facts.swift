import FamilyCore
import FamilyModel
import ZeroMQ

extension SimulatedUsers.State {
  mutating func measure(_ measure: Measure, _ kind: Kind, since start: UInt64) {
    let now = Monotonic.now()
    let value = now > start ? (now - start) / 1_000 : 0
    samples.append(Sample(measure: measure, kind: kind, value: value))
  }

  /// A question is over when the app has handled the answer and each device shows it.
  mutating func finish(_ id: QuestionID) {
    guard let flight = flights[id], flight.isHandled, flight.shown >= deviceCount else { return }
    flights[id] = nil
    answersGiven[id] = nil
  }

  mutating func received(_ reply: Reply, on address: DeviceAddress) {
    switch reply {
    case .accepted(let id, let seq): accepted(id, seq, address)
    // Not the last word: the device sends it again.
    case .refused(_, let problem)
    where problem.code >= Problem.overloaded.code || problem.retryAfter > 0 || problem == .stale:
      counts.overloads += 1
    case .refused(let id, let problem):
      notebook.note(.refused(address, id, problem), address.family)
      // A command that was sent twice is answered twice.
      guard let command = commands.removeValue(forKey: id) else { return }
      if command.isAnswer, problem == .alreadyAnswered {
        counts.lateAnswers += 1
      } else {
        counts.refused += 1
      }
    case .page(_, let events, _):
      for event in events { received(event, on: address) }
    case .attached:
      // With the roster a device learns of its conversations, and attaches once more.
      if hasRoster.contains(address) { ready.insert(address) }
    case .failed, .pong, .joined: break
    }
  }

  mutating func received(_ event: Event, on address: DeviceAddress) {
    notebook.note(.received(address, event.audience, seq: event.seq), address.family)
    // A device's own event is the relay's answer to its command.
    guard event.device == address.device, commands[event.command] != nil else { return }
    accepted(event.command, event.seq, address)
  }

  private mutating func accepted(_ id: CommandID, _ seq: UInt64, _ address: DeviceAddress) {
    notebook.acknowledged(id, seq: seq, address)
    guard let command = commands.removeValue(forKey: id), let question = command.question,
      let flight = flights[question], flight.isMeasured
    else { return }
    if command.isAnswer {
      measure(.answered, flight.kind, since: answersGiven[question] ?? command.at)
    } else if !flight.isHeldUp {
      measure(.asked, flight.kind, since: flight.scheduled)
    }
  }

  mutating func madeDurable(_ changes: [RecordChange], on address: DeviceAddress) {
    for case .put(let record) in changes {
      switch record {
      case .event(let event):
        if case .rosterChanged = event.body { hasRoster.insert(address) }
        notebook.note(
          .applied(address, event.audience, seq: event.seq, event.command), address.family)
      case .outbox(_, let id, let command):
        notebook.note(.issued(address, id), address.family)
        let question: (id: QuestionID?, isAnswer: Bool) =
          switch command {
          case .ask(let header, _): (header.id, false)
          case .answer(let id, _): (id, true)
          default: (nil, false)
          }
        commands[id] = (question.id, question.isAnswer, Monotonic.now())
      default: break
      }
    }
  }
}
