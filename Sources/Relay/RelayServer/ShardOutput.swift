import FamilyCore
import FamilyModel
import RelayStore

/// What requests of one lane led to: first to the store, then to the sockets.
struct ShardOutput: Sendable {
  /// A page of history that was asked for.
  struct Page {
    var route: [UInt8]
    var device: DeviceAddress
    var id: UInt64
    var audience: Audience
    var after: UInt64
    var upTo: UInt64
  }

  /// Events that are to be published again; what was decided after that is left out, likewise.
  struct Republish {
    var family: FamilyID
    var generation: UInt32
    var audience: Audience
    var after: UInt64
    var limit: Int
    var upTo: UInt64
  }

  /// Requests that led to it, and their bytes.
  private(set) var (requests, bytes) = (0, 0)
  var events: [StoredEvent] = []
  var snapshots: [StoredSnapshot] = []
  var cursors: [StoredCursor] = []
  /// The last event that was encoded: its broadcast comes right after it.
  var encoded: (family: FamilyID, seq: UInt64, bytes: [UInt8])?
  var replies: [(route: [UInt8], bytes: [UInt8])] = []
  var broadcasts: [(topic: [UInt8], bytes: [UInt8])] = []
  /// Read from the store after the commit, so that they hold what was decided before them; what was decided
  /// after them, when the device may have been removed, is left out.
  var pages: [Page] = []
  var republishes: [Republish] = []
  /// The descriptors of connections whose peers have proved who they are.
  var proved: [Int32] = []
  /// Requests that could not be read.
  var malformed = 0

  /// One more request, of so many bytes, was handled.
  mutating func count(_ bytes: Int) {
    requests += 1
    self.bytes += bytes
  }

  /// Whether there is nothing to do for it.
  var isEmpty: Bool {
    requests == 0 && events.isEmpty && snapshots.isEmpty && cursors.isEmpty && replies.isEmpty
      && broadcasts.isEmpty
      && pages.isEmpty && republishes.isEmpty && proved.isEmpty && malformed == 0
  }

  /// Empties it; the memory stays for the next ones.
  mutating func removeAll() {
    (requests, bytes) = (0, 0)
    events.removeAll(keepingCapacity: true)
    snapshots.removeAll()
    cursors.removeAll(keepingCapacity: true)
    encoded = nil
    replies.removeAll(keepingCapacity: true)
    broadcasts.removeAll(keepingCapacity: true)
    pages.removeAll(keepingCapacity: true)
    republishes.removeAll(keepingCapacity: true)
    proved.removeAll(keepingCapacity: true)
    malformed = 0
  }
}
