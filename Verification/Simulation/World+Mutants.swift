import FamilyCore
import FamilyModel
import RelayStore
import RelayWire

/// The hooks in which mutants change the behaviour of the relay and of devices.
extension World {
  /// Steps the relay's machine, or the mutant in its place.
  func stepRelay(_ input: RelayMachine.Input, _ envelope: Envelope) -> [RelayMachine.Effect] {
    let now = clock(relay.clock)
    guard case .command(let id, let command, _) = envelope.request else {
      return relay.machine.step(input, now: now)
    }
    switch mutant {
    case .dedupe: return withoutDedupe(input, id, now: now)
    case .firstAnswer: return withoutFirstAnswer(input, command, envelope.device.family, now: now)
    default: return relay.machine.step(input, now: now)
    }
  }

  /// Gives the machine a fresh command id for every attempt, and restores the client's id in its
  /// effects.
  private func withoutDedupe(_ input: RelayMachine.Input, _ id: CommandID, now: Instant)
    -> [RelayMachine.Effect]
  {
    guard case .request(let device, let key, let isAdministrator, let request, let body) = input,
      case .command(_, let command, let signature) = body
    else { return [] }
    // The signature of a roster covers the command id.
    if case .setRoster = command { return relay.machine.step(input, now: now) }
    let other = ID128(high: id.high, low: random.next())
    if relay.machine.needsStoredResult(of: other, by: device.device, in: device.family) {
      relay.machine.setStoredResult(
        of: other, by: device.device, event: nil, in: device.family)
    }
    let effects = relay.machine.step(
      .request(
        device, key: key, administrator: isAdministrator, id: request,
        .command(other, command, signature)),
      now: now)
    return effects.map { effect in
      switch effect {
      case .append(let family, var event):
        event.command = id
        return .append(family, event)
      case .broadcast(let family, let generation, let audience, .event(var event)):
        event.command = id
        return .broadcast(family, generation: generation, audience, .event(event))
      case .reply(let device, let request, .accepted(_, let seq)):
        return .reply(device, id: request, .accepted(id, seq: seq))
      case .reply(let device, let request, .refused(_, let problem)):
        return .reply(device, id: request, .refused(id, problem))
      default: return effect
      }
    }
  }

  /// After `alreadyAnswered`, reloads the family without the question's answer and repeats the
  /// command.
  private func withoutFirstAnswer(
    _ input: RelayMachine.Input, _ command: Command, _ family: FamilyID, now: Instant
  ) -> [RelayMachine.Effect] {
    let effects = relay.machine.step(input, now: now)
    guard case .answer(let question, _) = command,
      case .reply(_, _, .refused(_, .alreadyAnswered))? = effects.first,
      let stored = try? relay.disk.load(family), relay.output.batch.events.isEmpty
    else { return effects }
    let events = stored.events.map { stored in
      var event = try! Event.decode(stored.payload)
      if case .decided(let decision) = event.body, decision.question == question {
        event.body = .posted(child: event.audience.conversationChild!, .sealed([]))
      }
      return event
    }
    relay.machine.evict(family)
    relay.machine.load(
      family, events: events, cursors: stored.cursors.map { ($0.device, $0.cursor) },
      passcodeLock: stored.passcodeLock.flatMap { PasscodeLock(stored: $0.payload) }, now: now)
    return relay.machine.step(input, now: now)
  }

  /// Splits a turn's changes into transactions. Without a mutant there is one.
  func transactions(_ changes: [RecordChange]) -> [[RecordChange]] {
    switch mutant {
    case .cursorTransaction:
      let cursors = changes.filter { if case .put(.cursor) = $0 { true } else { false } }
      let others = changes.filter { if case .put(.cursor) = $0 { false } else { true } }
      return [cursors, others].filter { !$0.isEmpty }
    case .outbox: return [changes.filter { !$0.isOutbox }]
    case .settings: return [changes.map(\.withoutSettings)]
    default: return [changes]
    }
  }
}

extension RecordChange {
  /// The change, with only the position of an event that is a setting.
  fileprivate var withoutSettings: RecordChange {
    guard case .put(.event(let event)) = self else { return self }
    switch event.body {
    case .passcodeChanged, .limitsChanged:
      return .put(.passed(event.audience, ChainPosition(seq: event.seq, hash: event.hash)))
    default: return self
    }
  }

  var isOutbox: Bool {
    switch self {
    case .put(.outbox), .delete(.outbox): true
    default: false
    }
  }
}
