import Credentials
import FamilyCore
import FamilyModel
import RelayStore
import RelayWire

/// The hooks in which mutants change the behaviour of the relay and of devices.
extension World {
  // MARK: Commands

  /// Gives each attempt of a command an id of its own (`dedupe`).
  func renumbered(_ envelope: Envelope) -> Envelope {
    guard mutant == .dedupe, case .command(let id, let command, let signature) = envelope.request
    else { return envelope }
    // The signature of a roster covers the command id.
    if case .setRoster = command { return envelope }
    let other = ID128(high: id.high, low: random.next())
    relay.originals[other] = id
    var envelope = envelope
    envelope.request = .command(other, command, signature)
    return envelope
  }

  private func original(_ id: CommandID) -> CommandID { relay.originals[id] ?? id }

  private func withOriginalID(_ event: Event) -> Event {
    var event = event
    event.command = original(event.command)
    return event
  }

  func withOriginalID(_ broadcast: Broadcast) -> Broadcast {
    guard mutant == .dedupe, case .event(let event) = broadcast else { return broadcast }
    return .event(withOriginalID(event))
  }

  func withOriginalID(_ envelope: ReplyEnvelope) -> ReplyEnvelope {
    guard mutant == .dedupe else { return envelope }
    var envelope = envelope
    switch envelope.reply {
    case .accepted(let id, let seq): envelope.reply = .accepted(original(id), seq: seq)
    case .refused(let id, let problem): envelope.reply = .refused(original(id), problem)
    default: break
    }
    return envelope
  }

  /// Acknowledges one event more than the device has (`acknowledgement`).
  func acknowledgedEarly(_ envelope: Envelope) -> Envelope {
    guard mutant == .acknowledgement, case .acknowledge(var cursors) = envelope.request else {
      return envelope
    }
    for index in cursors.indices { cursors[index].delivered += 1 }
    var envelope = envelope
    envelope.request = .acknowledge(cursors)
    return envelope
  }

  // MARK: Store

  /// The batch as a mutant writes it.
  func mutated(_ batch: Batch) -> Batch {
    guard mutant == .dedupe else { return batch }
    var batch = batch
    for index in batch.events.indices {
      let event = withOriginalID(try! Event.decode(batch.events[index].payload))
      batch.events[index] = StoredEvent(event, of: batch.events[index].family)
    }
    return batch
  }

  /// The stored family as a mutant reads it.
  func mutated(_ stored: StoredFamily, after seq: UInt64, of family: FamilyID) -> StoredFamily {
    var stored = stored
    switch mutant {
    case .snapshotTail where seq > 0: stored.events = []
    case .guessCount: stored.passcodeLock = stored.passcodeLock.flatMap { withoutGuesses($0) }
    case .firstAnswer:
      // A family is loaded for each request, and its answers are forgotten.
      stored.events = stored.events.map { withoutAnswer($0) }
    default: break
    }
    return stored
  }

  private func withoutGuesses(_ stored: StoredPasscodeLock) -> StoredPasscodeLock {
    let cipher = PasscodeLockCipher(secret: ChannelName.keys.channelSecret)
    guard let bytes = cipher.open(stored.payload, of: stored.family),
      let lock = PasscodeLock(stored: bytes)
    else { return stored }
    return StoredPasscodeLock(
      family: stored.family, payload: cipher.seal(lock.withoutGuesses.stored, of: stored.family))
  }

  private func withoutAnswer(_ stored: StoredEvent) -> StoredEvent {
    var event = try! Event.decode(stored.payload)
    guard case .decided = event.body else { return stored }
    event.body = .posted(child: event.audience.conversationChild!, .sealed([]))
    return StoredEvent(event, of: stored.family)
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
    case .activityMoments: return [changes.filter { !$0.startsActivity }]
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

  fileprivate var startsActivity: Bool {
    if case .put(.activity(_, let watched)) = self { watched.isStarted } else { false }
  }

  var isOutbox: Bool {
    switch self {
    case .put(.outbox), .delete(.outbox): true
    default: false
    }
  }
}
