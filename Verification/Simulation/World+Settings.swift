import FamilyCore
import FamilyModel

/// Acts about the settings of children, and what the devices report of the web.
extension World {
  func browse(_ index: Int, _ app: Int, _ site: Site) {
    guard open(index, app) else { return }
    step(.sites([site]), index, app)
    ask(.browse(site), index, app)
  }

  func authorize(_ index: Int, _ app: Int) {
    guard open(index, app) else { return }
    ask(.authorization, index, app)
  }

  private func ask(_ topic: Topic, _ index: Int, _ app: Int) {
    let question = Question(id: QuestionID(high: 43, low: random.next()), topic: topic)
    step(.ask(question, .choose), index, app)
  }

  func manage(_ index: Int, _ app: Int, _ settings: ManagedSettings) {
    guard open(index, app) else { return }
    guard devices[index].apps[app].machine.authorization != .undetermined else {
      return ask(.authorization, index, app)
    }
    step(.manage("store", settings), index, app)
  }

  /// Watches the next hour or the next days, because a guardian has authorized the app.
  func watch(_ index: Int, _ number: Int) {
    let start = clock(devices[index].clock) + .minutes(1)
    let length: Milliseconds = random.chance(50) ? .hours(1) : .days(2)
    let threshold = Activity.Threshold("games", seconds: 60, sites: [Scenario.sites[1]])
    let activity = Activity(
      "school", number: random.next(), from: start, to: start + length, warning: 30,
      thresholds: [threshold])
    step(.watch(activity, schedule: []), index, number)
  }

  /// The app's code handles a moment, and checks that it has not handled the moment before. After the end
  /// of some intervals, the code watches another one.
  func handle(
    _ moment: ActivityMoment, of name: String, _ interval: UInt64, at position: UInt64?,
    _ index: Int, _ number: Int
  ) {
    let app = devices[index].apps[number]
    guard app.isRunning else { return }
    let handled = app.handledMoments[interval] ?? []
    if handled.contains(moment) || handled.contains(.ended) {
      record(.breach("an app handles \(moment) of interval \(interval) after \(handled)"))
    }
    if moment == .ended, app.machine.planned[name]?.activity.number == interval {
      reach(.activityEnded)
      if interval % 2 == 0 {
        watch(index, number)
      } else {
        step(.unwatch(name), index, number)
      }
    }
    if app.isRunning, let position { step(.consumed(position), index, number) }
    // A process that ended meanwhile may handle the moment again.
    guard app.isRunning else { return }
    app.handledMoments[interval, default: []].append(moment)
  }

  /// Shows pages of a site. An app that does not know yet whether rules restrict the web reports nothing.
  func showPages(_ index: Int, _ app: Int, _ site: Site, seconds: UInt32) {
    guard open(index, app) else { return }
    let device = devices[index]
    step(.sites([site]), index, app)
    guard device.apps[app].machine.isWebRestricted == true else { return }
    device.shownSeconds += UInt64(seconds)
    let pages = ShownPages(seconds: seconds, sites: [site: seconds])
    step(.useWeb(pages, at: clock(device.clock)), index, app)
  }

  func deleteHistory(_ index: Int, _ app: Int, _ part: WebHistoryPart) {
    guard open(index, app) else { return }
    step(.deleteWebUse(part, at: clock(devices[index].clock)), index, app)
  }

  /// Checks that no device knows of more use of the web than apps have shown.
  func checkWebReports(of device: SimulatedDevice) {
    for child in device.link.roster.children {
      let reported = device.link.webReport(of: child.id)
      if !reported.isEmpty { reach(.webReported) }
      let shown = devices.filter {
        $0.address.family == device.address.family && $0.plan.person.id == child.id
      }.reduce(0) { $0 + $1.shownSeconds }
      let seconds = reported.reduce(0) { $0 + UInt64($1.seconds) }
      if seconds > shown {
        record(
          .breach(
            "device \(device.plan.id.rawValue) knows of \(seconds) s of the web instead of \(shown)"
          ))
      }
    }
  }
}
