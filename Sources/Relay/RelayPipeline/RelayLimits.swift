import FamilyModel

/// The bounds of the relay's pipeline. Each constant states its unit and what happens at the bound.
enum RelayLimits {
  // MARK: Requests in flight

  /// Requests in flight. At the limit the socket thread stops receiving: requests wait in libzmq,
  /// then in their devices. Also the requests received in one turn, so that subscriptions and
  /// timers are served in between.
  static let requestsInFlight = 4_096
  /// Bytes of the requests in flight. At the limit the socket thread stops receiving; the last
  /// request may exceed it.
  static let bytesInFlight = 16 << 20

  // MARK: Shards

  /// Shards. A larger configuration is reduced to this: more shards than processors are of no use.
  static let maxShards = 16
  /// Requests in one slice. Then the shard hands its output to the committer. Longer slices idle
  /// the other stages.
  static let requestsPerSlice = 128
  /// Waiting requests below which the socket thread handles them itself: waking a thread costs
  /// about ten requests.
  static let wakeThreshold = 48
  /// Rounds in which the socket thread handles few requests itself. Then its other sockets and
  /// timers are served.
  static let inlineRounds = 64
  /// The time after which the socket thread reads the deadline of a running shard again.
  static let shardCheckInterval = Milliseconds.milliseconds(20)

  // MARK: Memory of families

  /// Families in memory that are ready for use. The other families in memory are packed.
  static let unpackedFamilies = 16_384
  /// Results of commands that a family keeps in memory, at least. Older ones are looked up in the
  /// store.
  static let resultsPerFamily = 64
  /// Slots for channels' topics and keys. A channel replaces another one of its slot, which is
  /// derived again later. Several times ``unpackedFamilies``, so that few channels share a slot.
  static let cachedChannels = 65_536

  /// Inboxes: keys whose hosts receive broadcasts. At the limit a key that attached long ago loses its
  /// inbox, and its devices get a new one when they are late. Below 400 bytes each, 400 MB in all.
  static let inboxes = 1 << 20
  /// Devices of a key for which a new subscription broadcasts the heads. The others, which attached
  /// earlier, learn of missed events by a republish.
  static let devicesPerInbox = 8

  // MARK: Store

  /// The time for which cursors wait to be written. A longer delay lets more cursors share a
  /// database page. After a crash devices repeat lost cursors and receive some events twice.
  static let cursorDelay = Milliseconds.seconds(10)
  /// Families whose cursors are written with each event of a commit, and with a commit without
  /// events. The others wait for the next commit.
  static let cursorFamilies = (perEvent: 4, perIdleCommit: 1_024)
  /// Events of a family from one snapshot to the next, at least. As many are read when the family
  /// is loaded.
  static let eventsPerSnapshot: UInt64 = 1_024
  /// Bytes of the disk below which commands are refused with problem 501 and cursors wait in memory.
  /// Several times the largest write-ahead log, so that commits under way have room.
  static let reservedBytes = 256 << 20
  /// When the sender of a command that a full disk refuses sends the command again.
  static let fullRetry = Milliseconds.seconds(30)
  /// Empty outputs that are kept for reuse. The memory of further ones is released.
  static let spareOutputs = 64

  // MARK: Bytes for peers

  /// Bytes of an encoded event that is broadcast. Readers are told of a larger one and fetch it, so that
  /// the broadcasts that wait for a stopped reader stay small.
  static let broadcastBytes = 8 << 10
  /// Bytes of a page that the price of its request includes. Larger ones are charged after the read.
  static let unchargedPageBytes = 64 << 10
  /// When a device whose page was refused requests the page again.
  static let pageRetry = Milliseconds.seconds(1)
  /// When a peer whose request was refused for lack of memory repeats the request.
  static let memoryRetry = Milliseconds.seconds(5)

  // MARK: Reads

  /// Families that wait to be read, at most half of them for senders without a pass. At the limit requests of
  /// further families are refused with problem 500 and a retry time: see ``RetryPacer``.
  static let waitingFamilies = 2_048
  /// Requests that wait for a read, in all and of one family: those of a full outbox. At the limit
  /// further ones are refused as above. They are not in flight, so that other families are served
  /// meanwhile.
  static let (waitingRequests, waitingRequestsPerFamily) = (32_768, 1_024)
  /// Bytes of the requests that wait for a read. At the limit further ones are refused as above.
  static let waitingBytes = 16 << 20
  /// Pages and republishes that wait for a read. At the limit pages are refused with problem 500 and
  /// ``pageRetry``, and republishes are dropped: they are due again later.
  static let waitingPages = 4_096
  /// Results that wait for a shard. Above, the shard requests no republishes until it has received
  /// enough of them.
  static let waitingResults = 4_096
  /// Reads of one batch, by kind. The others wait for the next batch.
  static let readsPerBatch = (families: 64, others: 32)
  /// Bytes of one batch, after which it ends; its last read may exceed them. The results wait in
  /// memory until the shards have them.
  static let readBytes = 8 << 20
  /// Results that a shard receives in one slice. The others wait for the next slice.
  static let resultsPerSlice = 64
  /// Families in a second that the relay is taken to read, until it has measured its speed.
  static let assumedReads = 1_000.0

  // MARK: Time

  /// The longest sleep of the socket thread; then deadlines are computed again.
  static let longestSleep = Milliseconds.hours(1)
}
