import ArgumentParser
import DeviceActivity
import FamilyControls
import Foundation
import ManagedSettings

/// The hours without the web that Landmarks keeps as an app for parental controls.
struct Bedtime: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Ask to manage the child, and block the web between two times of each day.")
  @Argument(help: "The start, such as 20:00.", transform: Self.time) var start: DateComponents
  @Argument(help: "The end, such as 07:00.", transform: Self.time) var end: DateComponents

  static let activity: DeviceActivityName = "bedtime"

  private static func time(_ text: String) throws -> DateComponents {
    let parts = text.split(separator: ":").map { Int($0) }
    guard parts.count == 2, let hour = parts[0], let minute = parts[1], 0..<24 ~= hour,
      0..<60 ~= minute
    else { throw ValidationError("A time is like 20:00.") }
    return DateComponents(hour: hour, minute: minute)
  }

  func run() async throws {
    try await AuthorizationCenter.shared.requestAuthorization(for: .child)
    let schedule = DeviceActivitySchedule(intervalStart: start, intervalEnd: end, repeats: true)
    let center = DeviceActivityCenter()
    try center.startMonitoring(Self.activity, during: schedule)
    try await center.untilMonitored(Self.activity)
    print("the device blocks the web from \(start.clockTime) to \(end.clockTime)")
  }
}

/// Blocks the web during the hours. Each process of Landmarks has a monitor.
final class BedtimeMonitor: DeviceActivityMonitor {
  private let store = ManagedSettingsStore(named: "bedtime")

  /// Calls a monitor until the task is cancelled.
  static func start() -> Task<Void, Never> {
    Task { await DeviceActivityCenter().deliver(to: BedtimeMonitor()) }
  }

  override func intervalDidStart(for activity: DeviceActivityName) {
    store.webContent.blockedByFilter = .all()
    print("bedtime: the web is blocked")
  }

  override func intervalDidEnd(for activity: DeviceActivityName) {
    store.clearAllSettings()
    print("bedtime: the web is open")
  }
}

extension DateComponents {
  fileprivate var clockTime: String { String(format: "%02d:%02d", hour ?? 0, minute ?? 0) }
}
