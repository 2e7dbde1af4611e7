import FamilyCore
import FamilyModel
import RelayStore
import RelayWire

/// A read of the store that a shard requests.
///
/// The read leaves the shard with its output and starts after the output's commit, so it sees every
/// earlier event of the shard.
enum StoreRead: Sendable {
  /// A page of history that a device requested.
  struct Page: Sendable {
    var route: [UInt8]
    var device: DeviceAddress
    var id: UInt64
    var audience: Audience
    var after: UInt64
    /// Events after `upTo` are newer than the request and left out, because the device may have left
    /// the audience since.
    var upTo: UInt64
  }

  /// An event to broadcast again.
  struct Republish: Sendable {
    var family: FamilyID
    var generation: UInt32
    var audience: Audience
    var seq: UInt64
  }

  /// A family, for a request with this key. `isTrusted`: the limit of unproven reads does not apply.
  case family(FamilyID, key: [UInt8], isTrusted: Bool)
  /// The event of a device's command.
  case result(CommandID, by: DeviceID, in: FamilyID)
  case page(Page)
  case republish(Republish)

  var family: FamilyID {
    switch self {
    case .family(let family, _, _), .result(_, _, let family): family
    case .page(let page): page.device.family
    case .republish(let republish): republish.family
    }
  }

  var isFamily: Bool { if case .family = self { true } else { false } }

  /// Whether the sender of the request is known to be a member.
  var isTrusted: Bool {
    if case .family(_, _, let isTrusted) = self { isTrusted } else { true }
  }
}

/// The result of a successful read.
enum ReadOutcome: Sendable {
  case family(LoadedFamily)
  case result(Event?)
  /// The encoded reply.
  case page([UInt8])
  /// The events after the requested one's predecessor; empty before the requested one is durable.
  case events([Event])
}

/// A family as the store has it.
struct LoadedFamily: Sendable {
  var state: FamilyState
  /// The newest event of the snapshot; 0 without one.
  var snapshotSeq: UInt64
  var cursors: [StoredCursor]
  var passcodeLock: StoredPasscodeLock?
}

/// The ended reads of a batch.
struct ReadResults: Sendable {
  var completed: [(read: StoreRead, outcome: Result<ReadOutcome, any Error>)] = []
  /// Reads for which the batch had no bytes left.
  var unread: [StoreRead] = []
}
