/// The app's reaction to the moments of its activities. An app overrides the methods that it needs.
///
/// A method returns before the next one is called. Its changes of a `ManagedSettingsStore` or of activities
/// are durable before the device counts the moment as handled. After a crash in between, the device launches
/// the app again and the method is called a second time.
open class DeviceActivityMonitor {
  /// Creates a monitor.
  public init() {}

  /// An interval has started. The method may be called again after the device has lost its store, and
  /// after an authorization that had ended is in force again.
  open func intervalDidStart(for activity: DeviceActivityName) {}
  /// An interval has ended. After an interval that passed while the device was off, the method may be called
  /// without a start.
  open func intervalDidEnd(for activity: DeviceActivityName) {}
  /// The child has used the web for as long as an event permits.
  open func eventDidReachThreshold(
    _ event: DeviceActivityEvent.Name, activity: DeviceActivityName
  ) {}
  /// An interval starts after the schedule's warning time.
  open func intervalWillStartWarning(for activity: DeviceActivityName) {}
  /// An interval ends after the schedule's warning time.
  open func intervalWillEndWarning(for activity: DeviceActivityName) {}
  /// An event comes after at most the schedule's warning time of use.
  open func eventWillReachThresholdWarning(
    _ event: DeviceActivityEvent.Name, activity: DeviceActivityName
  ) {}
}
