public import FamilyModel

/// The pure state machine of a relay: orders commands into events, and decides their readers. Holds
/// the families in use.
///
/// A family is `unknown` → (load) `held` → (evict) `unknown`. Eviction is allowed between any two
/// steps, because it drops caches only: devices repeat what they need. The shell loads a family
/// before its first input. A request for a family that is not held is refused as `overloaded`.
///
/// The shell makes the events of `append` and each `passcodeLock` durable before it sends any reply or broadcast of the
/// same step.
public struct RelayMachine: Sendable {
  /// An input of the machine.
  public enum Input: Sendable {
    /// A request of a device or of the administrator. The connection has proved the key.
    case request(DeviceAddress, key: [UInt8], administrator: Bool, id: RequestID, Request)
    /// The connection that receives the device's broadcasts has subscribed. Its key is proved.
    case subscribed(DeviceAddress, key: [UInt8])
    /// The wall clock was set back, so the deadlines by the earlier clock are too late.
    case clockSetBack
    /// The deadline has passed.
    case timer
  }

  /// An action that the shell carries out.
  public enum Effect: Hashable, Sendable {
    /// Makes the event durable.
    case append(FamilyID, Event)
    /// Stores the state after event `seq` and replaces an older snapshot. The event is durable
    /// already, or becomes durable in the same commit. A snapshot may be lost.
    case snapshot(FamilyID, seq: UInt64, [UInt8])
    /// Stores the family's passcode lock and replaces an earlier one.
    case passcodeLock(FamilyID, [UInt8])
    /// Stores the cursor. A cursor may be lost in a crash, because the device sends it again.
    case cursor(FamilyID, DeviceID, Cursor)
    /// Sends the reply.
    case reply(DeviceAddress, id: RequestID, Reply)
    /// Replies with the audience's events after `after`, from the store. Events after `upTo` are
    /// newer than the request and excluded, because the device may have left the audience since.
    case page(DeviceAddress, id: RequestID, Audience, after: UInt64, upTo: UInt64)
    /// Publishes on the audience's channel.
    case broadcast(FamilyID, generation: UInt32, Audience, Broadcast)
    /// Publishes the audience's event with this sequence number again, from the store.
    case republish(FamilyID, generation: UInt32, Audience, UInt64)
  }

  /// Families that one `timer` input checks. The deadline stays in the past for the rest, so the
  /// next timer follows at once.
  static let familiesPerTimer = 1_024
  /// Cursors that one request moves: those of a guardian in the largest family. Further cursors are
  /// ignored.
  static let cursorsPerRequest = 2 * Limits.persons + 1
  /// Unsolicited replies to announced devices, per request. Further devices get theirs with a later
  /// request.
  static let repliesPerRequest = 64

  var families: FamilyCache
  var timers = TimerQueue<FamilyID>()

  private(set) var verify: FamilyState.Verifier
  let snapshotEvery: UInt64
  private let resultsKept: Int

  /// Creates a machine that holds no family.
  ///
  /// - Parameters:
  ///   - verify: Verifies signatures.
  ///   - digest: The digest that the devices sign.
  ///   - passcodes: Evaluates passcodes.
  ///   - resultsKept: The least number of command results that a family keeps in memory. Older ones
  ///     are in the store: see ``needsStoredResult(of:by:in:)``.
  ///   - openFamilies: The number of families held unpacked, those used last. Packed families take
  ///     a third of the memory.
  ///   - snapshotEvery: The least number of events between two snapshots of a family.
  public init(
    verify: @escaping FamilyState.Verify, digest: @escaping @Sendable ([UInt8]) -> [UInt8] = { $0 },
    passcodes: PasscodeEvaluator = .ideal,
    resultsKept: Int = .max, openFamilies: Int = 16_384, snapshotEvery: UInt64 = .max
  ) {
    self.verify = FamilyState.Verifier(verify, digest: digest, passcodes: passcodes)
    self.resultsKept = resultsKept
    self.snapshotEvery = snapshotEvery
    families = FamilyCache(openFamilies: openFamilies)
  }

  /// The bytes that a family's events may take in the store.
  public var quota: StorageQuota {
    get { verify.quota }
    set { verify.quota = newValue }
  }

  // MARK: Families

  /// The number of families held.
  public var count: Int { families.count }
  /// Whether the family is held.
  public func holds(_ family: FamilyID) -> Bool { families.slot(of: family) != nil }
  /// Whether the family is held and has events.
  public func exists(_ family: FamilyID) -> Bool {
    families.slot(of: family).map { families[$0].state.seq > 0 } ?? false
  }
  /// The sequence number of the family's newest event; 0 if the family is not held.
  public func seq(of family: FamilyID) -> UInt64 {
    families.slot(of: family).map { families[$0].state.seq } ?? 0
  }
  /// The family's state; `nil` if the family is not held.
  public func state(of family: FamilyID) -> FamilyState? {
    families.slot(of: family).map { families[$0].state }
  }

  /// Loads a family.
  ///
  /// - Parameters:
  ///   - snapshot: The stored snapshot, if any.
  ///   - events: The events after the snapshot, in order. A family without events does not exist
  ///     yet.
  ///   - cursors: The stored cursors.
  ///   - passcodeLock: The stored passcode lock, if any.
  public mutating func load(
    _ id: FamilyID, snapshot: FamilyState? = nil, events: [Event], cursors: [(DeviceID, Cursor)],
    passcodeLock: PasscodeLock? = nil, now: Instant
  ) {
    var state = snapshot ?? FamilyState(resultsKept: resultsKept)
    let snapshotSeq = state.seq
    for event in events { state.apply(event) }
    load(
      id, state: state, snapshotSeq: snapshotSeq, cursors: cursors, passcodeLock: passcodeLock,
      now: now)
  }

  /// Loads a family whose events are applied already.
  ///
  /// - Parameters:
  ///   - state: The state after the newest stored event.
  ///   - snapshotSeq: The newest event of the stored snapshot; 0 without one.
  ///   - cursors: The stored cursors, older ones first.
  ///   - passcodeLock: The stored passcode lock, if any.
  public mutating func load(
    _ id: FamilyID, state: consuming FamilyState, snapshotSeq: UInt64,
    cursors: [(DeviceID, Cursor)], passcodeLock: PasscodeLock?, now: Instant
  ) {
    var family = Family(state: state, lastUsed: now)
    family.snapshotSeq = snapshotSeq
    family.passcodeLock = passcodeLock
    for (device, cursor) in cursors { family.deliveries.restore(device, cursor) }
    family.state.trimCapacity()
    families.insert(family, id)
  }

  /// Evicts the family.
  public mutating func evict(_ id: FamilyID) {
    families.remove(id)
    timers.remove(id)
  }

  /// Evicts the least recently used families until at most `limit` are held.
  public mutating func evict(downTo limit: Int) {
    guard families.count > limit else { return }
    for id in families.leastRecentlyUsed(keeping: limit) { evict(id) }
  }

  // MARK: Costs

  /// Charges the bytes of a page to the device that requested it. The relay knows them only after it
  /// has read the page.
  public mutating func charge(pageBytes: Int, to device: DeviceAddress, now: Instant) {
    guard RateLimits.cost(ofPageBytes: pageBytes) > 0, let slot = families.slot(of: device.family)
    else { return }
    families[slot].charge(pageBytes: pageBytes, to: device.device, now: now)
  }

  // MARK: Stored results

  /// Whether the result of the command is in the store only. The shell then calls
  /// ``setStoredResult(of:by:event:in:)`` before the request; otherwise the request is refused as
  /// `overloaded`.
  public mutating func needsStoredResult(
    of command: CommandID, by device: DeviceID, in family: FamilyID
  ) -> Bool {
    guard let slot = families.slot(of: family) else { return false }
    return families.open(slot) { $0.state.results.isEvicted(command, by: device) }
  }

  /// Whether the shell may read a stored result for this request. Strangers, and members above
  /// their rate limit, must not cause reads; their requests are refused without one.
  public mutating func mayReadStoredResult(
    for request: Request, from sender: Sender, now: Instant
  ) -> Bool {
    guard let slot = families.slot(of: sender.address.family) else { return false }
    return families.open(slot) { $0.mayReadStoredResult(for: request, from: sender, now: now) }
  }

  /// Sets the store's answer about a device's command: the event that it produced, or `nil` for a
  /// new command.
  public mutating func setStoredResult(
    of command: CommandID, by device: DeviceID, event: Event?, in family: FamilyID
  ) {
    if let slot = families.slot(of: family) {
      families[slot].storedResult = StoredResult(
        id: command, device: device, seq: event?.seq, outline: event.map { CommandOutline($0) })
    }
  }
}
