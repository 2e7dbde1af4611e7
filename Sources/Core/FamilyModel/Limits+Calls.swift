/// The time limits of an app's calls into its device. The app's process measures all of them with a
/// clock that is never set.
extension Limits {
  /// The longest silence of the device while a call waits for it. Above: the call fails with
  /// `deviceAway`. A person's answer to a prompt has no limit while the device answers pings.
  public static let deviceSilence: Duration = .seconds(10)
  /// The silence of the device after which a waiting call pings it.
  public static let devicePing: Duration = .seconds(2)
  /// How long a call waits for another process of the app to end. Above: the call fails with
  /// `appRuns`.
  public static let storeWait: Duration = .seconds(5)
  /// The interval at which a process without the app's store requests it again.
  public static let storeRetry: Duration = .milliseconds(100)
  /// How long the first readers of known handles wait for the device's newest entries. Above: the
  /// stored handles are the answer.
  public static let startWait: Duration = .milliseconds(200)
  /// How long a reader of known handles waits for the device's answer about handles that the app
  /// has not named before. Above: they are unknown until the device answers.
  public static let nameWait: Duration = .seconds(1)
  /// How long a process must outlive a loop over responses that ended, so that the loop's last
  /// response counts as handled.
  public static let loopGrace: Duration = .seconds(1)
  /// The interval at which an app that shows pages reports their time. A kill of the app loses less than
  /// this while the device answers.
  public static let webUseInterval: Duration = .seconds(15)
  /// The longest time between two readings of the clock of pages. Above: the rest does not count, because a
  /// stopped process shows nothing.
  public static let webUseGap: Duration = webUseInterval * 3
}
