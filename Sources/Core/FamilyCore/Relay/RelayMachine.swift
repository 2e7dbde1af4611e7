public import FamilyModel

/// The relay: decides what commands lead to, and who hears of it. It holds the families that are in use.
///
/// A family is `unknown` → (load) `held` → (evict) `unknown`, at any time between two steps: what it
/// loses is a cache, since devices speak again. The shell loads a family before its first input; inputs
/// for a family that is not held are refused as `overloaded`, and change nothing.
///
/// What `append` names must be durable before any reply or broadcast of the same step leaves.
public struct RelayMachine: Sendable {
  /// What happens to the relay.
  public enum Input: Sendable {
    /// A device, or the administrator, asks for something. The key is the proven one.
    case request(DeviceAddress, key: [UInt8], administrator: Bool, id: UInt64, Request)
    /// Somebody wants to listen to a channel.
    case subscribed(FamilyID, Audience, generation: UInt32, key: [UInt8])
    /// The clock was set back: deadlines of the clock before it would come too late.
    case clockSetBack
    /// The deadline has come.
    case timer
  }

  /// What the relay wants done.
  public enum Effect: Hashable, Sendable {
    /// Make the event durable.
    case append(FamilyID, Event)
    /// Keep the family's state after this event, which is durable, or made durable at the same time, in place of
    /// an older one; it may be lost.
    case snapshot(FamilyID, seq: UInt64, [UInt8])
    /// Keep the cursor; it may be lost in a crash, since the device tells it again.
    case cursor(FamilyID, DeviceID, Cursor)
    /// Answer the request.
    case reply(DeviceAddress, id: UInt64, Reply)
    /// Answer the request with the events after `after`, from the store; with none after `upTo`, which came
    /// later than the request: the device may not belong to the audience any more.
    case page(DeviceAddress, id: UInt64, Audience, after: UInt64, upTo: UInt64)
    /// Publish on the audience's channel.
    case broadcast(FamilyID, generation: UInt32, Audience, Broadcast)
    /// Publish the events after `after` again, from the store, at most `limit`.
    case republish(FamilyID, generation: UInt32, Audience, after: UInt64, limit: Int)
    /// Let the subscriber listen; without this effect a subscription is ignored.
    case approve
  }

  struct Family: Hashable, Sendable {
    var state: FamilyState
    var readers = DeliveryTracker()
    var allowances = RateLimits()
    var refusals = RefusalCache()
    var used: Instant
    /// Whether a timer is set for it.
    var isWatched = false
    /// What the store said of the last command that only it could tell of.
    var recalled: Recalled?
    /// The last event that its newest snapshot includes.
    var snapshotSeq: UInt64 = 0
  }

  struct Recalled: Hashable, Sendable {
    var id: CommandID
    var seq: UInt64?
  }

  /// Families that one `timer` input looks at; the others wait for the next one, at once.
  static let familiesPerTimer = 1_024
  /// Cursors that one request moves: those of a guardian in the largest family. Others are ignored.
  static let cursorsPerRequest = 2 * Limits.persons + 1

  /// Replies to one request, of devices that are there: others are told the next time.
  static let repliesPerRequest = 64

  var families: FamilyCache
  var timers = TimerQueue<FamilyID>()

  let verify: FamilyState.Verifier
  private let resultsKept: Int
  private let snapshotEvery: UInt64

  /// A relay that holds no family.
  ///
  /// - Parameters:
  ///   - verify: Checks signatures; the machine has no cryptography of its own.
  ///   - digest: The digest that the families' devices sign.
  ///   - resultsKept: How many results of commands a family keeps in memory, at least. Of older ones the
  ///     store has to be asked: see ``needsResult(of:in:)``.
  ///   - open: How many families, those used last, are held ready for use; the others are packed into a
  ///     third of the memory.
  ///   - snapshotEvery: Events of a family from one snapshot to the next, at least.
  public init(
    verify: @escaping FamilyState.Verify, digest: @escaping @Sendable ([UInt8]) -> [UInt8] = { $0 },
    resultsKept: Int = .max, open: Int = 16_384, snapshotEvery: UInt64 = .max
  ) {
    self.verify = FamilyState.Verifier(verify, digest: digest)
    self.resultsKept = resultsKept
    self.snapshotEvery = snapshotEvery
    families = FamilyCache(open: open)
  }

  /// How many families it holds.
  public var count: Int { families.count }
  /// Whether it holds the family.
  public func holds(_ family: FamilyID) -> Bool { families.place(of: family) != nil }
  /// Whether the family is held and has a history.
  public func exists(_ family: FamilyID) -> Bool {
    families.place(of: family).map { families[$0].state.seq > 0 } ?? false
  }
  /// The family's newest event; 0, unless it is held.
  public func seq(of family: FamilyID) -> UInt64 {
    families.place(of: family).map { families[$0].state.seq } ?? 0
  }
  /// The family's state, if it is held.
  public func state(of family: FamilyID) -> FamilyState? {
    families.place(of: family).map { families[$0].state }
  }

  /// Takes a family from the store: its snapshot, if there is one, the events after it in order, and the
  /// cursors. A family without events is one that does not exist yet.
  public mutating func load(
    _ id: FamilyID, snapshot: FamilyState? = nil, events: [Event], cursors: [(DeviceID, Cursor)],
    now: Instant
  ) {
    var family = Family(state: snapshot ?? FamilyState(resultsKept: resultsKept), used: now)
    family.snapshotSeq = family.state.seq
    for event in events { family.state.apply(event) }
    for (device, cursor) in cursors { family.readers.restore(device, cursor) }
    family.state.fit()
    families.insert(family, id)
  }

  /// Lets the family go.
  public mutating func evict(_ id: FamilyID) {
    families.remove(id)
    timers.remove(id)
  }

  /// Lets the least recently used families go until `most` are left.
  public mutating func evict(most: Int) {
    guard families.count > most else { return }
    for id in families.oldest(but: most) { evict(id) }
  }

  /// When the machine wants a `timer` input; `nil`: never.
  public var deadline: Instant? { timers.deadline }

  /// Whether only the store can tell what became of the command: tell it by ``know(_:seq:in:)`` before the
  /// request is taken, which is refused as `overloaded` otherwise.
  public mutating func needsResult(of command: CommandID, in family: FamilyID) -> Bool {
    guard let place = families.place(of: family) else { return false }
    return families.open(place) { $0.state.results.isForgotten(command) }
  }

  /// Whether the store may be asked for this sender: a stranger must not make the relay read, and a member not
  /// more than it has units for. It is refused without, when it is taken.
  public mutating func mayRecall(_ request: Request, of sender: Sender, now: Instant) -> Bool {
    guard let place = families.place(of: sender.address.family) else { return false }
    return families.open(place) { $0.mayRecall(request, of: sender, now: now) }
  }

  /// What the store says of the command: the event that it led to, or `nil` where it is new.
  public mutating func know(_ command: CommandID, seq: UInt64?, in family: FamilyID) {
    if let place = families.place(of: family) {
      families[place].recalled = Recalled(id: command, seq: seq)
    }
  }

  /// Takes one input and says what is to be done.
  public mutating func step(_ input: Input, now: Instant) -> [Effect] {
    var effects: [Effect] = []
    step(input, now: now, into: &effects)
    return effects
  }

  /// Takes one input and adds what is to be done.
  public mutating func step(_ input: consuming Input, now: Instant, into effects: inout [Effect]) {
    switch consume input {
    case .clockSetBack: timers.hasten(now)
    case .timer: effects += republish(now)
    case .subscribed(let id, let audience, let generation, let key):
      effects += subscribed(id, audience, generation, key)
    case .request(let address, let key, let administrator, let id, let request):
      let sender = Sender(address: address, key: key, isAdministrator: administrator, id: id)
      take(request, of: sender, now: now, into: &effects)
    }
  }

  /// Takes a request, as the input of that name, which would be a copy of it.
  public mutating func take(
    _ request: Request, of sender: Sender, now: Instant, into effects: inout [Effect]
  ) {
    let address = sender.address
    guard let place = families.place(of: address.family) else {
      effects.append(Self.refusal(of: request, address, sender.id, .overloaded))
      return
    }
    let (look, isSnapshotDue) = families[place].take(
      request, of: sender, now: now, verify, snapshotEvery: snapshotEvery, into: &effects)
    if let look { timers.set(address.family, look) }
    if case .present(let others) = request, case .reply(_, _, .pong) = effects.last {
      // Nobody needs many that it refuses: they come one by one, too.
      let most = effects.count + Self.repliesPerRequest
      for other in others where effects.count < most { hear(other, sender.key, now: now, into: &effects) }
    }
    if isSnapshotDue, let snapshot = families[place].takeSnapshot(of: address.family) {
      effects.append(snapshot)
    }
  }

  /// A device for which another one spoke, with the same key. A family that is not held is not read for
  /// that, and one that is packed is opened only if somebody lacks something: its devices are heard again
  /// when it is in use.
  private mutating func hear(
    _ address: DeviceAddress, _ key: [UInt8], now: Instant, into effects: inout [Effect]
  ) {
    guard let place = families.place(of: address.family), !families.isSettled(place) else { return }
    if let at = families[place].hear(address, key: key, now: now, into: &effects) {
      timers.set(address.family, at)
    }
  }

  private mutating func subscribed(
    _ id: FamilyID, _ audience: Audience, _ generation: UInt32, _ key: [UInt8]
  ) -> [Effect] {
    guard let place = families.place(of: id) else { return [] }
    let state = families.open(place) { $0.state }
    guard state.generation(audience) == generation,
      state.roster.devices.contains(where: { device in
        device.publicKey == key
          && state.roster.member(device.person).map { state.roster.isMember($0, of: audience) }
            ?? false
      })
    else { return [] }
    // Who begins to listen late sees by the head what it has missed.
    let head = Broadcast.head(audience, seq: state.head(audience))
    return [.approve, .broadcast(id, generation: generation, audience, head)]
  }

  private mutating func republish(_ now: Instant) -> [Effect] {
    var effects: [Effect] = []
    for _ in 0..<Self.familiesPerTimer {
      guard let id = timers.next(now) else { break }
      guard let place = families.place(of: id) else { continue }
      let (lagging, next) = families[place].look(now)
      if let next { timers.set(id, next) }
      effects += lagging.map { audience, generation, after in
        .republish(
          id, generation: generation, audience, after: after, limit: DeliveryTracker.republishEvents
        )
      }
    }
    return effects
  }
}
