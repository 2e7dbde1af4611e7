/// A metric in the form of OpenMetrics.
public struct Metric: Sendable {
  /// The kinds of metrics.
  public enum Kind: String, Sendable { case counter, gauge, histogram, info }
  /// The value of a metric.
  enum Value {
    case number(Double)
    /// Values by the value of one label.
    case labelled(String, [(label: String, value: Double)])
    case histogram(DurationHistogram)
    case info(String, String)
  }

  /// The name without the suffix of its kind, such as `_total`.
  public let name: String
  /// The kind.
  public let kind: Kind
  /// The unit, which is also the end of the name; empty for plain numbers.
  public let unit: String
  /// One sentence about the meaning.
  public let help: String
  let value: @Sendable (RelayStatistics) -> Value

  init(
    _ name: String, _ kind: Kind, unit: String = "", _ help: String,
    _ value: @escaping @Sendable (RelayStatistics) -> Value
  ) {
    (self.name, self.kind, self.unit, self.help, self.value) = (name, kind, unit, help, value)
  }

  /// The prefix of all names but those of the process.
  static let prefix = "permission_relay_"

  /// All metrics of a relay, in the order of the text.
  public static let all: [Metric] =
    [
      Metric(prefix + "build", .info, "The version of the relay.") { .info("version", $0.version) },
      Metric(
        prefix + "uptime_seconds", .gauge, unit: "seconds", "The time since the relay's start."
      ) {
        .number($0.times.uptime)
      },
      Metric(
        prefix + "turn_age_seconds", .gauge, unit: "seconds",
        "The time since the relay last served its sockets. A value of 5 or more means that it hangs."
      ) { .number($0.times.sinceTurn) },
      Metric(
        prefix + "commit_age_seconds", .gauge, unit: "seconds",
        "The time since the present commit began; 0 without one."
      ) { .number($0.times.presentCommit) },
      Metric(
        prefix + "failed", .gauge, "1 after the relay's store or a socket failed, otherwise 0."
      ) {
        .number($0.failure == nil ? 0 : 1)
      },
    ] + counters + [
      Metric(prefix + "refusals", .counter, "Refused requests, by the number of the problem.") {
        .labelled(
          "problem", $0.refusals.sorted { $0.key < $1.key }.map { ("\($0.key)", Double($0.value)) })
      },
      Metric(
        prefix + "commit_duration_seconds", .histogram, unit: "seconds",
        "How long commits took, with their sync."
      ) { .histogram($0.commits) },
      Metric(
        prefix + "read_duration_seconds", .histogram, unit: "seconds",
        "How long reads from the store took: pages, families and old results."
      ) { .histogram($0.reads) },
    ] + levels + process

  private static func counter(_ name: String, _ field: String, _ help: String) -> Metric {
    Metric(prefix + name, .counter, help) { .number(Double($0.counters[field] ?? 0)) }
  }

  private static func level(
    _ name: String, unit: String = "", _ help: String,
    _ value: @escaping @Sendable (RelayStatistics) -> Int
  ) -> Metric {
    Metric(prefix + name, .gauge, unit: unit, help) { .number(Double(value($0))) }
  }

  private static let counters = [
    counter("requests", "requests", "Messages on the request socket."),
    counter("malformed_requests", "malformed", "Requests that could not be decoded."),
    counter("subscriptions", "subscriptions", "Subscriptions that peers requested."),
    counter(
      "refused_subscriptions", "refusedSubscriptions", "Subscriptions that were not approved."),
    counter(
      "unexpected_messages", "unexpectedMessages",
      "Messages on the broadcast socket other than subscriptions."),
    counter("worker_wakeups", "workerWakeups", "Times that a shard's thread was woken."),
    counter("commits", "commits", "Commits to the store."),
    counter("events", "events", "Events that became durable."),
    counter(
      "undelivered_replies", "undeliveredReplies",
      "Replies dropped because the peer disconnected or its queue was full."),
    counter(
      "dropped_broadcasts", "droppedBroadcasts",
      "Broadcasts dropped because much waits for a connection of their reader."),
    counter("republished_events", "republished", "Events that were broadcast again."),
    counter(
      "closed_connections", "closedConnections", "Connections closed for excessive traffic."),
    counter(
      "refused_pages", "refusedPages",
      "Pages refused because their device had not read the replies before."),
    counter(
      "refused_for_memory", "refusedForMemory",
      "Requests to attach and pages that were refused because memory was short."),
    counter("shed_questions", "shedQuestions", "Questions refused under overload."),
    counter("result_lookups", "resultLookups", "Results of old commands that the store looked up."),
    counter("family_loads", "familyLoads", "Families loaded from the store."),
    counter(
      "paced_requests", "pacedRequests",
      "Requests refused with a retry time because too many families waited to be read."),
    counter("scrubbed_events", "scrubbedEvents", "Stored events that the scrub verified."),
    counter("scrub_damage", "scrubDamage", "Damaged events that the scrub found."),
    counter(
      "erased_contents", "erasedContents", "Contents that were erased because of their age."),
    counter(
      "damaged_families", "damagedFamilies", "Families with records that could not be read."),
  ]

  private static let levels = [
    level("requests_in_flight", "Requests that were received and whose outcome is not sent.") {
      $0.levels.requestsInFlight
    },
    level("bytes_in_flight", "The bytes of these requests.") { $0.levels.bytesInFlight },
    level("families", "Families in memory.") { $0.levels.families },
    level("request_connections", "Connections of the request socket.") {
      $0.levels.requestConnections
    },
    level("broadcast_connections", "Connections of the broadcast socket.") {
      $0.levels.broadcastConnections
    },
    level("shedding", "1 while new questions are refused under overload, otherwise 0.") {
      $0.levels.isShedding ? 1 : 0
    },
    level("full", "1 while commands are refused, because the disk has less than its reserve.") {
      $0.levels.isFull == true ? 1 : 0
    },
    level(
      "unsent_bytes", unit: "bytes",
      "Bytes of replies and broadcasts that peers have not acknowledged."
    ) { $0.levels.unsentBytes ?? 0 },
    level(
      "unread_bytes", unit: "bytes", "Bytes of requests that wait inside libzmq."
    ) { $0.levels.unreadBytes ?? 0 },
    level(
      "memory_level",
      "0; 1 while new connections are refused to save memory; 2 while attachments and pages are, too."
    ) { $0.levels.memoryLevel ?? 0 },
    level("database_bytes", unit: "bytes", "The size of the database.") { $0.store.database },
    level("log_bytes", unit: "bytes", "The size of the write-ahead log.") { $0.store.log },
    level("free_bytes", unit: "bytes", "The bytes that the store's file system has left.") {
      $0.store.free
    },
    Metric(
      prefix + "last_backup_time_seconds", .gauge, unit: "seconds",
      "When the last backup's copy was complete, in seconds since 1970; 0 without one since the start."
    ) { .number($0.lastBackup ?? 0) },
    Metric(
      prefix + "last_segment_time_seconds", .gauge, unit: "seconds",
      "When a series last had all events, in seconds since 1970; 0 without a shipper since the start."
    ) { .number($0.lastSegment ?? 0) },
    level("disk_bytes", unit: "bytes", "The size of the store's file system.") { $0.store.disk },
  ]

  private static let process = [
    Metric("process_resident_memory_bytes", .gauge, unit: "bytes", "Resident memory.") {
      .number(Double($0.process.residentBytes))
    },
    Metric("process_cpu_seconds", .counter, unit: "seconds", "CPU time, user and system.") {
      .number($0.process.cpuSeconds)
    },
    Metric("process_open_fds", .gauge, "Open file descriptors.") {
      .number(Double($0.process.openFiles))
    },
    Metric("process_max_fds", .gauge, "The limit of open file descriptors.") {
      .number(Double($0.process.maximumFiles))
    },
    Metric(
      "process_start_time_seconds", .gauge, unit: "seconds", "The start, in seconds since 1970."
    ) { .number($0.process.startTime) },
  ]
}
