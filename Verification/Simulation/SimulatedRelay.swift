import Credentials
import FamilyCore
import FamilyModel
import RelayPipeline
import RelayWire
import ZeroMQ

/// The relay's process: a pipeline, its disk and the messages that wait in its sockets.
struct SimulatedRelay {
  enum Message {
    /// `key`: the CURVE key of the connection; `nil`: the device's own.
    case request(Int, Int, Envelope, key: [UInt8]? = nil)
    case subscribe(Int, Int, [UInt8])
  }

  /// Messages in one turn; less than in production, so that runs have many turns.
  static let batch = 64
  /// Events between two snapshots of a family; less than in production, so that runs have many.
  static let snapshotEvery: UInt64 = 4
  /// Events of a page; less than in production, so that devices read several in a row.
  static let pageEvents = 8
  /// Channels with a cached topic; less than in production, which saves time.
  static let cachedChannels = 64
  /// The shortest time in which a running relay notices a change of its clock.
  static let clockCheckInterval = Milliseconds.milliseconds(250)

  let disk = RelayDisk()
  /// The pipeline of the running process, and its sockets; `nil` before the first start.
  var process: (pipeline: Pipeline, sockets: SimulatedSockets)?
  /// The number of the process, from 1.
  var life = 0
  var inbox: [Message] = []
  var isRunning = false
  /// The devices whose subscriptions to an inbox were approved.
  var listeners: [Inbox: [Int]] = [:]
  var crash = CrashCountdown()
  var clock = Milliseconds.zero
  var delay = Milliseconds.zero
  var isTurnScheduled = false
  var timerAt: Milliseconds?
  /// The families whose count of guesses the last commit has reset.
  var resets: Set<FamilyID> = []
  /// The ids of commands, by the ids that a mutant gave them.
  var originals: [CommandID: CommandID] = [:]
}

/// The topics of the simulated relay's channels.
enum ChannelName {
  /// The secrets of every simulated relay. Equal in all runs, so that a seed gives one run.
  static let keys = RelayKeys(
    keys: try! .generate(), administrator: try! CurveKeyPair.generate().publicKey,
    channelSecret: [UInt8](repeating: 5, count: ChannelCipher.keyBytes))
  private static let cipher = ChannelCipher(secret: keys.channelSecret)

  static func bytes(_ family: FamilyID, _ audience: Audience, _ generation: UInt32) -> [UInt8] {
    cipher.topic(family, audience, generation: generation)
  }

  /// The channel of a topic; `nil` for bytes that are no topic.
  static func channel(of topic: [UInt8]) -> ChannelCipher.ChannelID? {
    cipher.channelID(of: topic)
  }
}
