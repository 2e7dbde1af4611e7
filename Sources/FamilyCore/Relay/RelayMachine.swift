public import FamilyModel

/// The relay: decides what commands lead to, and who hears of it. It holds the families that are in use.
///
/// A family is loaded by the shell before its first input and may be evicted at any time between two
/// steps. What `append` names must be durable before any reply or broadcast of the same step leaves.
public struct RelayMachine: Sendable {
  /// What happens to the relay.
  public enum Input: Sendable {
    /// A device, or the administrator, asks for something. The key is the proven one.
    case request(DeviceAddress, key: [UInt8], administrator: Bool, id: UInt64, Request)
    /// Somebody wants to listen to a channel.
    case subscribed(FamilyID, Audience, generation: UInt32, key: [UInt8])
    /// The deadline has come.
    case timer
  }

  /// What the relay wants done.
  public enum Effect: Hashable, Sendable {
    /// Make the event durable.
    case append(FamilyID, Event)
    /// Keep the cursor; it may be lost in a crash, since the device tells it again.
    case cursor(FamilyID, DeviceID, Cursor)
    /// Answer the request.
    case reply(DeviceAddress, id: UInt64, Reply)
    /// Answer the request with the events after `after`, from the store.
    case page(DeviceAddress, id: UInt64, Audience, after: UInt64)
    /// Publish on the audience's channel.
    case broadcast(FamilyID, generation: UInt32, Audience, Broadcast)
    /// Publish the events after `after` again, from the store, at most `limit`.
    case republish(FamilyID, generation: UInt32, Audience, after: UInt64, limit: Int)
    /// Let the subscriber listen.
    case approve
  }

  struct Family: Sendable {
    var state = FamilyState()
    var readers = Readers()
    var used = Instant(milliseconds: 0)
  }

  private var families: [FamilyID: Family] = [:]
  /// Families with a repetition due, each at most once.
  private var waiting: Set<FamilyID> = []
  /// No family's repetition is due before this.
  private var nextDue: Instant?

  /// A relay that holds no family.
  public init() {}

  /// How many families it holds.
  public var count: Int { families.count }
  /// Whether it holds the family.
  public func holds(_ family: FamilyID) -> Bool { families[family] != nil }
  /// The family's state, if it is held.
  public func state(of family: FamilyID) -> FamilyState? { families[family]?.state }

  /// Takes a family from the store: its events in order, and the cursors.
  public mutating func load(
    _ id: FamilyID, events: [Event], cursors: [(DeviceID, Cursor)], now: Instant
  ) {
    var family = Family()
    family.used = now
    for event in events { family.state.apply(event) }
    for (device, cursor) in cursors { family.readers.restore(device, cursor) }
    families[id] = family
  }

  /// Lets the least recently used families go until `most` are left. What they lose is a cache.
  public mutating func evict(most: Int) {
    guard families.count > most else { return }
    let oldest = families.keys.sorted { (families[$0]!.used, $0) < (families[$1]!.used, $1) }
    for id in oldest.prefix(families.count - most) {
      families[id] = nil
      waiting.remove(id)
    }
  }

  /// When the machine wants a `timer` input; `nil`: never.
  public var deadline: Instant? { nextDue }

  /// Takes one input and says what is to be done.
  public mutating func step(_ input: Input, now: Instant) -> [Effect] {
    switch input {
    case .timer: return republish(now)
    case .subscribed(let id, let audience, let generation, let key):
      guard let state = families[id]?.state, state.generation == generation,
        state.roster.devices.contains(where: { device in
          device.publicKey == key
            && state.roster.person(device.person).map { state.isMember($0, of: audience) } ?? false
        })
      else { return [] }
      // Who begins to listen late sees by the head what it has missed.
      let head = Broadcast.head(audience, seq: state.head(audience))
      return [.approve, .broadcast(id, generation: generation, audience, head)]
    case .request(let address, let key, let administrator, let id, let request):
      families[address.family]?.used = now
      let problem = Problem.notEnrolled
      if address.device.rawValue == 0 {
        guard administrator else { return [refusal(of: request, address, id, problem)] }
      } else {
        guard families[address.family]?.state.roster.device(address.device)?.publicKey == key else {
          return [refusal(of: request, address, id, problem)]
        }
        families[address.family]!.readers.heard(from: address.device, now)
      }
      return handle(request, id, address, now)
    }
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

  private mutating func handle(
    _ request: Request, _ id: UInt64, _ address: DeviceAddress, _ now: Instant
  ) -> [Effect] {
    switch request {
    case .ping: return [.reply(address, id: id, .pong)]
    case .command(let commandID, let command):
      return handle(command, commandID, id, address, now)
    case .attach(let cursors): return attach(cursors, id, address, now)
    case .acknowledge(let cursors): return move(cursors, address)
    case .fetch(let audience, let after):
      guard let state = families[address.family]?.state,
        let person = state.roster.owner(of: address.device), state.isMember(person, of: audience)
      else { return [.reply(address, id: id, .failed(.notPermitted))] }
      return [.page(address, id: id, audience, after: after)]
    }
  }

  private mutating func handle(
    _ command: Command, _ commandID: CommandID, _ id: UInt64, _ address: DeviceAddress,
    _ now: Instant
  ) -> [Effect] {
    var family = families[address.family] ?? Family()
    if let seq = family.state.results[commandID] {
      return [.reply(address, id: id, .accepted(commandID, seq: seq))]
    }
    do throws(Problem) {
      // The same question under another command's id is the same question.
      if case .ask(let header, _) = command, let known = family.state.questions[header.id],
        known.header == header
      {
        return [.reply(address, id: id, .accepted(commandID, seq: known.seq))]
      }
      let (body, audience) = try family.state.decide(command, by: address.device, now: now)
      let event = Event(
        seq: family.state.seq + 1, previous: family.state.head(audience), audience: audience,
        command: commandID, device: address.device, at: now, body: body)
      families[address.family] = nil
      family.state.apply(event)
      family.readers.published(now)
      family.used = now
      let generation = family.state.generation
      families[address.family] = family
      waiting.insert(address.family)
      nextDue = min(nextDue ?? .init(milliseconds: .max), now + Readers.republishFirst)
      return [
        .append(address.family, event),
        .reply(address, id: id, .accepted(commandID, seq: event.seq)),
        .broadcast(address.family, generation: generation, audience, .event(event)),
      ]
    } catch {
      return [.reply(address, id: id, .refused(commandID, error))]
    }
  }

  private mutating func attach(
    _ cursors: [Cursor], _ id: UInt64, _ address: DeviceAddress, _ now: Instant
  ) -> [Effect] {
    guard let state = families[address.family]?.state,
      let person = state.roster.owner(of: address.device)
    else { return [.reply(address, id: id, .failed(.notEnrolled))] }
    families[address.family]!.readers.attach(address.device, now)
    let effects = move(cursors, address)
    let readers = families[address.family]!.readers
    let channels = state.audiences(of: person).map { audience in
      Channel(
        audience: audience, generation: state.generation, head: state.head(audience),
        receipt: audience.conversationChild.map { readers.receipt(state, $0) } ?? Receipt())
    }
    return effects + [.reply(address, id: id, .attached(channels))]
  }

  private mutating func move(_ cursors: [Cursor], _ address: DeviceAddress) -> [Effect] {
    guard let state = families[address.family]?.state,
      let person = state.roster.owner(of: address.device)
    else { return [] }
    var effects: [Effect] = []
    for cursor in cursors where state.isMember(person, of: cursor.audience) {
      let child = cursor.audience.conversationChild
      let before = child.map { families[address.family]!.readers.receipt(state, $0) }
      guard
        let moved = families[address.family]!.readers.move(
          address.device, cursor, head: state.head(cursor.audience))
      else { continue }
      effects.append(.cursor(address.family, address.device, moved))
      guard person.role.isGuardian, let child, let before,
        let last = state.lastOfChild[child]
      else { continue }
      // A receipt is worth a message only when it covers something that the child wrote.
      let after = families[address.family]!.readers.receipt(state, child)
      let isNew =
        before.delivered < last && after.delivered > before.delivered
        || before.read < last && after.read > before.read
      if isNew {
        effects.append(
          .broadcast(
            address.family, generation: state.generation, cursor.audience,
            .receipt(cursor.audience, after)))
      }
    }
    return effects
  }

  private mutating func republish(_ now: Instant) -> [Effect] {
    var effects: [Effect] = []
    for id in waiting.sorted() {
      guard let due = families[id]?.readers.due, due <= now else { continue }
      let state = families[id]!.state
      let lagging = families[id]!.readers.lagging(state, now)
      effects += lagging.map { audience, after in
        .republish(
          id, generation: state.generation, audience, after: after,
          limit: Readers.republishEvents)
      }
      if families[id]!.readers.due == nil { waiting.remove(id) }
    }
    nextDue = waiting.compactMap { families[$0]?.readers.due }.min()
    return effects
  }
}
