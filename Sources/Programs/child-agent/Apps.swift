import ArgumentParser
import DeviceAgent
import Foundation

/// Shows the way of each response from the device to its app.
struct Apps: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show which responses wait for their apps, and why.",
    discussion: "Reads the status file of a running child-agent.")

  @Option(help: "The folder of the agent's durable state.") var directory: String

  func run() throws {
    let file = URL(fileURLWithPath: directory).appendingPathComponent("status.json")
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    guard let data = try? Data(contentsOf: file),
      let status = try? decoder.decode(AgentStatus.self, from: data)
    else {
      throw ValidationError(
        "Cannot read \(file.path). A running child-agent with this --directory writes it.")
    }
    for device in status.devices {
      print("\(device.name), device \(device.device):")
      let numbers = Dictionary(
        device.questions.compactMap { question in question.number.map { (question.id, $0) } },
        uniquingKeysWith: { first, _ in first })
      for app in device.apps ?? [] {
        for line in Self.lines(app, numbers: numbers) { print("  " + line) }
      }
    }
  }

  /// The app's state and its responses.
  static func lines(
    _ app: AgentStatus.App, numbers: [String: UInt64] = [:], now: Date = Date()
  ) -> [String] {
    func name(_ id: String) -> String { numbers[id].map { "#\($0) (\(id))" } ?? id }
    let confinement = app.confined == false ? ", not confined" : ""
    var lines = ["\(app.app): \(state(app, now))\(confinement)"]
    lines += app.waiting.map { "  \(name($0)) waits" }
    lines += app.handled.map { "  \(name($0)) handled" }
    return lines
  }

  private static func state(_ app: AgentStatus.App, _ now: Date) -> String {
    let ended = app.lastEnd.map { ", last launch \($0)" } ?? ""
    let failed = app.failedLaunches > 0 ? ", launches without handling: \(app.failedLaunches)" : ""
    switch app.state {
    case "idle": return "every response handled\(ended)"
    case "not registered":
      return "waits until the app is started: it has never read `updates` and never asked"
    case "launched": return "launched\(process(app)), not connected yet\(failed)"
    case "attached": return "connected\(process(app)), has not handled its responses\(failed)"
    default:
      let seconds = app.nextLaunch.map { max(0, Int($0.timeIntervalSince(now).rounded(.up))) } ?? 0
      return "next launch in \(seconds) s\(ended)\(failed)"
    }
  }

  private static func process(_ app: AgentStatus.App) -> String {
    app.process.map { " as process \($0)" } ?? ""
  }
}
