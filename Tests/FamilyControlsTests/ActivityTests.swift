import DeviceActivity
import FamilyControls
import Foundation
import ManagedSettings
import PermissionKitTesting
import ScreenTime
import Synchronization
import Testing

private let center = DeviceActivityCenter()

/// Writes down each call.
private final class Recorder: DeviceActivityMonitor {
  let calls: Calls
  init(_ calls: Calls) { self.calls = calls }

  override func intervalDidStart(for activity: DeviceActivityName) {
    ManagedSettingsStore(named: "bedtime").communication.denyNewPeople = true
    calls.add("start \(activity.rawValue)")
  }
  override func intervalDidEnd(for activity: DeviceActivityName) {
    ManagedSettingsStore(named: "bedtime").clearAllSettings()
    calls.add("end \(activity.rawValue)")
  }
  override func intervalWillStartWarning(for activity: DeviceActivityName) {
    calls.add("start soon \(activity.rawValue)")
  }
  override func intervalWillEndWarning(for activity: DeviceActivityName) {
    calls.add("end soon \(activity.rawValue)")
  }
  override func eventDidReachThreshold(
    _ event: DeviceActivityEvent.Name, activity: DeviceActivityName
  ) { calls.add("reached \(event.rawValue)") }
  override func eventWillReachThresholdWarning(
    _ event: DeviceActivityEvent.Name, activity: DeviceActivityName
  ) { calls.add("reached soon \(event.rawValue)") }
}

/// The calls of a monitor, over all processes of the app.
private final class Calls: Sendable {
  private let list = Mutex<[String]>([])
  func add(_ call: String) { list.withLock { $0.append(call) } }
  /// The calls since the last reading.
  func take() -> [String] {
    list.withLock { list in
      defer { list = [] }
      return list
    }
  }
}

@Suite(.timeLimit(.minutes(10))) struct ActivityTests {
  private let family = TestFamily()
  private let calls = Calls()
  private var utc: TimeZone { TimeZone(secondsFromGMT: 0)! }

  /// The hour and the minute of the family's time after a pause.
  private func time(after pause: TimeInterval) -> DateComponents {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = utc
    var time = calendar.dateComponents([.hour, .minute], from: family.now + pause)
    time.timeZone = utc
    return time
  }

  private func schedule(repeats: Bool = true, warning: Int? = nil) -> DeviceActivitySchedule {
    DeviceActivitySchedule(
      intervalStart: time(after: 600), intervalEnd: time(after: 4_200), repeats: repeats,
      warningTime: warning.map { DateComponents(minute: $0) })
  }

  private func authorize() async throws {
    family.organizer.will(.approve)
    try await AuthorizationCenter.shared.requestAuthorization(for: .child)
  }

  /// Calls the monitor until the process ends.
  private func monitor() -> Task<Void, Never> {
    Task { [calls] in await DeviceActivityCenter().deliver(to: Recorder(calls)) }
  }

  @Test("S3, X1: a monitor is called at each moment of a schedule that repeats")
  func moments() async throws {
    try await family.app {
      #expect(throws: DeviceActivityCenter.MonitoringError.unauthorized) {
        try center.startMonitoring("bedtime", during: schedule())
      }
      try await authorize()
      let task = monitor()
      let planned = schedule(warning: 5)
      try center.startMonitoring("bedtime", during: planned)
      #expect(center.activities == ["bedtime"] && center.schedule(for: "bedtime") == planned)
      try await center.untilMonitored("bedtime")
      await family.advance(by: .seconds(360))
      #expect(calls.take() == ["start soon bedtime"])
      await family.advance(by: .seconds(360))
      #expect(calls.take() == ["start bedtime"])
      #expect(ManagedSettingsStore(named: "bedtime").communication.denyNewPeople == true)
      await family.advance(by: .seconds(3_600))
      #expect(calls.take() == ["end soon bedtime", "end bedtime"])
      #expect(ManagedSettingsStore(named: "bedtime").communication.denyNewPeople == nil)
      // The next day.
      await family.advance(by: .seconds(86_400))
      #expect(
        calls.take() == [
          "start soon bedtime", "start bedtime", "end soon bedtime", "end bedtime",
        ])
      center.stopMonitoring()
      await family.advance(by: .seconds(86_400))
      #expect(calls.take() == [] && center.activities.isEmpty)
      task.cancel()
    }
  }

  @Test("S3, X2: the device launches the app for its moments, also after a crash and a restart")
  func background() async throws {
    try await family.app {
      try await authorize()
      try center.startMonitoring("bedtime", during: schedule(repeats: false))
      try await center.untilMonitored("bedtime")
    }
    // The first launch fails before the monitor is called.
    let attempts = Mutex(0)
    family.whenLaunched {
      let isFirst = attempts.withLock { attempts in
        attempts += 1
        return attempts == 1
      }
      if isFirst { throw CancellationError() }
      let task = monitor()
      await family.settle()
      task.cancel()
    }
    await family.advance(by: .seconds(660))
    #expect(calls.take() == ["start bedtime"])
    await family.restartDevice()
    await family.jump(by: .seconds(7_200))
    #expect(calls.take() == ["end bedtime"])
    #expect(family.unhandled == 0)
    try await family.app {
      #expect(center.activities.isEmpty)
      #expect(ManagedSettingsStore(named: "bedtime").communication.denyNewPeople == nil)
    }
  }

  @Test("S3: events count the pages of their domains")
  func events() async throws {
    try await family.app {
      try await authorize()
      let task = monitor()
      let games = DeviceActivityEvent(
        webDomains: [WebDomain(domain: "www.games.example")],
        threshold: DateComponents(minute: 10))
      let schedule = DeviceActivitySchedule(
        intervalStart: time(after: -600), intervalEnd: time(after: 7_200), repeats: true,
        warningTime: DateComponents(minute: 2))
      try center.startMonitoring("day", during: schedule, events: ["games": games])
      try await center.untilMonitored("day")
      await family.settle()
      // The present interval starts at once.
      #expect(calls.take() == ["start day"])
      #expect(
        center.events(for: "day") == [
          "games": DeviceActivityEvent(
            webDomains: [WebDomain(domain: "games.example")],
            threshold: DateComponents(second: 600))
        ])
      let page = STWebpageController()
      page.url = URL(string: "https://games.example/")
      _ = await page.isBlocked()
      page.isShown = true
      await family.advance(by: .seconds(540))
      #expect(calls.take() == ["reached soon games"])
      await family.advance(by: .seconds(120))
      #expect(calls.take() == ["reached games"])
      task.cancel()
    }
  }

  @Test("S3: the end of the authorization ends all monitoring")
  func withdrawn() async throws {
    try await family.app {
      try await authorize()
      let task = monitor()
      try center.startMonitoring("bedtime", during: schedule())
      try await center.untilMonitored("bedtime")
      await family.organizer.withdrawAuthorization()
      await family.settle()
      #expect(center.activities.isEmpty)
      await family.advance(by: .seconds(86_400))
      #expect(calls.take() == [])
      task.cancel()
    }
  }

  @Test("S3: a schedule that no device watches is refused")
  func refused() async throws {
    try await family.app {
      try await authorize()
      func error(
        _ start: DateComponents, _ end: DateComponents,
        _ events: [DeviceActivityEvent.Name: DeviceActivityEvent] = [:]
      ) -> DeviceActivityCenter.MonitoringError? {
        let schedule = DeviceActivitySchedule(
          intervalStart: start, intervalEnd: end, repeats: true)
        do throws(DeviceActivityCenter.MonitoringError) {
          try center.startMonitoring("a", during: schedule, events: events)
          return nil
        } catch { return error }
      }
      let hour = DateComponents(hour: 20)
      #expect(error(hour, DateComponents(hour: 20, minute: 14)) == .intervalTooShort)
      #expect(error(DateComponents(day: 1), DateComponents(day: 15)) == .intervalTooLong)
      #expect(error(DateComponents(month: 13), hour) == .invalidDateComponents)
      let event = DeviceActivityEvent(threshold: DateComponents(minute: -1))
      #expect(error(hour, DateComponents(hour: 21), ["a": event]) == .invalidDateComponents)
      let noHost = DeviceActivityEvent(
        webDomains: [WebDomain(domain: "!")], threshold: DateComponents(minute: 1))
      #expect(error(hour, DateComponents(hour: 21), ["a": noHost]) == .invalidDateComponents)
      #expect(center.activities.isEmpty)
      for number in 1...20 {
        try center.startMonitoring(DeviceActivityName("\(number)"), during: schedule())
      }
      #expect(throws: DeviceActivityCenter.MonitoringError.excessiveActivities) {
        try center.startMonitoring("more", during: schedule())
      }
    }
  }
}
