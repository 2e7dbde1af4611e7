import ZeroMQ

/// The bounds of a screen's socket and documents.
enum ScreenLimits {
  /// Clients that receive updates. Above: a further client receives `tooMany` and no updates.
  static let watchers = 16
  /// Bytes of a client's message. Above: libzmq disconnects the client.
  static let messageBytes = 64 << 10
  /// The time without a message after which the server forgets a client.
  static let silence = Nanoseconds.seconds(15)
  /// Acts that wait for their result. Above: the server refuses an act as `overloaded`.
  static let acts = 64
  /// The shortest time between two updates. Changes in between share one update.
  static let pause = Nanoseconds.milliseconds(40)
  /// The time between two checks for changes by time alone, such as an expiry.
  static let tick = Nanoseconds.seconds(1)
  /// Bytes that a client receives between two of its messages. Above: updates wait for its next
  /// message.
  static let unreadBytes = 16 << 20
  /// Messages that libzmq queues for one client. Above: the client misses the message; a missed
  /// update is repeated at the next tick.
  static let unreadMessages: Int32 = 64
  /// Bytes of an update. Above: all conversations lose the older half of their entries, repeatedly.
  static let updateBytes = 4 << 20
  /// Entries of one conversation. Above: a document has the newest ones.
  static let entries = 200
  /// Refused commands of one device. Above: a document has the newest ones.
  static let refusals = 8
  /// Days of the use of the web. Above: a document has the newest ones.
  static let webDays = 7
  /// Sites in the use of one day. Above: a document has those with the longest time.
  static let webSites = 10
  /// Rules for sites. Above: a document has the first ones by name.
  static let webRules = 50
  /// Messages that are received before other work continues.
  static let drain = 256
}
