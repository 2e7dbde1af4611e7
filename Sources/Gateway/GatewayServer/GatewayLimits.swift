import FamilyModel

/// The bounds of the gateway. Each constant states its unit and what happens at the bound.
enum GatewayLimits {
  /// Bytes of a request's body. Above: 413.
  static let bodyBytes = 4 << 20
  /// Handles of one look-up. Above: 422.
  static let handles = 1_000
  /// Requests of an app that wait for a person. Above: 429.
  static let waitingRequests = 64
  /// Open event streams and waiting feeds of an app. Above: 429.
  static let readers = 16
  /// Events of one page of the feed. Above: 422.
  static let pageEvents = 1_000
  /// Events that no reader of the app has handled. Above: responses wait on the device.
  static let unhandledEvents = 100_000
  /// How long handled events stay in the log, for the feed.
  static let retention = Milliseconds.seconds(30 * 86_400)
  /// The longest wait of a feed without news.
  static let feedWait = 60
  /// The time between two comments in a stream without events, which show that it is alive.
  static let heartbeat: Duration = .seconds(15)
  /// The time between two comparisons of the known handles with the reported ones.
  static let comparisonInterval: Duration = .seconds(5)
  /// The time between two removals of events that are older than ``retention``.
  static let removalInterval: Duration = .seconds(3_600)
  /// The time until a failed commit is tried again.
  static let storeRetry: Duration = .seconds(1)
}
