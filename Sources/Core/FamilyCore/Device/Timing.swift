/// The time-outs, intervals and delays of the device machines, in milliseconds.
public enum Timing {
  /// The time-out of a request's first attempt. Each retry doubles it.
  public static let firstRequestTimeout: Int64 = 1_000
  /// The upper bound of a request's time-out.
  public static let longestRequestTimeout: Int64 = 30_000
  /// The interval at which an attached device pings the relay.
  public static let pingInterval: Int64 = 15_000
  /// The shortest ping interval of a device whose host announces its presence. Jitter adds up to
  /// the same again, so that the devices of one host do not ping together.
  public static let hostedPingInterval: Int64 = 600_000
  /// How long each holder of a key waits for the holder before it to share the key with a newcomer.
  public static let keyShareTurn: Int64 = 2_000
  /// How long an app may run in the background after one launch.
  public static let launchBudget: Int64 = 30_000
  /// The delay before a relaunch of an app that exited without acknowledging. Each relaunch doubles
  /// it.
  public static let firstRelaunchDelay: Int64 = 200
  /// The upper bound of the relaunch delay.
  public static let longestRelaunchDelay: Int64 = 60_000

  /// The delay before the next passcode attempt, by the number of wrong attempts so far. The last
  /// one repeats.
  public static let passcodeDelays: [Int64] = [0, 0, 0, 60_000, 300_000, 900_000, 3_600_000]

  /// Exponential backoff: `first · 2^attempt`, bounded by `limit`.
  static func backoff(_ attempt: Int, _ first: Int64, _ limit: Int64) -> Int64 {
    attempt >= 16 ? limit : min(limit, first << attempt)
  }
}
