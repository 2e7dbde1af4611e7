import FamilyModel
import RelayStore

/// The requests of a shard that wait until their family, or the result of a command, is read.
///
/// All requests of a family behind the first one wait, too, so the family's requests keep their
/// order. Requests of other families are handled meanwhile.
struct WaitingRequests: Sendable {
  /// The requests of one family, in the order of their arrival.
  struct Entry: Sendable {
    var requests: [PendingRequest] = []
    /// The family's cursors that were not written when its load was requested. The load may miss
    /// them, and they may be written before it ends.
    var cursors: [StoredCursor] = []
    /// The result of the first request's command, which was read before the family was evicted.
    var result: StoredResult?
  }

  /// The result of an old command.
  struct StoredResult: Sendable {
    var command: CommandID
    var device: DeviceID
    var event: Event?
  }

  private var entries: [FamilyID: Entry] = [:]
  private var count = 0
  private var bytes = 0
  /// The number of shards, which divide the limits among them.
  private let shards: Int

  init(shards: Int) { self.shards = shards }

  var isEmpty: Bool { entries.isEmpty }

  /// Whether requests of the family wait.
  func holds(_ family: FamilyID) -> Bool { !entries.isEmpty && entries[family] != nil }

  /// Whether the request may wait.
  ///
  /// - Parameter isTrusted: Whether the sender's key was enrolled. Other senders, who may guess
  ///   families, get half of the room.
  func hasRoom(for request: PendingRequest, isTrusted: Bool = true) -> Bool {
    if let entry = entries[request.family] {
      guard entry.requests.count < RelayLimits.waitingRequestsPerFamily else { return false }
    } else if entries.count >= RelayLimits.waitingFamilies / shards / (isTrusted ? 1 : 2) {
      return false
    }
    return count < RelayLimits.waitingRequests / shards
      && bytes + request.bytes <= RelayLimits.waitingBytes / shards
  }

  /// Adds a request at the end of its family's.
  mutating func add(_ request: PendingRequest) {
    entries[request.family, default: Entry()].requests.append(request)
    count += 1
    bytes += request.bytes
  }

  /// Changes what is known about a waiting family.
  mutating func update(_ family: FamilyID, _ body: (inout Entry) -> Void) {
    guard entries[family] != nil else { return }
    body(&entries[family]!)
  }

  /// Removes the family's requests.
  mutating func remove(_ family: FamilyID) -> Entry? {
    guard let entry = entries.removeValue(forKey: family) else { return nil }
    count -= entry.requests.count
    bytes -= entry.requests.reduce(0) { $0 + $1.bytes }
    return entry
  }

  /// Limits the times of the requests to `now`, because the wall clock was set back.
  mutating func clockSetBack(_ now: Instant) {
    for family in entries.keys { entries[family]!.requests.clockSetBack(now) }
  }
}
