/// Every bound of the relay's shell, and what happens there.
enum RelayLimits {
  /// Most requests of one commit; the others wait for the next.
  static let batchRequests = 4_096
  /// Bytes of requests of one commit, likewise.
  static let batchBytes = 16 << 20
  /// Pages of history read for one commit, likewise: each may have half a megabyte.
  static let batchPages = 64
  /// Milliseconds that a cursor may wait for a commit of events to come with.
  static let cursorDelay: Int64 = 200
  /// Messages that wait for one peer; further replies are dropped (the peer asks again), and further
  /// broadcasts too (the peer sees the gap and fetches).
  static let sendHighWaterMark: Int32 = 10_000
  /// Messages of one peer that wait for the relay; then the peer has to wait.
  static let receiveHighWaterMark: Int32 = 10_000
  /// Channels whose keys are remembered; they are made anew afterwards.
  static let channels = 50_000
  /// The longest sleep, in milliseconds.
  static let sleep: Int64 = 3_600_000
}
