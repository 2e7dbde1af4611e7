/// What a relay has seen since its start.
public struct RelayCounters: Sendable, Hashable {
  /// Messages on the request socket.
  public var requests = 0
  /// Of these, those that could not be read.
  public var malformed = 0
  /// Subscriptions asked for.
  public var subscriptions = 0
  /// Of these, those that were not approved.
  public var refusedSubscriptions = 0
  /// Messages on the broadcast socket that were not subscriptions.
  public var foreign = 0
  /// Batches on which the lanes worked at the same time.
  public var forks = 0
  /// Commits to the store.
  public var commits = 0
  /// Events made durable.
  public var events = 0
  /// Replies whose receiver has gone, or does not read.
  public var unsent = 0
  /// Audiences of which events were published again.
  public var republished = 0
  /// Connections that were cut off because they took too much.
  public var cut = 0
  /// Questions refused because there was more to do than could be done.
  public var overloads = 0
  /// Commands of which the store was asked what became of them.
  public var recalls = 0
  /// Families read from the store.
  public var loads = 0
}
