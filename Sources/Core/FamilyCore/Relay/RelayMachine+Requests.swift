public import FamilyModel

extension RelayMachine {
  /// Who sent a request, and what to name in the reply.
  public struct Sender {
    var address: DeviceAddress
    var key: [UInt8]
    var isAdministrator: Bool
    var id: UInt64

    /// The device with this proven key, and the request's number.
    public init(address: DeviceAddress, key: [UInt8], isAdministrator: Bool, id: UInt64) {
      self.address = address
      self.key = key
      self.isAdministrator = isAdministrator
      self.id = id
    }
  }

  static func refusal(
    of request: Request, _ address: DeviceAddress, _ id: UInt64, _ problem: Problem
  ) -> Effect {
    if case .command(let command, _, _) = request {
      .reply(address, id: id, .refused(command, problem))
    } else {
      .reply(address, id: id, .failed(problem))
    }
  }
}

extension RelayMachine.Family {
  /// A device is who its family's roster says it is: the same answer for an unknown family, an unknown
  /// device and a wrong key.
  ///
  /// - Returns: When to look whether everybody has what they should; `nil`: that is known already.
  mutating func take(
    _ request: Request, of sender: RelayMachine.Sender, now: Instant,
    _ verify: FamilyState.Verifier, into effects: inout [RelayMachine.Effect]
  ) -> Instant? {
    if case .join(let join) = request { return self.join(join, sender, now: now, verify, into: &effects) }
    let owner: Member?
    do throws(Problem) {
      owner = try identify(sender)
    } catch {
      effects.append(RelayMachine.refusal(of: request, sender.address, sender.id, error))
      return nil
    }
    used = now
    // The administrator sets up many families at once, and has the relay's own key file.
    if owner != nil, let wait = allowances.take(cost(of: request), sender.address.device, now: now) {
      let problem = Problem.tooFast(retryAfter: wait)
      effects.append(RelayMachine.refusal(of: request, sender.address, sender.id, problem))
      return nil
    }
    var look: Instant?
    if let owner { look = hear(sender.address.device, owner, request, now: now) }
    return handle(request, sender, owner, now: now, verify, into: &effects) ?? look
  }

  private func cost(of request: Request) -> Int64 {
    let cost = RateLimits.cost(of: request)
    switch request {
    case .fetch(_, let after) where after < state.seq:
      return cost + RateLimits.cost(ofPageIn: state.seq - after)
    case .command(let id, _, _) where state.results.isForgotten(id):
      return cost + RateLimits.cost(ofRecallIn: state.seq)
    default: return cost
    }
  }

  func mayRecall(_ request: Request, of sender: RelayMachine.Sender, now: Instant) -> Bool {
    do throws(Problem) {
      // The administrator has no bound.
      guard try identify(sender) != nil else { return true }
    } catch { return false }
    var copy = allowances
    return copy.take(cost(of: request), sender.address.device, now: now) == nil
  }

  /// The person who speaks; `nil`: the administrator.
  private func identify(_ sender: RelayMachine.Sender) throws(Problem) -> Member? {
    let address = sender.address
    if address.device.rawValue == 0, sender.isAdministrator, address.family.rawValue != 0 {
      return nil
    }
    guard let owner = state.roster.member(of: address.device, key: sender.key) else {
      throw .notEnrolled
    }
    return owner
  }

  /// Whoever speaks is there. A device that reads is looked after, also when the family was evicted
  /// since it attached.
  private mutating func hear(
    _ device: DeviceID, _ person: Member, _ request: Request, now: Instant
  ) -> Instant? {
    let reads = if case .command = request { false } else { true }
    readers.heard(from: device, attaches: reads, now: now)
    switch request {
    case .ping, .present: return watch(device, person, now: now)
    default: return nil
    }
  }

  /// Another device with its key says that it is there, too.
  mutating func hear(
    _ address: DeviceAddress, key: [UInt8], now: Instant,
    into effects: inout [RelayMachine.Effect]
  ) -> Instant? {
    guard let owner = state.roster.member(of: address.device, key: key) else {
      effects.append(.reply(address, id: 0, .failed(.notEnrolled)))
      return nil
    }
    readers.heard(from: address.device, attaches: true, now: now)
    tellLate(address, owner, into: &effects)
    return watch(address.device, owner, now: now)
  }

  /// Whether every device has acknowledged everything.
  var isSettled: Bool {
    let devices = state.roster.devices
    return !devices.indices.contains { index in
      let (device, person) = (devices[index].id, devices[index].person)
      return state.roster.member(person).map { readers.lags(device, of: $0, state) } ?? false
    }
  }

  private func tellLate(
    _ address: DeviceAddress, _ owner: Member?, into effects: inout [RelayMachine.Effect]
  ) {
    guard let owner, readers.isLate(address.device, of: owner, state) else { return }
    effects.append(.reply(address, id: 0, .attached(channels(owner))))
  }

  private mutating func watch(_ device: DeviceID, _ person: Member, now: Instant) -> Instant? {
    guard !isWatched, readers.lags(device, of: person, state) else { return nil }
    isWatched = true
    return readers.published(state, isWatched: false, now: now)
  }

  /// Who lags, as ``DeliveryTracker/look(_:_:)`` finds it, and the generations of what they lack.
  mutating func look(_ now: Instant)
    -> (lagging: [(Audience, generation: UInt32, after: UInt64)], next: Instant?)
  {
    let (lagging, next) = readers.look(state, now: now)
    isWatched = next != nil
    return (lagging.map { ($0.audience, state.generation($0.audience), $0.after) }, next)
  }

  private mutating func handle(
    _ request: Request, _ sender: RelayMachine.Sender, _ owner: Member?, now: Instant,
    _ verify: FamilyState.Verifier, into effects: inout [RelayMachine.Effect]
  ) -> Instant? {
    let (address, id) = (sender.address, sender.id)
    switch request {
    case .ping: effects.append(.reply(address, id: id, pong(address, owner)))
    case .present:
      tellLate(address, owner, into: &effects)
      effects.append(.reply(address, id: id, .pong))
    // Looked at before anybody asks who it is.
    case .join: break
    case .command(let commandID, let command, let signature):
      return handle(command, commandID, signature, sender, now: now, verify, into: &effects)
    case .attach(let cursors):
      guard let owner else {
        effects.append(.reply(address, id: id, .failed(.notEnrolled)))
        return nil
      }
      move(cursors, address, owner, into: &effects)
      let look = watch(address.device, owner, now: now)
      effects.append(.reply(address, id: id, .attached(channels(owner))))
      return look
    case .acknowledge(let cursors):
      if let owner { move(cursors, address, owner, into: &effects) }
    case .fetch(let audience, let after):
      effects.append(
        mayRead(owner, audience)
          ? .page(address, id: id, audience, after: after, upTo: state.head(audience))
          : .reply(address, id: id, .failed(.notPermitted)))
    }
    return nil
  }

  private func mayRead(_ owner: Member?, _ audience: Audience) -> Bool {
    // The administrator reads what it writes, and no conversation.
    guard let owner else { return audience == .family || audience.accountPerson != nil }
    return state.roster.isMember(owner, of: audience)
  }

  private mutating func handle(
    _ command: Command, _ commandID: CommandID, _ signature: Signature?,
    _ sender: RelayMachine.Sender, now: Instant, _ verify: FamilyState.Verifier,
    into effects: inout [RelayMachine.Effect]
  ) -> Instant? {
    let (address, id) = (sender.address, sender.id)
    do throws(Problem) {
      if let seq = try earlier(command, commandID, address.device) {
        effects.append(.reply(address, id: id, .accepted(commandID, seq: seq)))
        return nil
      }
      try require(signature, of: address.device)
      let (body, audience) = try state.decide(
        command, id: commandID, by: address.device, in: address.family,
        signed: signature.map { (commandID, $0) },
        now: now, verify: verify)
      let event = Event(
        seq: state.seq + 1, previous: state.head(audience), audience: audience,
        command: commandID, device: address.device, at: now, body: body,
        signature: signature)
      let reply = RelayMachine.Effect.reply(
        address, id: id, .accepted(commandID, seq: event.seq))
      return publish(event, in: address.family, id == 0 ? nil : reply, now: now, into: &effects)
    } catch {
      refusals.add(commandID, by: address.device, error)
      effects.append(.reply(address, id: id, .refused(commandID, error)))
      return nil
    }
  }

  /// A device that has a key to sign with signs, as itself: nobody would believe anything else.
  ///
  /// Whether the signature is right is for those who believe it: the relay could not be believed anyway, and
  /// each verification would cost it more than all else that it does for a command.
  private func require(_ signature: Signature?, of device: DeviceID) throws(Problem) {
    guard state.roster.signs(device) else { return }
    guard let signature, signature.signer == device else { throw .notSigned }
  }

  /// Makes the event happen: stored, answered, broadcast. Tells when to look whether it has arrived.
  mutating func publish(
    _ event: Event, in family: FamilyID, _ reply: RelayMachine.Effect?, now: Instant,
    into effects: inout [RelayMachine.Effect]
  ) -> Instant? {
    // Who leaves or stays with a new roster listens to the channel as it was.
    let generation = state.generation(event.audience)
    state.apply(event)
    effects.append(.append(family, event))
    if let reply { effects.append(reply) }
    effects.append(.broadcast(family, generation: generation, event.audience, .event(event)))
    let look = readers.published(state, isWatched: isWatched, now: now)
    defer { isWatched = true }
    return isWatched ? nil : look
  }

  /// The event that the command led to when it came before; `nil`: it is new.
  private func earlier(_ command: Command, _ id: CommandID, _ device: DeviceID) throws(Problem)
    -> UInt64?
  {
    switch state.results.find(id) {
    case .seq(let seq): return seq
    case .new: break
    case .unknown:
      guard let recalled, recalled.id == id else { throw .overloaded }
      if let seq = recalled.seq { return seq }
    }
    if let problem = refusals.find(id, by: device) { throw problem }
    return state.known(command, by: device)
  }

  private func channels(_ person: Member) -> [Channel] {
    state.roster.audiences(of: person).map { audience in
      Channel(
        audience: audience, generation: state.generation(audience), head: state.head(audience),
        receipt: audience.conversationChild.map { readers.receipt(state, $0) } ?? Receipt())
    }
  }

  /// A device that is late may listen where nothing comes: to a channel of an earlier generation, or to
  /// one that was never approved. It is told the channels and their heads instead of `pong`, and fetches.
  private func pong(_ address: DeviceAddress, _ owner: Member?) -> Reply {
    guard let owner, readers.isLate(address.device, of: owner, state) else { return .pong }
    return .attached(channels(owner))
  }

  private mutating func move(
    _ cursors: [Cursor], _ address: DeviceAddress, _ person: Member,
    into effects: inout [RelayMachine.Effect]
  ) {
    // An honest device names each of its audiences once.
    for cursor in cursors.prefix(RelayMachine.cursorsPerRequest)
    where state.roster.isMember(person, of: cursor.audience) {
      let head = state.head(cursor.audience)
      let old = readers.cursor(address.device, cursor.audience)
      guard let moved = readers.move(address.device, cursor, from: old, head: head) else {
        continue
      }
      effects.append(.cursor(address.family, address.device, moved))
      // A receipt is worth a message only when it covers something that the child wrote (M4).
      guard person.role.isGuardian, let child = cursor.audience.conversationChild,
        let last = state.lastOfChild[child], old.delivered < last || old.read < last
      else { continue }
      var before = readers.receipt(state, child, without: address.device)
      var after = before
      before.advance(to: old)
      after.advance(to: moved)
      let isNew =
        before.delivered < last && after.delivered > before.delivered
        || before.read < last && after.read > before.read
      guard isNew else { continue }
      effects.append(
        .broadcast(
          address.family, generation: state.generation(cursor.audience), cursor.audience,
          .receipt(cursor.audience, after)))
    }
  }
}
