public import FamilyModel

/// A device's side of its connection to the relay: reads its audiences without gaps and without
/// repetition, verifies what it reads, and sends its commands.
///
/// - `detached` → (connected) `attaching`.
/// - `attaching` → (reply) `attached`; → (time-out) `attaching` again.
/// - `attached` → (no pong in time) `attaching`.
/// - Every state → (disconnected) `detached`.
///
/// In every state a broadcast is applied if it continues the chain of its audience, so the order in
/// which the two sockets connect does not matter.
public struct DeviceLink: Sendable {
  enum State: Hashable, Sendable { case detached, attaching, attached }

  /// The results of one step, for the machine that owns the link.
  struct Output {
    var changes: [RecordChange] = []
    var sends: [DeviceEffect] = []
    /// The events that this step applied, in order, with their content open.
    var events: [Event] = []
    /// The commands that the relay, or this device, refused.
    var refusals: [(command: Command, problem: Problem)] = []
    /// The problems of the events that this step rejected. A rejected event changes nothing.
    var rejected: [Problem] = []
    /// The events that the relay no longer shows.
    var lost: [(audience: Audience, seqs: ClosedRange<UInt64>)] = []
    /// The evaluations of passcodes that ended.
    var evaluated: [Evaluated] = []
    /// The relay's refusal to serve this device at all.
    var shutOut: Problem?
    /// The number of contents that this device cannot open, if it complained about their keys.
    var unopened: Int?
    /// Whether apps need more rosters than the new ones, or the rosters at other positions.
    var hasMovedRosters = false
  }

  /// The device.
  public let address: DeviceAddress
  /// The owner of this device, known before the device has any roster.
  public let personID: PersonID
  /// The events of the restored records that verified, with their content open, in order.
  public private(set) var restored: [Event] = []
  /// Whether the records have a snapshot that this device cannot use. The records must then have all
  /// events.
  public internal(set) var hasIgnoredSnapshot = false

  var family = FamilyProjection()
  /// When the first roster with this device was accepted; `nil` before.
  var joined: Instant?
  /// `nil` verifies nothing, seals nothing and signs nothing: for tests of the machines alone.
  var verifier: EventVerifier?
  var sender: CommandSender

  /// The newest event of the family's audience, as the relay reported at the attachment.
  var familyHead: UInt64 = 0
  /// The newest event of the owner's account, as the relay reported at the attachment.
  var accountHead: UInt64 = 0
  var cursors = SmallMap<Audience, Cursor>()
  var state = State.detached
  var attempts = 0
  /// Whether the relay's next `attached` makes the commands due.
  var restartsOutbox = true
  /// The last attachment's request, and its cursors.
  var attachment: (requestID: UInt64, cursors: [Cursor]) = (0, [])
  var due: Instant?
  /// Whether the connection ended since the last attachment, and with it the subscriptions.
  var mayLackSubscriptions = false
  var awaitsPong = false
  /// Whether an attachment of this connection has no reply yet.
  package internal(set) var awaitsAttachment = false
  /// Whether the relay's last word is that it does not know this device.
  var isRefused = false
  var fetching: [Audience: PageRequest] = [:]
  /// The requested evaluations of passcodes, by the numbers of their machine.
  var evaluations: [UInt64: PendingEvaluation] = [:]
  /// The audiences that the device reads again, with the number of positions of the next step back.
  var rereads: [Audience: Int] = [:]
  /// The last event of each audience that this device has read more than once.
  var rereadEnds: [Audience: UInt64] = [:]
  /// The positions that rereads have removed, until the end of the relay's history is reached.
  var former: [Audience: [ChainPosition]] = [:]
  /// When this device attaches again, to correct what it acknowledged of a lost history.
  var correctionDue: Instant?
  /// When this device last corrected its acknowledgements.
  var corrected: Instant?
  /// The statements of this device, for a relay that loses them.
  var statements = OwnStatements()
  /// The events of which this device keeps a copy if the relay loses them.
  var kept = KeptEvents()
  /// The stored events that were newer than an earlier version, until the first step after the start.
  var newer: [Event] = []
  /// Whether an event is newer than this version. From then on the device keeps rejected events too,
  /// because they may depend on it.
  var hasReadNewer = false
  /// The number of rejected events that the device has kept.
  var keptRejected = 0
  /// The present positions of the questions that the relay had lost; the largest number: still lost.
  var questionSeqs: [QuestionID: UInt64] = [:]
  /// How often this device gave an audience's statements back, and when it last did.
  var givingBacks: [Audience: (count: Int, last: Instant)] = [:]
  /// When this device states the present roster, because the relay has lost it.
  var rosterDue: Instant?
  /// How often this device has stated the present roster since the relay lost it.
  var rosterRounds = 0
  /// The statement of the present roster in the outbox.
  var rosterStatement: CommandID?
  /// The wait for events that others knew; `nil` without one.
  var withholding: Withholding?
  /// The newest statements of guardians' devices.
  var hearing = Hearing()
  /// The audiences whose cursors moved in this step. Their records are written once, at the end of
  /// the step.
  var movedAudiences: Set<Audience> = []
  var unacknowledged: Set<Audience> = []
  var snapshots: Snapshots?
  /// Whether the link belongs to a child's machine, which derives more from the events.
  let isChild: Bool
  /// The events that the stored snapshot covers; `nil` without one.
  var coverage: SnapshotCoverage?
  /// The snapshot that this start makes.
  var draft: SnapshotDraft?
  /// The change of the snapshot by this start.
  var snapshotChange: RecordChange?
  /// The events after the newest snapshot.
  var uncovered = 0
  /// The snapshot that the shell makes; `nil`: none.
  var requestedSnapshot: RequestedSnapshot?
  /// The requests since the newest snapshot whose records allowed none.
  var fruitlessRequests = 0
  /// The number of the last requested snapshot.
  var lastSnapshotRequest: UInt64 = 0
  /// The state of a child's machine in the snapshot.
  var restoredChild: RestoredChild?
  /// The changes by which this start replaces reports of the web that were stored as events.
  var reportChanges: [RecordChange] = []
  /// The reports of each child's use of the web.
  var webReports: [PersonID: WebReports] = [:]
  /// Whether the host announces the presence of all devices of its connection, so that this device
  /// pings seldom.
  let hostAnnouncesPresence: Bool

  init(
    _ address: DeviceAddress, of person: PersonID, _ security: Security?, isChild: Bool = false,
    hasApps: Bool = false, hostAnnouncesPresence: Bool = false, restoring records: [DeviceRecord],
    ids: IDSource
  ) {
    self.address = address
    self.isChild = isChild
    self.hostAnnouncesPresence = hostAnnouncesPresence
    personID = person
    sender = CommandSender(address, of: person, ids: ids)
    verifier = security.map {
      EventVerifier(
        $0.vault, organizerKey: $0.organizerKey, family: address.family, hasApps: hasApps)
    }
    snapshots = security?.snapshots
    verifier?.evidence?.coding = snapshots?.coding
    var history = StoredHistory()
    var receipts: [(Audience, Receipt)] = []
    for record in records {
      switch record {
      case .event(let event): history.events.append(event)
      case .cursor(let cursor): cursors[cursor.audience] = cursor
      case .outbox(let position, let id, let command, let basedOnSeq):
        sender.restore(position, id, command, basedOnSeq: basedOnSeq)
      case .receipt(let audience, let receipt): receipts.append((audience, receipt))
      case .passed(let audience, let position):
        history.passed[audience, default: []].append(position)
      case .newer(let event): history.newer.append(event)
      case .lost(let event, let after): history.lost.append((event, after))
      case .snapshot(let bytes): history.snapshot = bytes
      case .webReport(let person, let device, let report):
        webReports[person, default: WebReports()].restore(report, of: device)
      case .app, .entry, .named, .managed, .activity, .notification, .latestTime, .webUse: break
      }
    }
    history.newer.sort { $0.seq < $1.seq }
    hasReadNewer = !history.newer.isEmpty
    restoreSnapshot(from: &history)
    for (audience, receipt) in receipts { restoreReceipt(audience, receipt) }
    restoreChains(history.events + history.newer, history.passed)
    uncovered = history.events.count
    restored = restoreEvents(&history)
    markGivenBack(history.events)
    // This device made these keys, and the relay may not have them yet.
    for share in sender.pendingKeyShares {
      verifier?.keep(share.wraps, share.audience, isShared: false)
    }
  }

  /// Verifies and applies the stored events in the order of the log.
  ///
  /// - Parameter rejected: The numbers of events that are rejected, and kept for a later version.
  /// - Returns: The events that verified, with their content open.
  mutating func replay(_ history: inout StoredHistory, rejected: inout Set<UInt64>) -> [Event] {
    var out = Output()
    place(&history.lost, among: history.events)
    var next = history.lost.startIndex
    let events = (history.events + history.newer).sorted { $0.seq < $1.seq }
    let last = lastToCover(of: events, history)
    for (index, event) in events.enumerated() {
      while next < history.lost.endIndex, history.lost[next].after < event.seq {
        restore(history.lost[next].event, after: history.lost[next].after, into: &out)
        next += 1
      }
      if verify(event, into: &out) == .rejectedForNow { rejected.insert(event.seq) }
      if index == last, out.rejected.isEmpty,
        events[...index].allSatisfy({ verifier?.hasRead($0) ?? false })
      {
        draftSnapshot(at: event.seq, events: out.events.count)
      }
    }
    for (event, after) in history.lost[next...] { restore(event, after: after, into: &out) }
    reportChanges = Self.changes(ofReports: out)
    return out.events
  }

  /// Releases the restored events, which nobody needs after the start.
  mutating func releaseRestored() {
    restored = []
    restoredChild = nil
  }

  /// When an attached device pings next.
  mutating func nextPing(now: Instant) -> Instant {
    guard hostAnnouncesPresence else { return now + Timing.pingInterval }
    return now + Timing.hostedPingInterval
      + Timing.jitter(sender.randomBits(), below: Timing.hostedPingInterval)
  }

  /// A new command id: see ``CommandIDSource``.
  mutating func nextID(now: Instant) -> CommandID { sender.nextID(now: now) }

  /// A new command id with the relay's time, which may differ from the wall clock.
  mutating func nextID(at time: Instant, now: Instant) -> CommandID {
    sender.learn(relayTime: time, now: time)
    defer { sender.learn(relayTime: time, now: now) }
    return sender.nextID(now: time)
  }
}
