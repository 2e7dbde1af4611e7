import FamilyCore
import FamilyModel
import History
import RelayStore
import RelayWire

/// The effects of the relay machine: collected in a turn, committed, then sent.
extension World {
  func collect(_ effect: RelayMachine.Effect, _ device: Int, _ connection: Int) {
    switch effect {
    case .approve: break
    case .append(let family, let event):
      collectReset(event, family)
      relay.output.batch.events.append(
        StoredEvent(
          family: family, seq: event.seq, audience: event.audience, device: event.device,
          command: event.command, at: event.at, payload: event.encode()))
    case .snapshot(let family, let seq, let bytes):
      relay.output.batch.snapshots.append(
        StoredSnapshot(family: family, seq: seq, payload: bytes))
    case .passcodeLock(let family, let bytes):
      let isGuess = device >= 0 && !devices[device].plan.isGuardians
      if mutant == .guessCount, isGuess { break }
      relay.output.batch.passcodeLocks.append(StoredPasscodeLock(family: family, payload: bytes))
    case .cursor(let family, let device, let cursor):
      relay.output.cursors.append(
        StoredCursor(family: family, device: device, cursor: cursor))
      if relay.output.cursorsDue == nil {
        relay.output.cursorsDue = clock(relay.clock) + SimulatedRelay.cursorWriteDelay
      }
    case .reply(let address, let id, let reply):
      if case .evaluated(let evaluation) = reply, device >= 0, !devices[device].plan.isGuardians {
        relay.output.guesses.append((address.family, evaluation.element))
      }
      let reply = ReplyEnvelope(
        device: address, requestID: id.rawValue, reply: named(reply, address.family))
      relay.output.replies.append((device, connection, reply))
    case .page(let address, let id, let audience, let after, let upTo):
      relay.output.pages.append((device, connection, address, id.rawValue, audience, after, upTo))
    case .broadcast(let family, let generation, let audience, let broadcast):
      let topic = ChannelName.bytes(family, audience, generation)
      relay.output.broadcasts.append((topic, broadcast))
    case .republish(let family, let generation, let audience, let after, let limit):
      relay.output.republishes.append((family, generation, audience, after, limit))
    }
  }

  /// A new passcode or an accepted proof ends the count of guesses.
  private func collectReset(_ event: Event, _ family: FamilyID) {
    switch event.body {
    case .passcodeChanged, .answeredInPerson, .ageSet:
      relay.output.guesses.removeAll { $0.family == family }
      relay.output.resets.append(family)
    default: break
    }
  }

  private func named(_ reply: Reply, _ family: FamilyID) -> Reply {
    guard case .attached(var list, let time) = reply else { return reply }
    for index in list.indices {
      list[index].topic = ChannelName.bytes(family, list[index].audience, list[index].generation)
      list[index].key = list[index].topic
    }
    return .attached(list, at: time)
  }

  /// Commits the pending batch, then sends the output that depends on it.
  ///
  /// - Returns: `false` if the relay crashed.
  func flush() throws(StoreError) -> Bool {
    guard try commit() else { return false }
    let output = relay.output
    relay.output.replies = []
    relay.output.broadcasts = []
    relay.output.pages = []
    relay.output.republishes = []
    for (device, connection, envelope) in output.replies {
      guard relaySurvives() else { return false }
      send(envelope, to: device, connection)
    }
    for (topic, broadcast) in output.broadcasts {
      guard relaySurvives() else { return false }
      publish(broadcast, topic)
    }
    for (device, connection, address, id, audience, after, upTo) in output.pages {
      guard relaySurvives() else { return false }
      let page = try page(address.family, audience, after, Limits.pageEvents)
      let reply = Reply.page(audience, page.events, more: page.more, upTo: upTo)
      send(ReplyEnvelope(device: address, requestID: id, reply: reply), to: device, connection)
    }
    for (family, generation, audience, after, limit) in output.republishes {
      for event in try page(family, audience, after, limit).events {
        guard relaySurvives() else { return false }
        publish(.event(event), ChannelName.bytes(family, audience, generation))
      }
    }
    if relay.machine.count > scenario.maxFamilies {
      relay.machine.evict(downTo: scenario.maxFamilies)
    }
    return true
  }

  private func commit() throws(StoreError) -> Bool {
    let isDue = relay.output.cursorsDue.map { $0 <= clock(relay.clock) } ?? false
    guard !relay.output.batch.isEmpty || isDue else { return true }
    var batch = relay.output.batch
    relay.output.batch.removeAll()
    if isDue {
      batch.cursors = relay.output.cursors
      relay.output.cursors = []
      relay.output.cursorsDue = nil
    }
    guard !batch.isEmpty else { return true }
    guard relaySurvives() else { return false }
    try relay.disk.write(batch)
    // A reset may be durable from here on, a guess counts when it is.
    for family in relay.output.resets { record(.guessesReset(family)) }
    relay.output.resets = []
    // The batch is written but not synced: a power loss may take it.
    guard relaySurvives() else { return false }
    if relay.disk.syncs { relay.disk.sync() }
    for (family, element) in relay.output.guesses {
      record(.guessed(family, element, at: clock(relay.clock)))
    }
    relay.output.guesses = []
    return relaySurvives()
  }

  private func page(_ family: FamilyID, _ audience: Audience, _ after: UInt64, _ limit: Int)
    throws(StoreError) -> (events: [Event], more: Bool)
  {
    let page = try relay.disk.events(
      of: family, audience, after: after, limit: limit, bytes: Limits.pageBytes)
    return (page.events.map { try! Event.decode($0.payload) }, page.more)
  }
}
