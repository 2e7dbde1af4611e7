public import FamilyModel

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
  public internal(set) var roster = Roster()
  /// The accounts that this device may see (F2).
  public internal(set) var accounts: [PersonID: Account] = [:]
  /// What is set about the ages of these people, and what apps were told (D10).
  var ages: [PersonID: AgeLog] = [:]
  /// The conversations that this device takes part in.
  public internal(set) var conversations: [PersonID: Conversation] = [:]

  /// Devices that have asked to join, in the order in which they asked.
  public internal(set) var joins: [JoinRequest] = []
  /// The family's passcode, once a guardian has set one (A4).
  public internal(set) var passcode: Passcode?

  var outbox = Outbox()
  /// What this device believes; `nil`: everything, as in the machines' own tests.
  var trust: EventVerifier?
  /// What was believed of the records that the device was restored from, with its contents open, in order.
  public internal(set) var restored: [Event] = []
  private var ids: IDSource
  /// The last time, in milliseconds, that a believed command was made at: this device's next one is later.
  var lastTime: Int64 = 0
  var accountStamps = SmallMap<PersonID, ID128>()
  /// The largest number that a person of the family ever had.
  var lastPerson = PersonID(0)
  /// The family's last event, as the relay said at the attachment.
  var familyHead: UInt64 = 0
  /// Commands wait for keys, or for the family.
  var isWaiting = false
  /// Since when a device lacks keys, and when it is this device's turn to give them.
  var newcomersSince: Instant?
  var newcomersDue: Instant?
  /// Also of devices that have left: what they said stays theirs.
  var owners = SmallMap<DeviceID, PersonID>()
  var cursors = SmallMap<Audience, Cursor>()
  var state = State.detached
  var attempts = 0
  var due: Instant?
  var awaitsPong = false
  var fetching: [Audience: (requestID: UInt64, due: Instant, attempts: Int)] = [:]
  /// Moved in this step; its records are written once, at the end.
  var moved: Set<Audience> = []
  var unacknowledged: Set<Audience> = []
  var lastRequestID: UInt64 = 0
  /// Whether a host says for all devices of the connection that they are there.
  let isSpokenFor: Bool

  init(
    _ address: DeviceAddress, of person: PersonID, _ security: Security?, hasApps: Bool = false,
    isSpokenFor: Bool = false, restoring records: [DeviceRecord], ids: IDSource
  ) {
    self.address = address
    self.isSpokenFor = isSpokenFor
    personID = person
    self.ids = ids
    trust = security.map {
      EventVerifier(
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
    for event in events.sorted(by: { $0.seq < $1.seq }) { believe(event, into: &out) }
    restored = out.events
    // Keys of this device's own that the relay may not have yet.
    for case .shareKeys(let audience, let wraps) in outbox.pending.map(\.command) {
      learn(wraps, audience, isShared: false)
    }
  }

  /// When an attached device says next that it is there.
  mutating func nextPing(_ now: Instant) -> Instant {
    guard isSpokenFor else { return now + Timing.ping }
    return now + Timing.pingSeldom + Int64(ids.next() % UInt64(Timing.pingSeldom))
  }

  /// A new command's id, later than all that this device knows of.
  mutating func nextID(_ now: Instant) -> CommandID {
    lastTime = max(lastTime + 1, now.milliseconds)
    return ids.id(now: Instant(milliseconds: lastTime))
  }
}
