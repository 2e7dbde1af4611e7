import FamilyModel

/// The use of the web that the apps of a child's device report, and the reports to the guardians.
///
/// The days of each app are durable: *shown* → (the app's message is stored) *counted* → (a report is due)
/// *reported*. A day is reported again whenever it changes. While guardians read no report, the device
/// keeps nothing, and counts towards the thresholds of authorized apps alone.
///
/// A deletion by an app takes its time from the days, and from the reports that replace the former ones.
/// The guardians see that a day was shortened. A deletion by a guardian removes the time of every app.
extension ChildMachine {
  /// The use of the web that one app has reported.
  struct AppWebUse: Equatable, Sendable {
    /// The number of the last message.
    var message: UInt64 = 0
    var days: [Account.Day: WebDay] = [:]
  }

  /// The reports that are due.
  struct WebReporting: Equatable, Sendable {
    /// The days whose use has changed since the last report.
    var days: Set<Account.Day> = []
    /// When the next report is sent; `nil`: no day has changed.
    var due: Instant?
    /// The detail of the last report; `nil` before the first step.
    var detail: WebReport?
  }

  /// The detail in which the device reports; `nil` before it has read the rules.
  private var webDetail: WebReport? {
    guard isInFamily, link.person?.role == .child else { return .off }
    return link.hasReadWebRules ? webRules.report : nil
  }

  private func webDay(of time: Instant) -> Account.Day {
    calendar(time, link.accounts[link.personID]?.timeZone ?? "")
  }

  // MARK: messages of apps

  /// Counts the pages that an app has shown. A message that the device has counted changes nothing.
  mutating func use(
    _ pages: ShownPages, _ message: UInt64, of app: AppID, now: Instant,
    into out: inout DeviceLink.Output, effects: inout [DeviceEffect]
  ) {
    let last = lastCounted(of: app)
    if !link.isShutOut, message > last {
      countTowardsThresholds(pages, message, of: app, into: &out, effects: &effects)
    }
    let isCounted = webDetail != .off && !link.isShutOut
    changeWebUse(message, last, of: app, now: now, into: &out, effects: &effects) { today, use in
      guard isCounted, Limits.years.contains(today.year) else { return [] }
      use.days[today, default: WebDay(today)]
        .add(WebDay(today, seconds: pages.seconds, sites: pages.sites))
      return [today]
    }
  }

  /// Deletes a part of what an app has reported.
  mutating func deleteUse(
    _ part: WebHistoryPart, _ message: UInt64, of app: AppID, now: Instant,
    into out: inout DeviceLink.Output, effects: inout [DeviceEffect]
  ) {
    var days: ClosedRange<Account.Day>?
    var site: Site?
    switch part {
    case .all: break
    case .site(let named): site = named
    case .days(let first, let last):
      days = webDay(of: min(first, last))...webDay(of: max(first, last))
    }
    let last = lastCounted(of: app)
    changeWebUse(message, last, of: app, now: now, into: &out, effects: &effects) { _, use in
      use.days.values.filter { days?.contains($0.day) ?? true }.compactMap { day in
        var rest = day.deleting(site)
        guard rest != day else { return nil }
        rest.isShortened = true
        use.days[day.day] = rest
        return day.day
      }
    }
  }

  /// Changes the use of one app, unless the device has stored the message. The number of a message is stored
  /// beside the days: without any, a repetition changes nothing either.
  ///
  /// - Parameters:
  ///   - last: The number of the app's last message that the device has counted.
  ///   - change: Returns the days that it has changed.
  private mutating func changeWebUse(
    _ message: UInt64, _ last: UInt64, of app: AppID, now: Instant,
    into out: inout DeviceLink.Output, effects: inout [DeviceEffect],
    _ change: (Account.Day, inout AppWebUse) -> [Account.Day]
  ) {
    var use = webUse[app] ?? AppWebUse()
    defer { effects.append(.app(app, .webUsed(max(message, last)))) }
    guard message > last else { return }
    let today = webDay(of: ageTime(now: now))
    var changed = change(today, &use)
    guard !use.days.isEmpty else { return }
    use.message = message
    // The record of the last day has the number of the last message.
    if let last = use.days.keys.max(), !changed.contains(last) { changed.append(last) }
    webUse[app] = use
    forgetFirstDays(into: &out)
    record(changed, of: app, into: &out)
  }

  private mutating func forgetFirstDays(into out: inout DeviceLink.Output) {
    let forgotten = usedDays.sorted().dropLast(Limits.webUseDays)
    guard !forgotten.isEmpty else { return }
    webReporting.days.subtract(forgotten)
    for app in webUse.keys.sorted() {
      for day in forgotten where webUse[app]!.days.removeValue(forKey: day) != nil {
        out.changes.append(.delete(.webUse(app, day)))
      }
    }
  }

  private mutating func record(
    _ days: [Account.Day], of app: AppID, into out: inout DeviceLink.Output
  ) {
    webReporting.days.formUnion(days)
    for day in days.sorted() {
      guard let use = webUse[app]?.days[day] else { continue }
      out.changes.append(.put(.webUse(app, use, message: webUse[app]!.message)))
    }
  }

  mutating func restore(_ use: WebDay, _ message: UInt64, of app: AppID) {
    webUse[app, default: AppWebUse()].days[use.day] = use
    webUse[app]!.message = max(webUse[app]!.message, message)
  }

  // MARK: deletions of guardians

  /// Deletes the time of a site or, if `nil`, of all sites, because a guardian did.
  mutating func deleteWebUse(of site: Site?, into out: inout DeviceLink.Output) {
    for app in webUse.keys.sorted() {
      let former = webUse[app]!.days
      let rest = former.mapValues { $0.deleting(site) }
      webUse[app]!.days = rest
      record(former.keys.filter { former[$0] != rest[$0] }, of: app, into: &out)
    }
    // For readers, reports that do not reflect the deletion are empty.
    webReporting.days.formUnion(usedDays)
  }

  // MARK: reports

  /// Sends a report that is due, and deletes all use while guardians read no report.
  mutating func reportWebUse(now: Instant, into out: inout DeviceLink.Output) {
    guard !webUse.isEmpty, let detail = webDetail, !link.isShutOut else {
      return webReporting.due = nil
    }
    if detail == .off { return forgetWebUse(into: &out) }
    let isFirst = webReporting.detail == nil
    if isFirst {
      webReporting.days = unreportedDays(detail)
    } else if webReporting.detail != detail {
      webReporting.days.formUnion(usedDays)
    }
    webReporting.detail = detail
    guard !webReporting.days.isEmpty else { return webReporting.due = nil }
    let due = webReporting.due ?? now + (isFirst ? .zero : Timing.webReportInterval)
    webReporting.due = due
    guard due <= now else { return }
    guard !isReportPending else { return webReporting.due = now + Timing.webReportInterval }
    let days = webReporting.days.sorted().suffix(Limits.webUseDaysInReport)
    let use = WebUse(
      days.map { ownDay($0, detail) },
      deletion: link.family.settings[link.personID]?.webUseDeletion ?? 0)
    webReporting.due = nil
    guard send(.noteAge(link.personID, .webUse(use)), now: now, into: &out) == nil else { return }
    webReporting.days.subtract(days)
  }

  /// Whether a report is in the outbox. Another one would fill the outbox while the relay is away.
  private var isReportPending: Bool {
    link.pendingCommands.contains { if case .noteAge(_, .webUse) = $0 { true } else { false } }
  }

  private mutating func forgetWebUse(into out: inout DeviceLink.Output) {
    for (app, use) in webUse.sorted(by: { $0.key < $1.key }) {
      out.changes += use.days.keys.sorted().map { .delete(.webUse(app, $0)) }
    }
    webUse = [:]
    webReporting = WebReporting()
  }

  /// The days on which an app has reported use.
  private var usedDays: Set<Account.Day> { Set(webUse.values.flatMap(\.days.keys)) }

  /// The day's use of all apps on this device.
  private func ownDay(_ day: Account.Day, _ detail: WebReport) -> WebDay {
    var result = WebDay(day)
    var all = WebDay(day)
    for use in webUse.values.compactMap({ $0.days[day] }) {
      result.add(WebDay(day, seconds: use.seconds, isShortened: use.isShortened))
      all.sites.merge(use.sites, uniquingKeysWith: WebDay.sum)
    }
    guard detail == .sites else { return result }
    for (site, time) in all.longestSites { result.add(time, to: site) }
    return result
  }

  /// The days whose last report, sent or in the outbox, differs from their use.
  private func unreportedDays(_ detail: WebReport) -> Set<Account.Day> {
    var reported =
      link.webReports[link.personID]?.days[link.address.device]?.mapValues(\.day) ?? [:]
    for case .noteAge(_, .webUse(let use)) in link.pendingCommands {
      for day in use.days { reported[day.day] = day }
    }
    return usedDays.filter { reported[$0] != ownDay($0, detail) }
  }
}
