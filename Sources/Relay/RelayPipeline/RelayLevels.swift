/// The levels of a relay's queues and of its memory.
public struct RelayLevels: Sendable, Hashable {
  /// Requests that were received and whose output is not sent.
  public var requestsInFlight: Int
  /// The bytes of ``requestsInFlight``.
  public var bytesInFlight: Int
  /// Families in memory, counted when no shard ran.
  public var families: Int
  /// Whether new questions are refused, because requests arrive faster than the relay works.
  public var isShedding: Bool

  /// Whether commands are refused, because the disk has less than its reserve.
  public var isFull: Bool
  /// How short of memory the process is.
  public var memory = MemoryWatch.Level.normal

  package init(
    requestsInFlight: Int, bytesInFlight: Int, families: Int, isShedding: Bool, isFull: Bool
  ) {
    self.requestsInFlight = requestsInFlight
    self.bytesInFlight = bytesInFlight
    self.families = families
    self.isShedding = isShedding
    self.isFull = isFull
  }
}
