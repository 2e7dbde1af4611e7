public import FamilyModel

/// A notice that a device keeps until its owner dismisses it.
public struct DeviceNotification: Hashable, Sendable {
  /// The command whose event caused the notice. One event causes at most one notification.
  public var id: CommandID
  /// When the relay accepted that command.
  public var at: Instant
  /// The notice; one for which ``Notice/isKept`` is `true`.
  public var notice: Notice
  /// Whether the owner has read the notification.
  public var isRead: Bool
  /// Creates a notification.
  public init(id: CommandID, at: Instant, notice: Notice, isRead: Bool = false) {
    self.id = id
    self.at = at
    self.notice = notice
    self.isRead = isRead
  }
}

extension Notice {
  /// Whether the device keeps the notice as a notification. Other notices concern the moment only.
  public var isKept: Bool {
    switch self {
    case .decided, .withdrawn, .ageShared, .message, .reminded, .ratingsRaised, .deviceAdded: true
    case .refused, .noPasscode, .passcodeNotSet, .eventRejected, .historyLost, .unopened,
      .appRejected,
      .wantsToJoin,
      .shutOut, .ratingRaised:
      false
    }
  }
}

/// The notifications of one device, oldest first.
///
/// - (event) `unread` → (read) `read`. Each of them → (dismissed) removed.
///
/// Every change is durable in the step of its cause. A notification is therefore kept exactly once,
/// although its event may arrive many times.
public struct Notifications: Sendable {
  /// The kept notifications, oldest first.
  public private(set) var all: [DeviceNotification] = []
  /// When this device joined the family. Earlier events are history, which causes no notification.
  private var joined: Instant?

  init(restoring records: [DeviceRecord] = [], joined: Instant?) {
    self.joined = joined
    for case .notification(let notification) in records { all.append(notification) }
    all.sort { ($0.at, $0.id) < ($1.at, $1.id) }
  }

  /// The number of unread notifications.
  public var unread: Int { all.count { !$0.isRead } }

  /// Records the moment of joining, once.
  mutating func join(at: Instant) { if joined == nil { joined = at } }

  /// Keeps a notice, unless it is older than the device. At ``Limits/notifications``, the oldest
  /// read notification leaves, or else the oldest one.
  ///
  /// - Returns: The new notification, or `nil` if none was added.
  mutating func add(
    _ notice: Notice, id: CommandID, at: Instant, changes: inout [RecordChange]
  ) -> DeviceNotification? {
    guard notice.isKept, joined.map({ $0 <= at }) ?? true, !all.contains(where: { $0.id == id })
    else { return nil }
    let notification = DeviceNotification(id: id, at: at, notice: notice)
    let index = all.lastIndex { ($0.at, $0.id) < (at, id) }.map { $0 + 1 } ?? 0
    all.insert(notification, at: index)
    changes.append(.put(.notification(notification)))
    if all.count > Limits.notifications {
      let oldest = all.remove(at: all.firstIndex(where: \.isRead) ?? 0)
      changes.append(.delete(.notification(oldest.id)))
    }
    return notification
  }

  /// Marks all notifications as read.
  mutating func markRead() -> [RecordChange] {
    var changes: [RecordChange] = []
    for index in all.indices where !all[index].isRead {
      all[index].isRead = true
      changes.append(.put(.notification(all[index])))
    }
    return changes
  }

  /// Removes one notification, or all.
  mutating func dismiss(_ id: CommandID?) -> [RecordChange] {
    let gone = all.filter { id == nil || $0.id == id }
    all.removeAll { id == nil || $0.id == id }
    return gone.map { .delete(.notification($0.id)) }
  }
}
