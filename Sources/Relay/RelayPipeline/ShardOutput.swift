import FamilyCore
import FamilyModel
import RelayStore

/// The events, replies and broadcasts that one slice of requests produced: first for the store,
/// then for the sockets.
struct ShardOutput: Sendable {
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
  /// The reads that start after the commit, so that they see every earlier event.
  var reads: [StoreRead] = []
  /// The keys for which families were read, and whether their requests were refused then.
  var readKeys: [(key: [UInt8], isRefused: Bool)] = []
  /// File descriptors of connections whose peers have proved their identity.
  var provenDescriptors: [(Int32, epoch: UInt64)] = []
  /// Messages that could not be decoded.
  var malformed = 0
  /// Refused requests, by the problem's number.
  var refusals: [Int: Int] = [:]
  /// Requests that were refused because too many families waited to be read.
  var paced = 0

  /// Counts one handled request.
  mutating func countRequest(bytes: Int) {
    requests += 1
    self.bytes += bytes
  }

  /// Moves the reads to an output of their own.
  mutating func removeReads() -> ShardOutput {
    var other = ShardOutput()
    swap(&other.reads, &reads)
    return other
  }

  /// Whether the output has no effect.
  var isEmpty: Bool {
    requests == 0 && events.isEmpty && snapshots.isEmpty && passcodeLocks.isEmpty && cursors.isEmpty
      && replies.isEmpty
      && broadcasts.isEmpty && reads.isEmpty && readKeys.isEmpty && provenDescriptors.isEmpty
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
    reads.removeAll(keepingCapacity: true)
    readKeys.removeAll()
    provenDescriptors.removeAll(keepingCapacity: true)
    malformed = 0
    if !refusals.isEmpty { refusals.removeAll() }
    paced = 0
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
