import FamilyModel

extension RelayMachine {
  /// A family in memory: its durable state, and the volatile state of its devices and requests.
  struct Family: Hashable, Sendable {
    var state: FamilyState
    var deliveries = DeliveryTracker()
    var rateLimits = RateLimits()
    var refusals = RefusalCache()
    /// The time of the last request; the cache evicts by it.
    var lastUsed: Instant
    /// Whether the family's timer is set to the next delivery check.
    var isCheckScheduled = false
    /// The store's answer about the last command whose result was evicted from memory.
    var storedResult: StoredResult?
    /// The secret and the count of the passcode; `nil` before a guardian prepares one.
    var passcodeLock: PasscodeLock?
    /// The last event of the newest snapshot.
    var snapshotSeq: UInt64 = 0
  }

  /// The event that a command produced according to the store; `seq` is `nil` for a new command.
  struct StoredResult: Hashable, Sendable {
    var id: CommandID
    var device: DeviceID
    var seq: UInt64?
    var outline: CommandOutline?

    var finding: CommandResults.Finding {
      guard let seq, let outline else { return .new }
      return .event(seq: seq, outline: outline)
    }
  }

  /// The outcome of a request.
  public enum Disposition: Sendable {
    /// The relay identified the sender and served the request; a command may still be refused.
    case served
    /// The sender's key is unknown to the family, or its join request is invalid.
    case notEnrolled
    /// The device or its family exceeded its rate limit.
    case rateLimited
    /// The family is not in memory.
    case notLoaded
  }
}

extension RelayMachine.Family {
  /// The result of one request, besides its effects.
  struct Outcome {
    var disposition: RelayMachine.Disposition
    /// The time of the next delivery check; `nil` leaves the family's timer as it is.
    var nextCheck: Instant?
    var isSnapshotDue: Bool
  }

  /// Handles one request: the only entry for requests into a family's state.
  mutating func handle(
    _ request: Request, from sender: RelayMachine.Sender, now: Instant,
    verify: FamilyState.Verifier, snapshotEvery events: UInt64,
    into effects: inout [RelayMachine.Effect]
  ) -> Outcome {
    let (disposition, nextCheck) = serve(
      request, from: sender, now: now, verify: verify, into: &effects)
    return Outcome(
      disposition: disposition, nextCheck: nextCheck,
      isSnapshotDue: isSnapshotDue(every: events))
  }
}
