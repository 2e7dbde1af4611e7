public import FamilyModel

/// By what a device believes, and reads what is sealed.
public struct Security: Sendable {
  /// The device's keys, and what they can do.
  public var vault: any DeviceVault
  /// The Ed25519 key that the family's first roster is signed with.
  public var organizerKey: [UInt8]
  /// What a credential holds.
  public init(_ vault: any DeviceVault, organizerKey: [UInt8]) {
    self.vault = vault
    self.organizerKey = organizerKey
  }
}

/// A device's side of its connection to the relay: reads its audiences without gaps and without
/// repetition, and brings its commands to the relay.
///
/// `detached` → (connected) `attaching` → (attached) `attached` → (disconnected, or no pong) `detached`.
/// In every state a broadcast is applied if it continues the chain, so nothing depends on the order in
/// which the two sockets connect.
public struct DeviceLink: Sendable {
  enum State: Hashable, Sendable { case detached, attaching, attached }

  /// What came of one step, for the machine that owns the link.
  struct Output {
    var changes: [RecordChange] = []
    var sends: [DeviceEffect] = []
    /// Applied now, in order.
    var events: [Event] = []
    /// Commands that the relay accepted or refused.
    var outcomes: [(command: Command, problem: Problem?)] = []
    /// Not believed: they changed nothing (X3).
    var refused: [Problem] = []
    var shutOut: Problem?
  }

  /// The device.
  public let address: DeviceAddress
  /// Whose device it is: known before any roster has come.
  public let personID: PersonID
  /// The family as this device knows it.
  public private(set) var roster = Roster()
  /// The accounts that this device may see (F2).
  public private(set) var accounts: [PersonID: Account] = [:]
  /// What is set about the ages of these people, and what apps were told (D10).
  private var ages: [PersonID: AgeLog] = [:]
  /// The conversations that this device takes part in.
  public private(set) var conversations: [PersonID: Conversation] = [:]

  /// Devices that have asked to join, in the order in which they asked.
  public private(set) var joins: [JoinRequest] = []
  /// The family's passcode, once a guardian has set one (A4).
  public private(set) var passcode: Passcode?

  var outbox = Outbox()
  /// What this device believes; `nil`: everything, as in the machines' own tests.
  var trust: Trust?
  /// What was believed of the records that the device was restored from, with its contents open, in order.
  public private(set) var restored: [Event] = []
  private var ids: IDSource
  /// The last time, in milliseconds, that a believed command was made at: this device's next one is later.
  private var lastTime: Int64 = 0
  private var accountStamps: [PersonID: ID128] = [:]
  /// Everybody who ever was in the family.
  private(set) var everybody: Set<PersonID> = []
  /// The family's last event, as the relay said at the attachment.
  private var familyHead: UInt64 = 0
  /// Commands wait for keys, or for the family.
  var isWaiting = false
  /// Since when a device lacks keys, and when it is this device's turn to give them.
  var newcomersSince: Instant?
  var newcomersDue: Instant?
  /// Also of devices that have left: what they said stays theirs.
  private(set) var owners: [DeviceID: PersonID] = [:]
  private var cursors: [Audience: Cursor] = [:]
  private(set) var state = State.detached
  private var attempts = 0
  private var due: Instant?
  private var awaitsPong = false
  private var fetching: [Audience: (requestID: UInt64, due: Instant, attempts: Int)] = [:]
  /// Moved in this step; its records are written once, at the end.
  private var moved: Set<Audience> = []
  private var unacknowledged: Set<Audience> = []
  private var lastRequestID: UInt64 = 0

  init(
    _ address: DeviceAddress, of person: PersonID, _ security: Security?,
    hasApps: Bool = false, restoring records: [DeviceRecord], ids: IDSource
  ) {
    self.address = address
    personID = person
    self.ids = ids
    trust = security.map {
      Trust(
        $0.vault, organizerKey: $0.organizerKey, family: address.family, hasApps: hasApps)
    }
    var events: [Event] = []
    for record in records {
      switch record {
      case .event(let event): events.append(event)
      case .cursor(let cursor): cursors[cursor.audience] = cursor
      case .outbox(let position, let id, let command): outbox.restore(position, id, command)
      case .receipt(let audience, let receipt): setReceipt(audience, receipt)
      case .app, .entry, .passcodeTries: break
      }
    }
    var out = Output()
    for event in events.sorted(by: { $0.seq < $1.seq }) { believe(event, &out) }
    restored = out.events
    // Keys of this device's own that the relay may not have yet.
    for case .shareKeys(let audience, let wraps) in outbox.pending.map(\.command) {
      learn(wraps, audience, isShared: false)
    }
  }

  /// Takes an event, if it is believed; and what was waiting for it.
  @discardableResult
  private mutating func believe(_ event: Event, _ out: inout Output) -> Bool {
    guard trust != nil else {
      remember(event)
      out.events.append(event)
      return true
    }
    switch trust!.take(event, question: question) {
    case .aside: return true
    case .bad(let problem):
      out.refused.append(problem)
      return false
    case .good(let opened):
      remember(opened)
      out.events.append(opened)
    }
    var goesOn = !trust!.aside.isEmpty
    while goesOn {
      goesOn = false
      for (event, problem) in trust!.takeAside(question: question) {
        if let problem {
          out.refused.append(problem)
          continue
        }
        remember(event)
        out.events.append(event)
        goesOn = true
      }
    }
    return true
  }

  /// The question, where it was asked in a conversation that this device takes part in.
  func question(_ id: QuestionID) -> QuestionState? {
    for child in conversations.keys.sorted() {
      if let state = conversations[child]?.questions[id] { return state }
    }
    return nil
  }

  /// A new command's id, later than all that this device knows of.
  mutating func nextID(_ now: Instant) -> CommandID {
    lastTime = max(lastTime + 1, now.milliseconds)
    return ids.id(now: Instant(milliseconds: lastTime))
  }

  /// Whether the relay has told of events of the family that are not here yet.
  var isBehind: Bool { delivered(.family) < familyHead }

  /// Whether it can give keys to others now. What is due before waits, without a timer.
  var mayShare: Bool { state == .attached && !isBehind }

  /// The rosters as apps see them, in order.
  var rosterProofs: [RosterProof] { trust?.evidence?.rosters ?? [] }

  /// What apps may see of these commands' events, each once.
  func evidence(_ commands: [CommandID], for app: AppID) -> [Evidence] {
    guard let trust, let file = trust.evidence else { return [] }
    var seen: Set<CommandID> = []
    return commands.filter { seen.insert($0).inserted }
      .compactMap { file.evidence($0, for: app, trust, question: question) }
  }

  /// Events that are durable here and not believed yet: a key or a roster is on its way.
  package var asideCount: Int { trust?.aside.count ?? 0 }

  /// The owner of this device, once the family is known.
  public var person: Person? { roster.person(personID) }

  /// Whose device it is, or was; person zero where that is not known.
  public func owner(of device: DeviceID) -> PersonID { owners[device] ?? PersonID(0) }

  /// The cursors, ascending by audience.
  public var position: [Cursor] { cursors.values.sorted { $0.audience < $1.audience } }

  /// Commands that the relay has not acknowledged, in order.
  public var waiting: [Command] { outbox.pending.map(\.command) }

  /// What is set about the person's age, and what apps were told: with what this device has not brought to
  /// the relay yet, which so holds at once (D10).
  public func age(of person: PersonID) -> AgeState {
    var state = ages[person]?.state ?? AgeState()
    for command in waiting {
      switch command {
      case .noteAge(person, let content): state.note(content)
      case .setAge(person, let content, _): state.set(content)
      default: break
      }
    }
    return state
  }

  /// The same with their ids, which their lines will carry.
  public var waitingByID: [(id: CommandID, command: Command)] {
    outbox.pending.map { ($0.id, $0.command) }
  }

  var deadline: Instant? {
    ([due, outbox.deadline, mayShare ? newcomersDue : nil] + fetching.values.map(\.due))
      .compactMap { $0 }.min()
  }

  // MARK: inputs

  mutating func connected(_ now: Instant, _ out: inout Output) {
    state = .attaching
    attempts = 0
    attach(now, &out)
  }

  mutating func disconnected() {
    state = .detached
    due = nil
    awaitsPong = false
    fetching = [:]
    outbox.suspend()
  }

  /// The clock was set back: what waits for a time of the clock before it is done now.
  mutating func clockSetBack(_ now: Instant) {
    guard state != .detached else { return }
    due = now
    newcomersSince = newcomersSince.map { min($0, now) }
    newcomersDue = newcomersDue.map { min($0, now) }
    for audience in fetching.keys.sorted() { fetching[audience]!.due = now }
    if state == .attached { outbox.restart(now) }
  }

  mutating func send(_ command: Command, id: CommandID, _ now: Instant, _ out: inout Output)
    throws(Problem)
  {
    guard !outbox.isFull else { throw .tooMany }
    out.changes.append(outbox.add(id, command))
    if state == .attached { outbox.postpone(id, until: now) }
  }

  /// What happens to somebody in no family group happens on the device alone (F7).
  mutating func happen(_ body: Event.Body, id: CommandID, _ now: Instant, _ out: inout Output) {
    let audience = Audience.account(personID)
    let last = delivered(audience)
    receive(
      Event(
        seq: last + 1, previous: last, audience: audience, command: id, device: address.device,
        at: now, body: body), now, &out)
  }

  mutating func broadcast(_ broadcast: Broadcast, _ now: Instant, _ out: inout Output) {
    switch broadcast {
    case .event(let event): receive(event, now, &out)
    case .head(let audience, let seq):
      if seq > delivered(audience) { fetch(audience, now, &out) }
    case .receipt(let audience, let receipt): advance(audience, receipt, &out)
    }
  }

  mutating func reply(_ id: UInt64, _ reply: Reply, _ now: Instant, _ out: inout Output) {
    switch reply {
    case .attached(let channels): attached(channels, now, &out)
    case .page(let audience, let events, let more):
      guard let request = fetching[audience], request.requestID == id else { return }
      let before = delivered(audience)
      for event in events where event.audience == audience { receive(event, now, &out) }
      let isBehind =
        more || events.contains { $0.audience == audience && $0.seq > delivered(audience) }
      // A page that does not go on from here, as of a relay that has lost events, is not asked for again
      // at once, but when this request is due again, with growing delays.
      if isBehind, delivered(audience) == before { return }
      fetching[audience] = nil
      if isBehind { fetch(audience, now, &out) }
    case .accepted(let id, _): settle(id, nil, now, &out)
    case .refused(let id, let problem):
      if problem.code >= Problem.overloaded.code {
        outbox.backOff(id, atLeast: problem.retryAfter, now)
      } else if problem == .stale {
        // A change of the family is made anew from the family as it is now.
        outbox.postpone(id, until: now + Timing.requestFirst)
      } else {
        settle(id, problem, now, &out)
      }
    case .joined: break
    case .pong:
      awaitsPong = false
      if state == .attached { due = now + Timing.ping }
    case .failed(let problem):
      if problem == .notEnrolled { out.shutOut = problem }
    }
  }

  mutating func timer(_ now: Instant, _ out: inout Output) {
    for audience in fetching.keys.sorted() where fetching[audience]!.due <= now {
      let attempts = fetching[audience]!.attempts
      fetching[audience] = nil
      fetch(audience, now, &out, attempts: attempts + 1)
    }
    guard let due, due <= now else { return }
    if state == .attached, !awaitsPong {
      awaitsPong = true
      self.due = now + Timing.requestFirst * 5
      request(.ping, &out)
    } else if state != .detached {
      state = .attaching
      attach(now, &out)
    }
  }

  /// Everything that a step leaves to the end: cursors, commands that are due, one acknowledgement.
  mutating func finish(_ now: Instant, _ out: inout Output) {
    out.changes += moved.sorted().compactMap { cursors[$0].map { .put(.cursor($0)) } }
    moved = []
    if let due = newcomersDue, due <= now { shareWithNewcomers(now, &out) }
    sendDue(now, &out)
    guard state == .attached, !unacknowledged.isEmpty else { return }
    request(.acknowledge(unacknowledged.sorted().compactMap { cursors[$0] }), &out)
    unacknowledged = []
  }

  mutating func markRead(_ audience: Audience, upTo seq: UInt64) {
    guard var cursor = cursors[audience], cursor.read < min(seq, cursor.delivered) else { return }
    cursor.read = min(seq, cursor.delivered)
    set(cursor)
  }

  // MARK: reading

  private func delivered(_ audience: Audience) -> UInt64 { cursors[audience]?.delivered ?? 0 }

  private mutating func receive(_ event: Event, _ now: Instant, _ out: inout Output) {
    let delivered = delivered(event.audience)
    guard event.seq > delivered else {
      // It is published again because our acknowledgement was lost.
      unacknowledged.insert(event.audience)
      return
    }
    guard event.previous == delivered else { return fetch(event.audience, now, &out) }
    var cursor = cursors[event.audience] ?? Cursor(event.audience, delivered: 0)
    cursor.delivered = event.seq
    set(cursor)
    let before = out.events.count
    if believe(event, &out) { out.changes.append(.put(.event(event))) }
    guard trust != nil else { return }
    if !isBehind { goOn(now) }
    for event in out.events[before...] where event.body.mayBringReaders { newcomersDue = now }
  }

  private mutating func set(_ cursor: Cursor) {
    cursors[cursor.audience] = cursor
    moved.insert(cursor.audience)
    unacknowledged.insert(cursor.audience)
  }

  private mutating func remember(_ event: Event) {
    if event.signature != nil { lastTime = max(lastTime, Int64(event.command.high >> 16)) }
    switch event.body {
    case .rosterChanged(let roster):
      self.roster = roster
      everybody.formUnion(roster.persons.map(\.id))
      for device in roster.devices { owners[device.id] = device.person }
    case .accountChanged(let person, .account(let account)):
      // Apps forget what is not true any more, in the order of the log on every device.
      if let birthdate = account.birthdate {
        ages[person, default: AgeLog()].add(event, .born(birthdate))
      }
      guard accountStamps[person].map({ $0 < event.stamp }) ?? true else { return }
      accountStamps[person] = event.stamp
      accounts[person] = account
    case .ageNoted(let person, let content):
      ages[person, default: AgeLog()].add(event, .note(content))
    case .ageSet(let person, let content, _):
      ages[person, default: AgeLog()].add(event, .set(content))
    case .passcodeChanged(let new): passcode = new
    case .joinRequested(let join): joins.append(join)
    default:
      guard let child = event.audience.conversationChild else { return }
      conversations[child, default: Conversation()].apply(event)
    }
  }

  private mutating func fetch(
    _ audience: Audience, _ now: Instant, _ out: inout Output, attempts: Int = 0
  ) {
    guard state == .attached, fetching[audience] == nil else { return }
    request(.fetch(audience, after: delivered(audience)), &out)
    let wait = Timing.backoff(attempts, Timing.requestFirst, Timing.requestMost)
    fetching[audience] = (lastRequestID, now + wait, attempts)
  }

  private mutating func advance(_ audience: Audience, _ receipt: Receipt, _ out: inout Output) {
    guard let child = audience.conversationChild else { return }
    var known = conversations[child]?.receipt ?? Receipt()
    guard receipt.delivered > known.delivered || receipt.read > known.read else { return }
    known.delivered = max(known.delivered, receipt.delivered)
    known.read = max(known.read, receipt.read)
    setReceipt(audience, known)
    out.changes.append(.put(.receipt(audience, known)))
  }

  private mutating func setReceipt(_ audience: Audience, _ receipt: Receipt) {
    guard let child = audience.conversationChild else { return }
    conversations[child, default: Conversation()].receipt = receipt
  }

  // MARK: attaching and commands

  private mutating func attach(_ now: Instant, _ out: inout Output) {
    awaitsPong = false
    fetching = [:]
    request(.attach(position), &out)
    due = now + Timing.backoff(attempts, Timing.requestFirst, Timing.requestMost)
    attempts += 1
  }

  private mutating func attached(_ channels: [Channel], _ now: Instant, _ out: inout Output) {
    guard state != .detached else { return }
    // Not asked for: the answer to a ping of a device that is late.
    let anew = state == .attached
    state = .attached
    attempts = 0
    awaitsPong = false
    due = now + Timing.ping
    out.sends.append(.listen(channels, anew: anew))
    familyHead = channels.first { $0.audience == .family }?.head ?? familyHead
    newcomersDue = trust == nil ? nil : now
    for channel in channels {
      advance(channel.audience, channel.receipt, &out)
      if channel.head > delivered(channel.audience) { fetch(channel.audience, now, &out) }
    }
    outbox.restart(now)
  }

  /// New audiences may have come with a roster: attach again to learn their channels.
  mutating func reattach(_ now: Instant, _ out: inout Output) {
    if state == .attached { attach(now, &out) }
  }

  mutating func settle(
    _ id: CommandID, _ problem: Problem?, _ now: Instant, _ out: inout Output
  ) {
    guard let (command, change) = outbox.remove(id) else { return }
    out.changes.append(change)
    settled(command, problem, now)
    if case .shareKeys = command { return }
    out.outcomes.append((command, problem))
  }

  mutating func request(_ request: Request, _ out: inout Output) {
    lastRequestID += 1
    out.sends.append(.send(lastRequestID, request))
  }
}

extension Event.Body {
  /// After it, somebody may lack keys that this device has.
  fileprivate var mayBringReaders: Bool {
    switch self {
    case .rosterChanged, .keysShared: true
    default: false
    }
  }
}
