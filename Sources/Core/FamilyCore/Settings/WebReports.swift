public import FamilyModel

/// A device's newest report of one day, as other devices keep it.
public struct ReportedWebDay: Hashable, Sendable {
  /// The use of the day.
  public var day: WebDay
  /// The stamp of the report. A device's stamps ascend.
  public var stamp: ID128
  /// The newest deletion that the report reflects.
  public var deletion: UInt64
  /// Creates a report.
  public init(_ day: WebDay, stamp: ID128, deletion: UInt64) {
    (self.day, self.stamp, self.deletion) = (day, stamp, deletion)
  }
}

/// The newest report of each device and day about one child's use of the web.
///
/// A report has its place by its stamp, and a deletion removes each report that does not reflect it. A report
/// that arrives after a deletion which it does not reflect is empty, until its device reports again. Otherwise
/// the result does not depend on the order of arrival.
struct WebReports: Equatable, Sendable {
  private(set) var days: [DeviceID: [Account.Day: ReportedWebDay]] = [:]

  mutating func restore(_ report: ReportedWebDay, of device: DeviceID) {
    days[device, default: [:]][report.day.day] = report
  }

  /// Adds a report.
  ///
  /// - Returns: The reports that are new or changed, and the days that are forgotten.
  mutating func add(_ use: WebUse, of device: DeviceID, stamp: ID128)
    -> (new: [ReportedWebDay], forgotten: [Account.Day])
  {
    var own = days[device] ?? [:]
    var new: [ReportedWebDay] = []
    for day in use.days where own[day.day].map({ $0.stamp < stamp }) ?? true {
      let report = ReportedWebDay(day, stamp: stamp, deletion: use.deletion)
      own[day.day] = report
      new.append(report)
    }
    let forgotten = own.keys.sorted().dropLast(Limits.webUseDays)
    for day in forgotten { own[day] = nil }
    days[device] = own
    return (new.filter { own[$0.day.day] != nil }, Array(forgotten))
  }

  /// Deletes the reports about a site or, if `nil`, all reports that do not reflect the deletion.
  ///
  /// - Returns: The changed reports; a deleted one is empty.
  mutating func delete(_ site: Site?, at deletion: UInt64) -> [(DeviceID, ReportedWebDay)] {
    var changed: [(DeviceID, ReportedWebDay)] = []
    for device in days.keys.sorted() {
      for (day, report) in days[device]!.sorted(by: { $0.key < $1.key })
      where report.deletion < deletion {
        let rest = report.day.deleting(site)
        guard rest != report.day else { continue }
        days[device]![day]!.day = rest
        changed.append((device, days[device]![day]!))
      }
    }
    return changed
  }

  /// The use of each day on all devices, ascending. Days without use are left out.
  var all: [WebDay] {
    var result: [Account.Day: WebDay] = [:]
    for (day, report) in days.values.joined() {
      result[day, default: WebDay(day)].add(report.day)
    }
    return result.values.filter { $0 != WebDay($0.day) }.sorted { $0.day < $1.day }
  }
}

extension WebDay {
  /// The day without a site or, if `nil`, without any use.
  func deleting(_ site: Site?) -> WebDay {
    guard let site else { return WebDay(day) }
    guard let time = sites[site] else { return self }
    var rest = self
    rest.sites[site] = nil
    // Two sites that were shown at once count once together: the other one's time stays.
    rest.seconds = max(seconds - min(time, seconds), rest.sites.values.max() ?? 0)
    return rest
  }
}

extension DeviceLink {
  /// The reports of the person's use of the web, by day. A deletion in the outbox counts already.
  public func webReport(of person: PersonID) -> [WebDay] {
    var reports = webReports[person] ?? WebReports()
    for case .changeSettings(person, .webUseDeleted(let site), _) in pendingCommands {
      _ = reports.delete(site, at: .max)
    }
    return reports.all
  }

  /// The changes that replace reports that a start has read as events: they had waited for a key, or
  /// were read again.
  static func changes(ofReports out: Output) -> [RecordChange] {
    let read = out.events.filter(\.body.isWebReport)
    guard !read.isEmpty else { return [] }
    return out.changes.filter(\.isOfWebReport) + read.flatMap(\.passing)
  }

  /// Applies a report of the use of the web, or a deletion.
  mutating func applyWebReports(_ event: Event) -> [RecordChange] {
    switch event.body {
    case .ageNoted(let person, .webUse(var use)):
      if use.deletion < family.settings[person]?.webUseDeletion ?? 0 {
        use.days = use.days.map { $0.deleting(nil) }
      }
      let (new, forgotten) = webReports[person, default: WebReports()].add(
        use, of: event.device, stamp: event.stamp)
      return new.map { .put(.webReport(person, event.device, $0)) }
        + forgotten.map { .delete(.webReport(person, event.device, $0)) }
    case .settingsChanged(let person, .webUseDeleted(let site), _):
      let changed = webReports[person]?.delete(site, at: event.seq) ?? []
      return changed.map { .put(.webReport(person, $0, $1)) }
    default: return []
    }
  }
}

extension Event {
  /// The changes of records that keep the event's position only.
  var passing: [RecordChange] {
    [.delete(.event(audience, seq: seq)), .put(.passed(audience, position))]
  }
}

extension RecordChange {
  /// Whether the change concerns a report of the web.
  fileprivate var isOfWebReport: Bool {
    switch self {
    case .put(.webReport), .delete(.webReport): true
    default: false
    }
  }
}

extension Event.Body {
  /// Whether the event reports the use of the web. A device keeps the newest report of each day, and no
  /// event.
  var isWebReport: Bool { if case .ageNoted(_, .webUse) = self { true } else { false } }
}
