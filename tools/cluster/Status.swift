import Foundation
import TextTable

/// The `status.json` that each agent writes.
struct Status: Codable {
  struct Question: Codable {
    var id: String
    var state: String
    var by: String?
    var delivery: String
  }
  struct Device: Codable {
    var family: UInt64
    var device: UInt32
    var name: String
    var role: String
    var relay: String
    var position: UInt64
    var outbox: Int
    var questions: [Question]
    var known: [String: [String]]
  }
  var devices: [Device]

  static func read(_ layout: Layout, _ agent: String) -> Status? {
    let file = layout.agent(agent).appendingPathComponent("status.json")
    guard let data = try? Data(contentsOf: file) else { return nil }
    return try? JSONDecoder().decode(Status.self, from: data)
  }

  /// All devices of all agents that have written a status, by family and device.
  static func all(_ layout: Layout) -> [Device] {
    let folder = layout.root.appendingPathComponent("agents")
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.compactMap { read(layout, $0) }.flatMap(\.devices)
      .sorted { ($0.family, $0.device) < ($1.family, $1.device) }
  }

  /// A table of the devices, one a line.
  static func table(_ devices: [Device]) -> String {
    let head = [
      "family", "device", "person", "role", "relay", "events", "outbox", "questions", "known",
    ]
    let rows = devices.map { device in
      [
        "\(device.family)", "\(device.device)", device.name, device.role,
        device.relay, "\(device.position)", "\(device.outbox)",
        device.questions.map(\.line).joined(separator: ", "),
        device.known.values.flatMap { $0 }.sorted().joined(separator: ", "),
      ]
    }
    return Table.render([head] + rows)
  }
}

extension Status.Question {
  /// Where the question stands, and who answered.
  var line: String { by.map { "\(state) by \($0)" } ?? state }
}
