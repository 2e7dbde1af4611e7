import FamilyCore
import FamilyModel
import History
import ZeroMQ

extension SimulatedUsers.State {
  mutating func measure(_ measure: Measure, _ kind: Kind, since start: MonotonicInstant) {
    let value = (MonotonicInstant.now - start).count / 1_000
    samples.append(Sample(measure: measure, kind: kind, value: value))
  }

  /// Ends the question if the app has handled the answer and each device shows the decision.
  mutating func finish(_ id: QuestionID) {
    guard let entry = inFlight[id], entry.isHandled, entry.shown >= deviceCount else { return }
    inFlight[id] = nil
    answersGiven[id] = nil
  }

  mutating func received(_ reply: Reply, on address: DeviceAddress) {
    switch reply {
    case .accepted(let id, let seq): accepted(id, seq, address)
    case .refused(_, let problem) where problem.isTemporary: counts.overloads += 1
    case .refused(let id, let problem):
      recorder.record(.refused(address, id, problem), address.family)
      // A retried command is answered twice.
      guard let command = commands.removeValue(forKey: id) else { return }
      if command.isAnswer, problem == .alreadyAnswered {
        counts.lateAnswers += 1
      } else {
        counts.refused += 1
      }
    case .page(_, let events, _):
      for event in events { received(event, on: address) }
    case .attached:
      // A device attaches again after the roster has named its conversations.
      if hasRoster.contains(address) { ready.insert(address) }
    case .failed, .pong, .joined, .evaluated: break
    }
  }

  mutating func received(_ event: Event, on address: DeviceAddress) {
    recorder.record(.received(address, event.audience, seq: event.seq), address.family)
    // A device's own event acknowledges its command.
    guard event.device == address.device, commands[event.command] != nil else { return }
    accepted(event.command, event.seq, address)
  }

  private mutating func accepted(_ id: CommandID, _ seq: UInt64, _ address: DeviceAddress) {
    recorder.acknowledged(id, seq: seq, address)
    guard let command = commands.removeValue(forKey: id), let question = command.question,
      let entry = inFlight[question], entry.isMeasured
    else { return }
    if command.isAnswer {
      measure(.answered, entry.kind, since: answersGiven[question] ?? command.at)
    } else if !entry.wasOffline {
      measure(.asked, entry.kind, since: entry.scheduled)
    }
  }

  mutating func madeDurable(_ changes: [RecordChange], on address: DeviceAddress) {
    for case .put(let record) in changes {
      switch record {
      case .event(let event):
        if case .rosterChanged = event.body { hasRoster.insert(address) }
        recorder.record(
          .applied(address, event.audience, seq: event.seq, event.command), address.family)
      case .outbox(let position, let id, let command, _):
        let entry = OutboxEntry(command, at: position)
        recorder.record(.issued(address, id, entry), address.family)
        let question: (id: QuestionID?, isAnswer: Bool) =
          switch command {
          case .ask(let header, _): (header.id, false)
          case .answer(let id, _): (id, true)
          default: (nil, false)
          }
        commands[id] = (question.id, question.isAnswer, MonotonicInstant.now)
      default: break
      }
    }
  }
}
