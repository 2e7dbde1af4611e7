/// The state of a relay at one moment, for its operator. Nothing in the state is personal.
public struct RelayStatistics: Codable, Sendable, Hashable {
  /// Times since the relay's start, in seconds, by kind.
  public struct Times: Codable, Sendable, Hashable {
    /// Since the relay started.
    public var uptime = 0.0
    /// Since the relay's sockets were last served.
    public var sinceTurn = 0.0
    /// Since the present commit began; zero without one.
    public var presentCommit = 0.0
    public init() {}
  }

  /// Queues, connections and families, as numbers that rise and fall.
  public struct Levels: Codable, Sendable, Hashable {
    /// Requests that were received and whose outcome is not sent.
    public var requestsInFlight = 0
    /// The bytes of ``requestsInFlight``.
    public var bytesInFlight = 0
    /// Families in memory, as last counted while no shard ran.
    public var families = 0
    /// Connections of the request socket.
    public var requestConnections = 0
    /// Connections of the broadcast socket.
    public var broadcastConnections = 0
    /// Whether new questions are refused, because requests arrive faster than the relay works.
    public var isShedding = false
    /// Whether commands are refused, because the disk has less than its reserve; `nil` from a relay of
    /// an earlier version.
    public var isFull: Bool?
    /// Bytes of replies and broadcasts that peers have not acknowledged; `nil` from a relay of an earlier
    /// version.
    public var unsentBytes: Int?
    /// Bytes of requests that wait inside libzmq; `nil` from a relay of an earlier version.
    public var unreadBytes: Int?
    /// 0, or 1 or 2 while memory is short; `nil` from a relay of an earlier version.
    public var memoryLevel: Int?
    public init() {}
  }

  /// The store's files, in bytes.
  public struct Store: Codable, Sendable, Hashable {
    /// The database.
    public var database = 0
    /// The write-ahead log.
    public var log = 0
    /// Bytes that the store's file system has left.
    public var free = 0
    /// Bytes of the store's file system.
    public var disk = 0
    public init() {}
  }

  /// The process, as the kernel counts.
  public struct Process: Codable, Sendable, Hashable {
    /// Resident bytes.
    public var residentBytes = 0
    /// Seconds of CPU time.
    public var cpuSeconds = 0.0
    /// Open file descriptors.
    public var openFiles = 0
    /// The limit of open file descriptors.
    public var maximumFiles = 0
    /// The start, in seconds since 1970.
    public var startTime = 0.0
    public init() {}
  }

  /// The version of the relay.
  public var version = ""
  /// Times.
  public var times = Times()
  /// Counts since the start, by the name of the counter.
  public var counters: [String: Int] = [:]
  /// Refused requests since the start, by the problem's number.
  public var refusals: [Int: Int] = [:]
  /// Levels.
  public var levels = Levels()
  /// How long commits took, sync included.
  public var commits = DurationHistogram()
  /// How long reads from the store took.
  public var reads = DurationHistogram()
  /// The store's files.
  public var store = Store()
  /// The process.
  public var process = Process()
  /// When the last copy of the store was complete, in seconds since 1970; `nil` without one.
  public var lastBackup: Double?
  /// When all events were in durable segments, in seconds since 1970; `nil` without a shipper.
  public var lastSegment: Double?
  /// The reason for which the relay failed; `nil` while it works.
  public var failure: String?
  public init() {}

  /// Seconds without a turn, or within one commit, after which a relay counts as hung.
  public static let patience = 5.0
  /// Whether the relay serves its sockets and its disk completes commits.
  public var isAlive: Bool {
    failure == nil && times.sinceTurn < Self.patience && times.presentCommit < Self.patience
  }
}
