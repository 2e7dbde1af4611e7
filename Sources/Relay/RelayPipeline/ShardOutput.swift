import FamilyCore
import FamilyModel
import RelayStore

/// The events, replies and broadcasts that one slice of requests produced: first for the store,
/// then for the sockets.
struct ShardOutput: Sendable {
  /// A page of history that a device requested.
  struct Page {
    var route: [UInt8]
    var device: DeviceAddress
    var id: UInt64
    var audience: Audience
    var after: UInt64
    var upTo: UInt64
  }

  /// A reply to `attach`. The socket thread adds the inbox of the key.
  struct Attachment {
    /// The index of the reply.
    var reply: Int
    var device: DeviceAddress
    var key: PeerKey
  }

  /// A sealed frame for the inboxes of its readers.
  struct Broadcast {
    var frame: [UInt8]
    /// The indices of the readers' keys.
    var readers: Range<Int>
  }

  /// A range of events to broadcast again. Events after `upTo` are newer than the request and are
  /// left out.
  struct Republish {
    var family: FamilyID
    var generation: UInt32
    var audience: Audience
    var seq: UInt64
  }

  /// The handled requests and their bytes, which count as in flight until the output is sent.
  private(set) var (requests, bytes) = (0, 0)
  var events: [StoredEvent] = []
  var snapshots: [StoredSnapshot] = []
  var passcodeLocks: [StoredPasscodeLock] = []
  var cursors: [StoredCursor] = []
  /// The newest encoded event, because its broadcast follows directly and needs the same bytes.
  var lastEncodedEvent: (family: FamilyID, seq: UInt64, bytes: [UInt8])?
  var replies: [(route: [UInt8], bytes: [UInt8])] = []
  var attachments: [Attachment] = []
  var broadcasts: [Broadcast] = []
  /// The keys of the broadcasts' readers. One array, because a broadcast has few readers.
  var readers: [PeerKey] = []
  /// The pages to read after the commit, so that they contain every earlier event. Later events are
  /// left out, because the device may have been removed in the meantime.
  var pages: [Page] = []
  var republishes: [Republish] = []
  /// File descriptors of connections whose peers have proved their identity.
  var provenDescriptors: [(Int32, epoch: UInt64)] = []
  /// Messages that could not be decoded.
  var malformed = 0
  /// Refused requests, by the problem's number.
  var refusals: [Int: Int] = [:]

  /// Counts one handled request.
  mutating func countRequest(bytes: Int) {
    requests += 1
    self.bytes += bytes
  }

  /// The event of a device's command; `nil` if the output has none.
  func event(of command: CommandID, by device: DeviceID, in family: FamilyID) -> StoredEvent? {
    events.first { $0.command == command && $0.device == device && $0.family == family }
  }

  /// Whether the output has no effect.
  var isEmpty: Bool {
    requests == 0 && events.isEmpty && snapshots.isEmpty && passcodeLocks.isEmpty && cursors.isEmpty
      && replies.isEmpty
      && broadcasts.isEmpty && pages.isEmpty && republishes.isEmpty && provenDescriptors.isEmpty
      && malformed == 0
  }

  /// Removes everything and keeps the memory for reuse.
  mutating func removeAll() {
    (requests, bytes) = (0, 0)
    events.removeAll(keepingCapacity: true)
    snapshots.removeAll()
    passcodeLocks.removeAll()
    cursors.removeAll(keepingCapacity: true)
    lastEncodedEvent = nil
    replies.removeAll(keepingCapacity: true)
    attachments.removeAll(keepingCapacity: true)
    broadcasts.removeAll(keepingCapacity: true)
    readers.removeAll(keepingCapacity: true)
    pages.removeAll(keepingCapacity: true)
    republishes.removeAll(keepingCapacity: true)
    provenDescriptors.removeAll(keepingCapacity: true)
    malformed = 0
    if !refusals.isEmpty { refusals.removeAll() }
  }

  /// Counts a reply that refuses its request.
  mutating func countRefusal(_ reply: Reply) {
    switch reply {
    case .refused(_, let problem), .failed(let problem):
      refusals[Int(problem.code), default: 0] += 1
    default: break
    }
  }
}
