package import DeviceConnection
package import FamilyCore
package import FamilyModel
import Foundation

/// A moment of an activity on its way to the app's code.
package struct ActivityDelivery: Hashable, Sendable {
  /// The position of the app entry; `nil` for a moment without an entry.
  let position: UInt64?
  /// The activity, with its schedule.
  package let planned: PlannedActivity
  /// The number of the interval. A replaced interval has another one than the activity.
  let number: UInt64
  /// The moment.
  package let moment: ActivityMoment
  /// The time by which the device judges intervals.
  package let time: Instant

  /// Whether the present interval has ended, so that the next one is due.
  var endsInterval: Bool { moment == .ended && number == planned.activity.number }
}

/// A choice of the app's code that the machine has not taken.
enum ChosenActivity: Equatable {
  case watch(Activity, schedule: [UInt8])
  case unwatch
}

/// The moments that the app's code has not finished, and their reader.
struct UnfinishedMoments {
  var deliveries: [ActivityDelivery] = []
  var reader: AsyncStream<ActivityDelivery>.Continuation?
  /// The number of readers so far.
  var lastReader = 0
}

/// The activities that the app watches.
extension AppSession {
  /// The activities by name, as the app's code chose them.
  package nonisolated var activities: [String: PlannedActivity] {
    chosenActivities.withLock { chosen in
      // The machine takes a choice before the choice is removed.
      chosen.reduce(into: managing.withLock { $0.planned }) { activities, entry in
        switch entry.value {
        case .watch(let activity, let schedule):
          activities[entry.key] = PlannedActivity(activity, schedule: schedule)
        case .unwatch: activities[entry.key] = nil
        }
      }
    }
  }

  /// Watches an interval in the place of the activity with this name, under a new number.
  ///
  /// - Parameter schedule: The description of the schedule, which the session only stores.
  package nonisolated func watch(_ activity: Activity, schedule: [UInt8]) {
    choose(.watch(activity.renumbered, schedule: schedule), activity.name)
  }

  /// Ends the watch of an activity.
  package nonisolated func unwatch(_ name: String) { choose(.unwatch, name) }

  private nonisolated func choose(_ choice: ChosenActivity, _ name: String) {
    chosenActivities.withLock { $0[name] = choice }
    Task { await takeChosenActivity(name) }
  }

  /// Hands the newest choice about an activity to the machine.
  private func takeChosenActivity(_ name: String) {
    guard let choice = chosenActivities.withLock({ $0[name] }) else { return }
    refusedActivities[name] = nil
    switch choice {
    case .watch(let activity, let schedule): step(.watch(activity, schedule: schedule))
    case .unwatch: step(.unwatch(name))
    }
    chosenActivities.withLock { chosen in
      if chosen[name] == choice { chosen[name] = nil }
    }
  }

  /// Hands everything that the app's code has chosen to the machine, which makes it durable.
  private func takeAllChosen() {
    for name in chosen.withLock({ $0.keys.sorted() }) { takeChosen(name) }
    for name in chosenActivities.withLock({ $0.keys.sorted() }) { takeChosenActivity(name) }
  }

  /// Waits until the device watches the activity, for at most the limit of a name.
  ///
  /// - Throws: `DeviceProblem` if the device is away or refuses the activity.
  package func confirmWatch(_ name: String) async throws(DeviceProblem) {
    takeChosenActivity(name)
    try await confirm(
      refusal: { [self] in refusedActivities[name] },
      isAnswered: { [self] in
        refusedActivities[name] != nil || opened?.machine.planned[name]?.isConfirmed ?? true
      })
    guard opened?.machine.planned[name] != nil else { throw DeviceProblem(.notAuthorized) }
  }

  /// Records the device's answer about an activity.
  func received(_ problem: Problem?, ofActivity name: String) {
    refusedActivities[name] = problem
    resumeAnsweredReaders()
  }

  /// The moments of activities: those that no former process has finished, and later ones. One reader
  /// at a time receives them.
  package func activityMoments() -> AsyncStream<ActivityDelivery> {
    let (stream, continuation) = AsyncStream<ActivityDelivery>.makeStream()
    let former = moments.withLock { moments in
      let former = moments.reader
      moments.lastReader += 1
      moments.reader = continuation
      let number = moments.lastReader
      continuation.onTermination = { [weak self] _ in
        self?.moments.withLock { if $0.lastReader == number { $0.reader = nil } }
      }
      for delivery in moments.deliveries { continuation.yield(delivery) }
      return former
    }
    // The end of a stream takes the lock.
    former?.finish()
    step(.handleMoments)
    return stream
  }

  /// Hands a moment to the reader.
  func deliver(
    _ moment: ActivityMoment, of name: String, _ number: UInt64, _ position: UInt64?,
    at time: Instant
  ) {
    guard let planned = opened?.machine.planned[name] else { return }
    let delivery = ActivityDelivery(
      position: position, planned: planned, number: number, moment: moment, time: time)
    moments.withLock { moments in
      moments.deliveries.append(delivery)
      moments.reader?.yield(delivery)
    }
  }

  /// Finishes a moment that the app's code has handled. The code's choices become durable first.
  ///
  /// - Parameter next: The next interval; `nil` after the end of a schedule's last one.
  package func finish(_ delivery: ActivityDelivery, next: Activity? = nil) {
    takeAllChosen()
    let name = delivery.planned.activity.name
    // The app's code may have replaced the activity, or ended its watch.
    let isUnchanged = opened?.machine.planned[name]?.activity == delivery.planned.activity
    if delivery.endsInterval, isUnchanged {
      if let next {
        step(.watch(next.renumbered, schedule: delivery.planned.schedule))
      } else {
        step(.unwatch(name))
      }
    }
    if let position = delivery.position { step(.consumed(position)) }
    moments.withLock { $0.deliveries.removeAll { $0 == delivery } }
  }
}

extension Activity {
  /// The interval with a new number.
  fileprivate var renumbered: Activity {
    var activity = self
    activity.number = .random(in: 0...UInt64.max)
    return activity
  }
}
