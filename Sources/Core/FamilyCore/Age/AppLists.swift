public import FamilyModel

/// An app on one device of a child, as the device reported it.
public struct ChildApp: Hashable, Sendable {
  /// The device with the app.
  public var device: DeviceID
  /// The app, with its name and rating.
  public var listed: ListedApp
  /// When the device first reported the app. A removed app that returns counts from its return.
  public var since: Instant
  /// When the device reported the present rating.
  public var ratedSince: Instant
}

/// The newest list of apps of each device of one child.
///
/// Each list is complete and replaces the device's earlier one. A list that was deferred for a key
/// arrives after a newer one and is ignored.
struct AppLists: Sendable {
  struct DeviceList {
    /// The stamp of the list: the id of its command, as a device's ids ascend, also if the relay loses
    /// a list. In a family without keys the log is the order.
    var stamp: ID128
    var apps: [AppID: ChildApp]
  }

  var lists: [DeviceID: DeviceList] = [:]

  /// The apps of all devices, by identifier and then by device.
  var all: [ChildApp] {
    lists.values.flatMap(\.apps.values)
      .sorted { ($0.listed.app, $0.device) < ($1.listed.app, $1.device) }
  }

  /// The device's newest list, by identifier; `nil` before the first one.
  func list(of device: DeviceID) -> [ListedApp]? {
    lists[device].map { $0.apps.values.map(\.listed).sorted { $0.app < $1.app } }
  }

  /// The name that the newest list with a name gives the app; `nil` without one.
  func name(of app: AppID) -> (name: String, stamp: ID128)? {
    lists.values.compactMap { list in list.apps[app]?.listed.name.map { ($0, list.stamp) } }
      .max { $0.1 < $1.1 }
  }

  /// Replaces the list of the event's device.
  ///
  /// - Returns: The apps whose rating is now higher than on every device of the child before.
  @discardableResult
  mutating func apply(_ event: Event, _ apps: [ListedApp]) -> [RisenRating] {
    let old = lists[event.device]
    guard old.map({ $0.stamp < event.stamp }) ?? true else { return [] }
    var new: [AppID: ChildApp] = [:]
    var risen: [RisenRating] = []
    for listed in apps {
      let before = old?.apps[listed.app]
      let isSame = before?.listed.effectiveRating == listed.effectiveRating
      new[listed.app] = ChildApp(
        device: event.device, listed: listed, since: before?.since ?? event.at,
        ratedSince: isSame ? before?.ratedSince ?? event.at : event.at)
      let highest = lists.values.compactMap { $0.apps[listed.app]?.listed.effectiveRating }.max()
      if before != nil, let highest, highest < listed.effectiveRating {
        risen.append(RisenRating(app: listed.app, rating: listed.effectiveRating))
      }
    }
    lists[event.device] = DeviceList(stamp: event.stamp, apps: new)
    return risen
  }
}

extension DeviceLink {
  /// The apps on the person's devices, by identifier and then by device. Apps of removed devices
  /// are left out.
  public func apps(of person: PersonID) -> [ChildApp] {
    (family.apps[person]?.all ?? []).filter { roster.device($0.device)?.person == person }
  }

  /// The name of the app for people, as a child's device reported it; `nil` without one. The text
  /// is untrusted.
  public func name(of app: AppID) -> String? {
    family.apps.values.compactMap { $0.name(of: app) }.max { $0.stamp < $1.stamp }?.name
  }

  /// The names of all apps that children's devices reported.
  public var appNames: [AppID: String] {
    var names: [AppID: String] = [:]
    for app in Set(family.apps.values.flatMap { $0.all.map(\.listed.app) }) {
      names[app] = name(of: app)
    }
    return names
  }

  /// The list of apps that this device reported most recently; `nil` if it never did. A command in
  /// the outbox counts already.
  var reportedApps: [ListedApp]? {
    for command in pendingCommands.reversed() {
      if case .noteAge(_, .apps(let apps)) = command { return apps }
    }
    return family.apps[personID]?.list(of: address.device)
  }
}

extension Event {
  /// The stamp of a list of apps or of a report about the web: a device's stamps ascend.
  var stamp: ID128 { signature == nil ? ID128(high: seq, low: 0) : command }
}
