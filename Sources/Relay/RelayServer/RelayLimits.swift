import ZeroMQ

/// Every bound of the relay's shell, and what happens there.
enum RelayLimits {
  /// Most requests that are received, and not yet answered or left without an answer: they wait for their lane,
  /// for the store or for the sockets. The others wait in libzmq, and then in their devices. And most that are
  /// received in one go: then subscriptions and timers have their turn.
  static let requests = 4_096
  /// Bytes of these requests, likewise; one more may come.
  static let requestBytes = 16 << 20
  /// Most requests that a lane handles before it hands over what they led to: the larger, the longer the
  /// others wait for something to do.
  static let slice = 128
  /// Lanes at most; more than there are processors are of no use.
  static let shards = 16
  /// Empty buffers for what slices lead to that are kept; the memory of others is let go.
  static let spare = 64
  /// How often little is handled in one go, likewise.
  static let rounds = 64
  /// Requests that wait from which on the lanes are woken for them: to wake a thread takes as long as some
  /// ten requests.
  static let forkedRequests = 48
  /// Milliseconds until a lane at work is looked at again for what its clock asks for.
  static let shardCheckInterval: Int64 = 20
  /// Pages of history read for one commit, likewise: each may have half a megabyte.
  static let batchPages = 64
  /// Milliseconds that cursors wait before they are written: the longer, the more of them share a page. After a
  /// crash devices tell theirs again, and are sent again what they had.
  static let cursorDelay: Int64 = 10_000
  /// Families whose cursors are written with each event of a commit, and with a commit of cursors alone.
  static let cursorFamilies = (perEvent: 4, alone: 1_024)
  /// Results of commands that a family keeps in memory, at least; of older ones the store is asked.
  static let results = 64
  /// Events of a family after which its state is stored, at least: so many are read when the family is used again.
  static let snapshotEvents: UInt64 = 1_024
  /// libzmq's threads: one encrypts for two sockets at about a fourth of a million messages a second.
  static let ioThreads: Int32 = 2
  /// Messages that wait for one peer; further replies are dropped (the peer asks again), and further
  /// broadcasts too (the peer sees the gap and fetches).
  static let sendHighWaterMark: Int32 = 10_000
  /// Messages of one peer that wait for the relay; then the peer has to wait.
  static let receiveHighWaterMark: Int32 = 10_000
  /// Families that are ready for use; the others in memory are packed.
  static let openFamilies = 16_384
  /// Channels whose topics and keys are remembered for the next broadcast; others are made anew. Several times
  /// the open families: each channel has one place.
  static let channels = 65_536
  /// The longest sleep, in milliseconds.
  static let sleep: Int64 = 3_600_000
  /// Bytes of one frame on the broadcast socket, with the handshake's. A subscription has 20 and a few; who sends more
  /// is cut off.
  static let subscriptionBytes: Int64 = 1_024
  /// File descriptors that are not for connections: the store, logs, the process's own.
  static let ownDescriptors = 128
  /// Nanoseconds between two looks at what the connections take.
  static let look: UInt64 = 250_000_000

  /// A device's outbox with pictures at once; before it has attached, two frames of the largest size.
  static func requests(connections: Int) -> ConnectionLimits {
    ConnectionLimits(
      connections: connections, proven: .init(burst: 32 << 20, perSecond: 2 << 20),
      unproven: .init(burst: 4 << 20, perSecond: 64 << 10), patience: patience)
  }

  /// Subscriptions to all channels of a large family, again and again; each costs some 20 times its bytes.
  static func broadcasts(connections: Int) -> ConnectionLimits {
    ConnectionLimits(
      connections: connections, proven: .init(burst: 2 << 20, perSecond: 64 << 10),
      unproven: .init(burst: 64 << 10, perSecond: 4 << 10), patience: patience)
  }

  /// Nanoseconds that a peer that proves nothing may stay when there are many.
  private static let patience: UInt64 = 30_000_000_000
}
