public import FamilyModel

/// The time-outs, intervals and delays of the device machines.
public enum Timing {
  /// The time-out of a request's first attempt. Each retry doubles it.
  public static let firstRequestTimeout = Milliseconds.seconds(1)
  /// The upper bound of a request's time-out.
  public static let longestRequestTimeout = Milliseconds.seconds(30)
  /// The longest time by which a relay may postpone an attachment or a page.
  public static let longestPostponement = Milliseconds.minutes(1)
  /// The interval at which an attached device pings the relay.
  public static let pingInterval = Milliseconds.seconds(15)
  /// The shortest ping interval of a device whose host announces its presence. Jitter adds up to
  /// the same again, so that the devices of one host do not ping together.
  public static let hostedPingInterval = Milliseconds.minutes(10)
  /// How long each holder of a key waits for the holder before it to share the key with a newcomer.
  public static let keyShareTurn = Milliseconds.seconds(2)
  /// Each family has its own delay of beats, up to this, so that families do not beat together.
  public static let beatSpread = Milliseconds.minutes(4 * 60)
  /// The spread of beats that are late, after all guardians' devices were off.
  public static let lateBeatSpread = Milliseconds.minutes(10)
  /// How long a device waits before it complains about a key that was shared with it and that it
  /// cannot open. Each complaint doubles the wait before the next one.
  public static let complaintDelay = Milliseconds.seconds(10)
  /// How long a device waits for the key of a content before it complains.
  public static let missingKeyDelay = Milliseconds.seconds(60)
  /// The upper bound of the wait before a complaint.
  public static let longestComplaintDelay = Milliseconds.hours(1)
  /// How long a device waits before it corrects what it acknowledged of a lost history.
  public static let correctionDelay = Milliseconds.seconds(1)
  /// The shortest time between two corrections. A relay that shows a new history again and again
  /// causes no more.
  public static let correctionInterval = Milliseconds.minutes(1)
  /// How long a device waits before it gives statements back a second time. Each time doubles the wait
  /// before the next one.
  public static let giveBackDelay = Milliseconds.minutes(1)
  /// The upper bound of the wait before a device gives statements back.
  public static let longestGiveBackDelay = Milliseconds.hours(1)
  /// The upper bound of the wait until the relay's clock permits an id.
  public static let longestClockWait = Milliseconds.minutes(1)
  /// How long an app may run in the background after one launch.
  public static let launchBudget = Milliseconds.seconds(30)
  /// The delay before a relaunch of an app that exited without acknowledging. Each relaunch doubles
  /// it.
  public static let firstRelaunchDelay = Milliseconds.milliseconds(200)
  /// The upper bound of the relaunch delay.
  public static let longestRelaunchDelay = Milliseconds.seconds(60)

  /// The shortest time between two reports of the use of the web.
  public static let webReportInterval: Milliseconds = .minutes(15)

  /// The interval at which a device records its latest time while an approval has an end.
  public static let tick: Milliseconds = .minutes(1)

  /// The longest time after which a device notices that its clock has reached the start of an activity,
  /// because somebody set the clock forward.
  static let activityTick: Milliseconds = .minutes(10)

  /// Exponential backoff: `first · 2^attempt`, bounded by `limit`.
  static func backoff(_ attempt: Int, _ first: Milliseconds, _ limit: Milliseconds)
    -> Milliseconds
  {
    attempt >= 16 ? limit : min(limit, first * (1 << attempt))
  }

  /// A random delay below `limit`, so that devices do not act together.
  static func jitter(_ bits: UInt64, below limit: Milliseconds) -> Milliseconds {
    .milliseconds(bits % UInt64(limit.count))
  }
}
