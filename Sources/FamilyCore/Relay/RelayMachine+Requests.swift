import FamilyModel

extension RelayMachine {
  /// A device is who its family's roster says it is: the same answer for an unknown family, an unknown
  /// device and a wrong key.
  mutating func authorise(
    _ address: DeviceAddress, _ key: [UInt8], _ administrator: Bool, _ id: UInt64,
    _ request: Request, _ now: Instant
  ) -> [Effect] {
    let owner: Person?
    do throws(Problem) {
      owner = try identify(address, key, administrator)
    } catch {
      return [refusal(of: request, address, id, error)]
    }
    families[address.family]!.used = now
    if let owner { hear(address, owner, request, now) }
    return handle(request, id, address, now)
  }

  /// The person who speaks; `nil`: the administrator. A scope of its own: a copy of the family's state
  /// that lived on would make the next change copy the whole history of results.
  private func identify(_ address: DeviceAddress, _ key: [UInt8], _ administrator: Bool)
    throws(Problem) -> Person?
  {
    guard let family = families[address.family] else { throw .overloaded }
    if address.device.rawValue == 0, administrator, address.family.rawValue != 0 { return nil }
    guard family.state.roster.device(address.device)?.publicKey == key,
      let owner = family.state.roster.owner(of: address.device)
    else { throw .notEnrolled }
    return owner
  }

  private func refusal(
    of request: Request, _ address: DeviceAddress, _ id: UInt64, _ problem: Problem
  ) -> Effect {
    if case .command(let command, _) = request {
      .reply(address, id: id, .refused(command, problem))
    } else {
      .reply(address, id: id, .failed(problem))
    }
  }

  /// Whoever speaks is there. A device that reads is looked after, also when the family was evicted
  /// since it attached.
  private mutating func hear(
    _ address: DeviceAddress, _ person: Person, _ request: Request, _ now: Instant
  ) {
    let reads = if case .command = request { false } else { true }
    families[address.family]!.readers.heard(from: address.device, attaches: reads, now)
    if case .ping = request { watch(address, person, now) }
  }

  private mutating func watch(_ address: DeviceAddress, _ person: Person, _ now: Instant) {
    let state = families[address.family]!.state
    guard !timers.holds(address.family),
      families[address.family]!.readers.lags(address.device, of: person, state)
    else { return }
    let at = families[address.family]!.readers.published(state, isWatched: false, now)
    timers.set(address.family, at)
  }

  private mutating func handle(
    _ request: Request, _ id: UInt64, _ address: DeviceAddress, _ now: Instant
  ) -> [Effect] {
    switch request {
    case .ping: return [.reply(address, id: id, pong(address))]
    case .command(let commandID, let command):
      return handle(command, commandID, id, address, now)
    case .attach(let cursors): return attach(cursors, id, address, now)
    case .acknowledge(let cursors): return move(cursors, address)
    case .fetch(let audience, let after):
      guard mayRead(address, audience) else {
        return [.reply(address, id: id, .failed(.notPermitted))]
      }
      return [.page(address, id: id, audience, after: after)]
    }
  }

  private func mayRead(_ address: DeviceAddress, _ audience: Audience) -> Bool {
    // The administrator reads what it writes, and no conversation.
    if address.device.rawValue == 0 { return audience == .family || audience.accountPerson != nil }
    guard let state = families[address.family]?.state,
      let person = state.roster.owner(of: address.device)
    else { return false }
    return state.isMember(person, of: audience)
  }

  private mutating func handle(
    _ command: Command, _ commandID: CommandID, _ id: UInt64, _ address: DeviceAddress,
    _ now: Instant
  ) -> [Effect] {
    do throws(Problem) {
      let (decision, generation) = try decide(command, commandID, address, now)
      guard let event = decision.event else {
        return [.reply(address, id: id, .accepted(commandID, seq: decision.seq))]
      }
      publish(event, address.family, now)
      return [
        .append(address.family, event),
        .reply(address, id: id, .accepted(commandID, seq: event.seq)),
        .broadcast(address.family, generation: generation, event.audience, .event(event)),
      ]
    } catch {
      return [.reply(address, id: id, .refused(commandID, error))]
    }
  }

  /// The event that the command leads to, or led to when it came before; and the generation of its
  /// audience before it, since who leaves or stays with a new roster listens to the channel as it was.
  private func decide(
    _ command: Command, _ commandID: CommandID, _ address: DeviceAddress, _ now: Instant
  ) throws(Problem) -> ((seq: UInt64, event: Event?), generation: UInt32) {
    let state = families[address.family]!.state
    if let seq = state.results[commandID] ?? state.known(command, by: address.device) {
      return ((seq, nil), 0)
    }
    let (body, audience) = try state.decide(
      command, id: commandID, by: address.device, in: address.family, now: now, verify: verify)
    let event = Event(
      seq: state.seq + 1, previous: state.head(audience), audience: audience,
      command: commandID, device: address.device, at: now, body: body)
    return ((event.seq, event), state.generation(audience))
  }

  private mutating func publish(_ event: Event, _ id: FamilyID, _ now: Instant) {
    families[id]!.state.apply(event)
    let state = families[id]!.state
    let isWatched = timers.holds(id)
    timers.set(id, families[id]!.readers.published(state, isWatched: isWatched, now))
  }

  private mutating func attach(
    _ cursors: [Cursor], _ id: UInt64, _ address: DeviceAddress, _ now: Instant
  ) -> [Effect] {
    guard let state = families[address.family]?.state,
      let person = state.roster.owner(of: address.device)
    else { return [.reply(address, id: id, .failed(.notEnrolled))] }
    let effects = move(cursors, address)
    watch(address, person, now)
    return effects + [.reply(address, id: id, .attached(channels(address.family, person)))]
  }

  private func channels(_ id: FamilyID, _ person: Person) -> [Channel] {
    guard let family = families[id] else { return [] }
    let (state, readers) = (family.state, family.readers)
    return state.audiences(of: person).map { audience in
      Channel(
        audience: audience, generation: state.generation(audience), head: state.head(audience),
        receipt: audience.conversationChild.map { readers.receipt(state, $0) } ?? Receipt())
    }
  }

  /// A device that is late may listen where nothing comes: to a channel of an earlier generation, or to
  /// one that was never approved. It is told the channels and their heads instead of `pong`, and fetches.
  private func pong(_ address: DeviceAddress) -> Reply {
    guard let family = families[address.family],
      let person = family.state.roster.owner(of: address.device),
      family.readers.isLate(address.device, of: person, family.state)
    else { return .pong }
    return .attached(channels(address.family, person))
  }

  private mutating func move(_ cursors: [Cursor], _ address: DeviceAddress) -> [Effect] {
    guard let state = families[address.family]?.state,
      let person = state.roster.owner(of: address.device)
    else { return [] }
    var effects: [Effect] = []
    // An honest device names each of its audiences once.
    for cursor in cursors.prefix(Self.cursorsPerRequest)
    where state.isMember(person, of: cursor.audience) {
      let child = person.role.isGuardian ? cursor.audience.conversationChild : nil
      let before = child.map { families[address.family]!.readers.receipt(state, $0) }
      let head = state.head(cursor.audience)
      guard let moved = families[address.family]!.readers.move(address.device, cursor, head: head)
      else { continue }
      effects.append(.cursor(address.family, address.device, moved))
      guard let child, let before, let last = state.lastOfChild[child] else { continue }
      // A receipt is worth a message only when it covers something that the child wrote (M4).
      let after = families[address.family]!.readers.receipt(state, child)
      let isNew =
        before.delivered < last && after.delivered > before.delivered
        || before.read < last && after.read > before.read
      guard isNew else { continue }
      effects.append(
        .broadcast(
          address.family, generation: state.generation(cursor.audience), cursor.audience,
          .receipt(cursor.audience, after)))
    }
    return effects
  }
}
