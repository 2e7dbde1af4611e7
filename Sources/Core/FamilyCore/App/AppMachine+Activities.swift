public import FamilyModel

/// An activity that the app watches, and the schedule of its intervals.
public struct PlannedActivity: Hashable, Sendable {
  /// The present interval.
  public var activity: Activity
  /// The description of the schedule, which only the app's library reads.
  public var schedule: [UInt8]
  /// Whether the device has stored the interval.
  public var isConfirmed: Bool
  /// Creates an activity.
  public init(_ activity: Activity, schedule: [UInt8], isConfirmed: Bool = false) {
    (self.activity, self.schedule, self.isConfirmed) = (activity, schedule, isConfirmed)
  }
}

/// The activities that the app watches.
///
/// - *Planned* → (the device answers) *confirmed*, or removed; → (the interval ends) the app's library plans
///   the next interval of the schedule, or ends the watch.
///
/// A planned activity is durable, and each attachment sends it again until the device confirms it. The device
/// reports moments in entries. Of a replaced interval, only the end reaches the app's code: the code may
/// restrict the child since the start.
extension AppMachine {
  /// Watches an interval in the place of the activity with this name. Without an authorization nothing
  /// changes.
  mutating func watch(_ activity: Activity, _ schedule: [UInt8]) -> [Effect] {
    let name = activity.name
    guard known.contains(.authorization) else { return [.watched(name, .notAuthorized)] }
    do throws(Problem) {
      try activity.validate()
      guard schedule.count <= Limits.scheduleBytes,
        planned[name] != nil || planned.count < Limits.activities
      else { throw .tooMany }
    } catch { return [.watched(name, error)] }
    let new = PlannedActivity(activity, schedule: schedule)
    planned[name] = new
    return [.persist([.put(.activity(new))])] + dropUnwanted() + register() + request(new)
  }

  /// Ends the watch of an activity.
  mutating func unwatch(_ name: String) -> [Effect] {
    guard let former = planned.removeValue(forKey: name) else { return [] }
    return [.persist([.remove(.activity(former))])] + dropUnwanted()
      + (isConnected && isAttached ? [.send(.unwatch(name))] : [])
  }

  /// Ends the watch of an activity that only the device knows: it has not received the app's request.
  func endUnplanned(_ entry: AppEntry) -> [Effect] {
    guard case .activity(let name, _, let moment, _) = entry.body, planned[name] == nil,
      moment != .ended
    else { return [] }
    return [.send(.unwatch(name))]
  }

  private func request(_ planned: PlannedActivity) -> [Effect] {
    isConnected && isAttached ? [.send(.watch(planned.activity))] : []
  }

  /// Sends the activities that the device has not confirmed.
  func watchAgain() -> [Effect] {
    planned.sorted { $0.key < $1.key }.map(\.value).filter { !$0.isConfirmed }.flatMap(request)
  }

  /// The device has answered about an interval. The answer about a former one changes nothing.
  mutating func watched(
    _ name: String, _ number: UInt64, _ problem: Problem?, at time: Instant
  ) -> [Effect] {
    guard var answered = planned[name], answered.activity.number == number, !answered.isConfirmed
    else { return [] }
    switch problem {
    case nil:
      answered.isConfirmed = true
      planned[name] = answered
      return [.persist([.put(.activity(answered))]), .watched(name, nil)]
    case .activityOver?:
      // The device was off, or has lost its store. The app takes its restrictions back.
      return [.moment(nil, name, number, .ended, at: time)]
    case let problem? where problem.endsWatch:
      planned[name] = nil
      return [.persist([.remove(.activity(answered))]), .watched(name, problem)]
    case let problem?:
      // The next attachment, or the next authorization, sends the activity again.
      return [.watched(name, problem)]
    }
  }

  /// Removes all activities, because no authorization is in force.
  mutating func endActivities() -> [AppRecordChange] {
    let changes = planned.keys.sorted().map { AppRecordChange.remove(.activity(planned[$0]!)) }
    planned = [:]
    return changes
  }

  /// The device has no activity any more.
  mutating func unconfirmActivities() -> [AppRecordChange] {
    var changes: [AppRecordChange] = []
    for name in planned.keys.sorted() where planned[name]!.isConfirmed {
      planned[name]!.isConfirmed = false
      changes.append(.put(.activity(planned[name]!)))
    }
    return changes
  }

  /// Whether the app's code handles the entry. Other entries are consumed without the code.
  func isWanted(_ content: PendingEntry.Content) -> Bool {
    guard case .moment(let name, let number, let moment, _) = content else { return true }
    guard let planned = planned[name] else { return false }
    return planned.activity.number == number || moment == .ended
  }
}

extension Problem {
  /// Whether the device will never watch the activity.
  fileprivate var endsWatch: Bool {
    [.tooMany, .activityLength, .malformed, .badText].contains(self)
  }
}

extension AppEntry {
  /// The part of the entry that the app's code handles; `nil` for none.
  var contentForCode: AppMachine.PendingEntry.Content? {
    switch body {
    case .response(let question, let choice):
      question.topic.kind.hasResponse ? .response(question, choice) : nil
    case .activity(let name, let number, let moment, let time):
      .moment(name, number, moment, at: time)
    case .known, .forgotten, .consentWithdrawn, .consentGiven: nil
    }
  }
}
