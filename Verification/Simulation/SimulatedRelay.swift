import FamilyCore
import FamilyModel
import RelayStore
import RelayWire

/// The relay's process: a machine, its disk, its inbox and the output of the current turn.
///
/// A turn handles a batch of requests, commits, then sends. No reply or broadcast leaves before the
/// commit.
struct SimulatedRelay {
  enum Message {
    /// `key`: the CURVE key of the connection; `nil`: the device's own.
    case request(Int, Int, Envelope, key: [UInt8]? = nil)
    case subscribe(Int, Int, [UInt8])
  }
  /// The effects of the current turn.
  struct Output {
    var batch = Batch()
    /// The children's guesses of passcodes, and the families whose count the batch resets.
    var guesses: [(family: FamilyID, element: [UInt8])] = []
    var resets: [FamilyID] = []
    var cursors: [StoredCursor] = []
    var cursorsDue: Instant?
    var replies: [(device: Int, connection: Int, envelope: ReplyEnvelope)] = []
    var broadcasts: [(topic: [UInt8], Broadcast)] = []
    var pages:
      [(
        device: Int, connection: Int, DeviceAddress, id: UInt64, Audience, after: UInt64,
        upTo: UInt64
      )] = []
    var republishes: [(FamilyID, UInt32, Audience, UInt64, Int)] = []
  }
  /// The time for which a cursor may wait in memory before it is written.
  static let cursorWriteDelay = Milliseconds.seconds(10)
  /// Messages in one turn; less than in production, so that runs have many turns.
  static let batch = 64
  /// Events between two snapshots of a family; less than in production, so that runs have many.
  static let snapshotEvery: UInt64 = 4

  var machine = RelayMachine(verify: FakeVault.verify, digest: FakeVault.digest)
  let disk = RelayDisk()
  var inbox: [Message] = []
  var output = Output()
  var isRunning = false
  /// The subscribed devices by topic.
  var listeners: [[UInt8]: [Int]] = [:]
  var crash = CrashCountdown()
  var clock = Milliseconds.zero
  /// The sum of clock jumps since an unreported step back.
  var pendingClockJump = Milliseconds.zero
  var delay = Milliseconds.zero
  var isTurnScheduled = false
  var timerAt: Milliseconds?
}

/// Channel topics without encryption. Any device can compute any topic.
enum ChannelName {
  static let byteCount = 16

  static func bytes(_ family: FamilyID, _ audience: Audience, _ generation: UInt32) -> [UInt8] {
    let number = ID128(high: family.rawValue << 32 | UInt64(generation), low: audience.rawValue)
    return number.bytes
  }

  static func meaning(of topic: [UInt8]) -> (FamilyID, Audience, UInt32) {
    let number = ID128(bytes: topic)!
    return (
      FamilyID(number.high >> 32), Audience(rawValue: number.low),
      UInt32(truncatingIfNeeded: number.high)
    )
  }
}
