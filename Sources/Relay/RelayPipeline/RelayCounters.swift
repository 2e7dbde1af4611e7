/// Counts of what a relay received and did since its start.
public struct RelayCounters: Sendable, Hashable {
  /// Messages on the request socket.
  public var requests = 0
  /// Requests that could not be decoded.
  public var malformed = 0
  /// Subscriptions that peers requested.
  public var subscriptions = 0
  /// Subscriptions that the relay did not approve.
  public var refusedSubscriptions = 0
  /// Messages on the broadcast socket other than subscriptions.
  public var unexpectedMessages = 0
  /// Times that the socket thread woke at least one shard worker.
  public var workerWakeups = 0
  /// Commits to the store.
  public var commits = 0
  /// Events that became durable.
  public var events = 0
  /// Replies dropped because the peer disconnected or its queue was full.
  public var undeliveredReplies = 0
  /// Broadcasts dropped because much waits for a connection of their reader.
  public var droppedBroadcasts = 0
  /// Republishes, each of one event.
  public var republished = 0
  /// Connections closed for excessive traffic.
  public var closedConnections = 0
  /// Pages refused because their device has not read the replies before.
  public var refusedPages = 0
  /// Requests to attach, and pages, that were refused because memory is short.
  public var refusedForMemory = 0
  /// Questions refused under overload.
  public var shedQuestions = 0
  /// Lookups in the store of an old command's result.
  public var resultLookups = 0
  /// Families loaded from the store.
  public var familyLoads = 0
  /// Requests refused because too many families waited to be read.
  public var pacedRequests = 0
  /// Families with records that could not be read.
  public var damagedFamilies = 0
  /// Refused requests, by the problem's number.
  public var refusals: [Int: Int] = [:]
  /// Zero counts.
  package init() {}
}
