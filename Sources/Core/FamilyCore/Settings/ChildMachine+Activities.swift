import FamilyModel

/// The activities that authorized apps watch.
///
/// The device reports each moment of an activity to the app in a durable entry, which launches the app. The
/// entry and the activity's state are durable in one transaction, so that no moment is lost or reported
/// twice. The activities of an app end without a report in the step in which its authorization ends.
extension ChildMachine {
  /// Watches an activity of an app in the place of the activity with this name.
  ///
  /// - Returns: The problem for which the device refuses the activity; `nil` for none.
  mutating func watch(
    _ activity: Activity, of app: AppID, into out: inout DeviceLink.Output
  ) -> Problem? {
    guard isAuthorized(app) else { return .notAuthorized }
    do throws(Problem) { try activity.validate() } catch { return error }
    let former = activities[app]?[activity.name]
    // After a lost reply the app sends the activity again.
    if former?.activity == activity { return nil }
    guard provenTime < activity.end else { return .activityOver }
    guard former != nil || activities[app]?.count ?? 0 < Limits.activities else { return .tooMany }
    let waiting = feeds.first { $0.app == app }?.entries.count { $0.isMoment } ?? 0
    guard waiting < Limits.waitingMoments else { return .appLimit }
    put(WatchedActivity(activity), of: app, into: &out)
    register(app, into: &out)
    return nil
  }

  /// Ends the watch of an activity.
  mutating func unwatch(_ name: String, of app: AppID, into out: inout DeviceLink.Output) {
    guard activities[app]?.removeValue(forKey: name) != nil else { return }
    if activities[app]!.isEmpty { activities[app] = nil }
    out.changes.append(.delete(.activity(app, name)))
  }

  private mutating func put(
    _ watched: WatchedActivity, of app: AppID, into out: inout DeviceLink.Output
  ) {
    activities[app, default: [:]][watched.activity.name] = watched
    out.changes.append(.put(.activity(app, watched)))
  }

  /// The time by which activities end.
  var provenTime: Instant { steady.now(uptime: uptime ?? .zero) }

  /// Reports the moments that have come.
  mutating func reportActivities(
    now: Instant, into out: inout DeviceLink.Output, effects: inout [DeviceEffect]
  ) {
    guard !activities.isEmpty else { return }
    let proven = provenTime
    for (app, var watched) in allActivities {
      let moments = watched.moments(latest: max(now, proven), proven: proven)
      guard !moments.isEmpty else { continue }
      report(moments, of: watched, app, into: &out, effects: &effects)
    }
  }

  /// Counts the pages that an app has shown towards the thresholds of all apps.
  mutating func countTowardsThresholds(
    _ pages: ShownPages, _ message: UInt64, of app: AppID, into out: inout DeviceLink.Output,
    effects: inout [DeviceEffect]
  ) {
    guard !activities.isEmpty else { return }
    for (watcher, var watched) in allActivities where isAuthorized(watcher) {
      guard let moments = watched.count(pages, message, of: app) else { continue }
      report(moments, of: watched, watcher, into: &out, effects: &effects)
    }
  }

  private var allActivities: [(AppID, WatchedActivity)] {
    activities.keys.sorted().flatMap { app in
      activities[app]!.sorted { $0.key < $1.key }.map { (app, $0.value) }
    }
  }

  /// Stores the state of an activity, and reports moments to its app.
  private mutating func report(
    _ moments: [ActivityMoment], of watched: WatchedActivity, _ app: AppID,
    into out: inout DeviceLink.Output, effects: inout [DeviceEffect]
  ) {
    let activity = watched.activity
    if moments.last == .ended {
      unwatch(activity.name, of: app, into: &out)
    } else {
      put(watched, of: app, into: &out)
    }
    for moment in moments {
      enqueue(
        .activity(activity.name, activity.number, moment, at: provenTime), for: app, into: &out,
        effects: &effects)
    }
  }

  /// The number of the app's last message about the use of the web that the device has counted.
  func lastCounted(of app: AppID) -> UInt64 {
    let counted = allActivities.compactMap { $0.1.counted[app] }.max() ?? 0
    return max(counted, webUse[app]?.message ?? 0)
  }

  /// Whether an app watches for how long the child uses the web.
  var hasThresholds: Bool {
    activities.contains { app, watched in
      isAuthorized(app) && watched.values.contains { !$0.uses.isEmpty }
    }
  }

  /// When the next moment may come; `nil`: no app watches an activity.
  var activityDeadline: Instant? {
    guard !activities.isEmpty else { return nil }
    // Before the first step the device knows no time.
    guard let clock = latest.clock else { return Instant(milliseconds: 0) }
    let proven = provenTime
    return allActivities.map { _, watched in
      let next = watched.next
      let wait = next.time - (next.isProven ? proven : max(clock, proven))
      return clock + min(wait, Timing.activityTick)
    }.min()
  }
}

extension AppEntry {
  fileprivate var isMoment: Bool { if case .activity = body { true } else { false } }
}
