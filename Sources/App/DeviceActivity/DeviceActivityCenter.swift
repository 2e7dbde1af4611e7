import AppClient
import DeviceConnection
import FamilyCore
import FamilyModel
import Foundation

/// The center that starts and ends the monitoring of activities.
///
/// ```swift
/// try DeviceActivityCenter().startMonitoring("bedtime", during: schedule)
/// ```
///
/// An app needs the authorization of the module `FamilyControls`. The device watches the intervals, also while
/// the app does not run, and launches the app in the background for each moment. The end of the authorization
/// ends all monitoring without a further call.
public final class DeviceActivityCenter: Sendable {
  /// The reason why an activity is not monitored.
  public enum MonitoringError: Error, Hashable, Sendable {
    /// The app monitors 20 activities already, or the activity has more than 20 events.
    case excessiveActivities
    /// The schedule's interval has more than a week.
    case intervalTooLong
    /// The schedule's interval has less than 15 minutes.
    case intervalTooShort
    /// No date matches the components, or a duration is zero, negative or too long.
    case invalidDateComponents
    /// No guardian has authorized the app.
    case unauthorized
  }

  /// Creates an object. All objects of a process are the same center.
  public init() {}

  private var session: AppSession? { try? AppSession.current() }

  /// Monitors an activity in the place of the activity with this name.
  ///
  /// The app's library keeps the activity and sends it to the device. A schedule whose interval is present
  /// starts at once. A repeated call with the same schedule and events changes nothing.
  ///
  /// - Parameters:
  ///   - activity: The activity's name.
  ///   - schedule: The intervals.
  ///   - events: The limits of the time for which the child uses the web, at most 20.
  /// - Throws: ``MonitoringError``.
  public func startMonitoring(
    _ activity: DeviceActivityName, during schedule: DeviceActivitySchedule,
    events: [DeviceActivityEvent.Name: DeviceActivityEvent] = [:]
  ) throws(MonitoringError) {
    guard let session, session.authorization == .approved else { throw .unauthorized }
    let known = session.activities
    guard known[activity.rawValue] != nil || known.count < Limits.activities,
      events.count <= Limits.activityThresholds
    else { throw .excessiveActivities }
    let first = try Self.first(activity, schedule, events, now: session.clock().date)
    guard let encoded = schedule.encoded else { throw .invalidDateComponents }
    if let former = known[activity.rawValue], former.schedule == encoded,
      former.activity.thresholds == first.thresholds
    {
      return
    }
    session.watch(first, schedule: encoded)
  }

  private static func first(
    _ activity: DeviceActivityName, _ schedule: DeviceActivitySchedule,
    _ events: [DeviceActivityEvent.Name: DeviceActivityEvent], now: Date
  ) throws(MonitoringError) -> Activity {
    guard let interval = schedule.interval(at: now, after: nil),
      let warning = (schedule.warningTime ?? DateComponents()).durationSeconds
    else { throw .invalidDateComponents }
    var thresholds: [Activity.Threshold] = []
    for (name, event) in events.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      guard let threshold = Activity.Threshold(name, event) else { throw .invalidDateComponents }
      thresholds.append(threshold)
    }
    let first = Activity(
      activity.rawValue, from: Instant(interval.start), to: Instant(interval.end), warning: warning,
      thresholds: thresholds)
    guard first.end - first.start >= Limits.activityLength.lowerBound else {
      throw .intervalTooShort
    }
    guard first.end - first.start <= Limits.activityLength.upperBound else {
      throw .intervalTooLong
    }
    do { try first.validate() } catch { throw .invalidDateComponents }
    return first
  }

  /// Ends the monitoring of these activities, without a further call of the monitor.
  public func stopMonitoring(_ activities: [DeviceActivityName]) {
    for activity in activities { session?.unwatch(activity.rawValue) }
  }

  /// Ends the monitoring of all activities.
  public func stopMonitoring() { stopMonitoring(activities) }

  /// The activities that the app monitors, in the order of their names.
  public var activities: [DeviceActivityName] {
    (session?.activities ?? [:]).keys.sorted().map { DeviceActivityName($0) }
  }

  /// The schedule of an activity; `nil` for an activity that the app does not monitor.
  public func schedule(for activity: DeviceActivityName) -> DeviceActivitySchedule? {
    (session?.activities[activity.rawValue]).flatMap {
      DeviceActivitySchedule(encoded: $0.schedule)
    }
  }

  /// The events of an activity. A threshold has seconds only.
  public func events(
    for activity: DeviceActivityName
  ) -> [DeviceActivityEvent.Name: DeviceActivityEvent] {
    let thresholds = session?.activities[activity.rawValue]?.activity.thresholds ?? []
    return Dictionary(
      uniqueKeysWithValues: thresholds.map { (.init($0.name), DeviceActivityEvent($0)) })
  }

  /// Waits until the device monitors the activity, for at most a second.
  ///
  /// An addition to Apple's API. The device monitors without this call, too. After a failure for want of the
  /// device, the app's library sends the activity at the next connection.
  ///
  /// - Throws: `DeviceProblem`: 451 without an authorization, 307 above a limit, 420 if the device is away.
  public func untilMonitored(_ activity: DeviceActivityName) async throws {
    do {
      try await AppSession.current().confirmWatch(activity.rawValue)
    } catch {
      throw DeviceProblem(reason: error)
    }
  }

  /// Calls the monitor for each moment, until the task is cancelled.
  ///
  /// An addition to Apple's API, where an extension has the monitor. An app calls the method at each start,
  /// also in the background. A process has one monitor at a time: the last one.
  ///
  /// - Parameter monitor: Receives the moments that no former process has handled, and later ones.
  public func deliver(to monitor: DeviceActivityMonitor) async {
    guard let session else { return }
    for await delivery in await session.activityMoments() {
      let activity = delivery.planned.activity
      // The monitor may have ended the monitoring since the delivery.
      if session.activities[activity.name] != nil {
        monitor.handle(delivery.moment, of: DeviceActivityName(activity.name))
      }
      let next = DeviceActivitySchedule(encoded: delivery.planned.schedule)?
        .next(after: activity, at: delivery.time.date)
      await session.finish(delivery, next: next)
    }
  }
}

extension DeviceActivityMonitor {
  fileprivate func handle(_ moment: ActivityMoment, of activity: DeviceActivityName) {
    switch moment {
    case .startsSoon: intervalWillStartWarning(for: activity)
    case .started: intervalDidStart(for: activity)
    case .endsSoon: intervalWillEndWarning(for: activity)
    case .ended: intervalDidEnd(for: activity)
    case .reachesSoon(let event):
      eventWillReachThresholdWarning(DeviceActivityEvent.Name(event), activity: activity)
    case .reached(let event):
      eventDidReachThreshold(DeviceActivityEvent.Name(event), activity: activity)
    }
  }
}
