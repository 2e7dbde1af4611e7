import Foundation
import GatewayModel
import ProcessCluster

/// New content of an agent's screens or of the app's window.
enum ScreenEvent: Sendable {
  case screens(ScreenClient.LineName, [JSONValue])
  case window(device: String, JSONValue)
  case windowEnded(device: String)
}

extension ClusterConsole {
  func receive(_ event: ScreenEvent) async {
    switch event {
    case .screens(let line, let all):
      var areMoved = false
      for case .object(let screen) in all {
        guard case .number(let family) = screen["family"],
          case .number(let device) = screen["device"]
        else { continue }
        let key = "\(UInt64(family))-\(UInt64(device))"
        areMoved = areMoved || Self.positions(screens[key]?[line.language]) != screen["positions"]
        screens[key, default: [:]][line.language] = Self.withoutBirthdates(screen)
        await publishDevice(key, line.language)
      }
      let pid = cluster.agent(line.process).pid
      if screenPids[line.process] != pid {
        screenPids[line.process] = pid
        await publishDevices()
      }
      if areMoved { try? await publish(.init(event: "log"), logReader.log()) }
    case .window(let device, let line):
      guard case .object(let members) = line else { return }
      if let window = members["window"] { windowDocuments[device] = window }
      if let (id, mono) = Self.moment(members["asked"]) { asked[id] = asked[id] ?? mono }
      if let (id, mono) = Self.moment(members["handled"]) { handled[id] = handled[id] ?? mono }
      await publishApps()
    case .windowEnded: await publishApps()
    }
  }

  private static func positions(_ screen: JSONValue?) -> JSONValue? {
    guard case .object(let members) = screen else { return nil }
    return members["positions"]
  }

  /// The screen without the birthdates of people, which the page does not show.
  static func withoutBirthdates(_ screen: [String: JSONValue]) -> JSONValue {
    var screen = screen
    if case .array(let children) = screen["children"] {
      screen["children"] = .array(
        children.map { child in
          guard case .object(var members) = child else { return child }
          members["birthdateText"] = nil
          return .object(members)
        })
    }
    return .object(screen)
  }

  /// The question and the time of a line of the window.
  private static func moment(_ value: JSONValue?) -> (UUID, UInt64)? {
    guard case .object(let members) = value, case .string(let text) = members["question"],
      let id = UUID(uuidString: text), case .number(let mono) = members["mono"]
    else { return nil }
    return (id, UInt64(mono))
  }

  // MARK: Publishing

  /// The document of the part `device`.
  struct DeviceDocument: Encodable {
    var key: String
    var screen: JSONValue?
    var isStale: Bool
  }

  /// The document of the part `app`.
  struct AppDocument: Encodable {
    var key: String
    var app: String
    var isOpen: Bool
    var isLaunched: Bool
    var window: JSONValue?
  }

  func publishDevices() async {
    for device in family?.devices ?? [] {
      for language in Set(screens[device.key]?.keys.map { $0 } ?? []).union(["en"]) {
        await publishDevice(device.key, language)
      }
    }
  }

  private func publishDevice(_ key: String, _ language: String) async {
    guard let process = family?.devices.first(where: { $0.key == key })?.process else { return }
    let row = table.rows.first { $0.name == process }
    // An agent that has started answers within milliseconds; until then the page shows the last state.
    let isStale = row?.state != "up" || screenPids[process] != cluster.agent(process).pid
    try? await publish(
      .init(event: "device", key: key, language: language),
      DeviceDocument(key: key, screen: screens[key]?[language], isStale: isStale))
  }

  func publishApps() async {
    for device in family?.appDevices ?? [] {
      let isLaunched = !launchedApps(of: device.process).isEmpty
      try? await publish(
        .init(event: "app", key: device.key),
        AppDocument(
          key: device.key, app: RunningCluster.app, isOpen: windows[device.key]?.pid != nil,
          isLaunched: isLaunched, window: windowDocuments[device.key]))
    }
  }

  // MARK: The app

  /// Makes the window of the example app on a device; other apps have none. A person opens the window.
  func makeWindow(
    of device: ConsoleFamily.Device, _ event: @escaping @Sendable (ScreenEvent) -> Void
  ) {
    guard let address = device.address else { return }
    let credential = cluster.layout.appCredential(
      family: address.family.rawValue, device: address.device.rawValue
    ).path
    guard FileManager.default.fileExists(atPath: credential) else { return }
    let key = device.key
    let window = AppWindow(
      program: ClusterApp.landmarks.program, credential: credential,
      received: { event(.window(device: key, $0)) }, ended: { event(.windowEnded(device: key)) })
    windows[key] = window
  }

  /// The processes of the app that an agent has launched.
  func launchedApps(of agent: String) -> [pid_t] {
    AppProcesses.children(of: [cluster.agent(agent).pid].compactMap { $0 })
  }
}
