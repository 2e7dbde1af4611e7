/// Every wait of the device machines, in milliseconds.
public enum Timing {
  /// How long a request may stay unanswered before it is sent again, the first time.
  public static let firstRequestTimeout: Int64 = 1_000
  /// The longest such wait; each one doubles the one before it.
  public static let longestRequestTimeout: Int64 = 30_000
  /// How often an attached device says that it is there.
  public static let pingInterval: Int64 = 15_000
  /// The same of a device whose host says it for all devices of a connection; up to twice as long, so that
  /// they do not say it together.
  public static let hostedPingInterval: Int64 = 600_000
  /// How long the next device waits for the one before it to give keys to a newcomer.
  public static let keyShareTurn: Int64 = 2_000
  /// How long an app may run in the background for one wake-up (R6).
  public static let launchBudget: Int64 = 30_000
  /// How long an app stays off after it ended without acknowledging, the first time (R6).
  public static let firstRelaunchDelay: Int64 = 200
  /// The longest such wait.
  public static let longestRelaunchDelay: Int64 = 60_000

  /// How long nobody can type a passcode after so many wrong ones: 0, 1, 2, …; then the last.
  public static let passcodeDelays: [Int64] = [0, 0, 0, 60_000, 300_000, 900_000, 3_600_000]

  /// `first · 2^attempt`, at most `most`.
  static func backoff(_ attempt: Int, _ first: Int64, _ most: Int64) -> Int64 {
    attempt >= 16 ? most : min(most, first << attempt)
  }
}
