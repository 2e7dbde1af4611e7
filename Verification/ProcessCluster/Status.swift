import Foundation
import TextTable

/// The `status.json` that each agent writes.
package struct Status: Codable {
  package struct Question: Codable {
    package var id: String
    package var state: String
    package var by: String?
    package var delivery: String
  }
  package struct Device: Codable {
    package var family: UInt64
    package var device: UInt32
    package var name: String
    package var role: String
    package var relay: String
    package var position: UInt64
    package var outbox: Int
    package var unacknowledged: Int
    /// Events that the device rejected.
    package var disbelieved: Int
    /// Messages that the device cannot open yet.
    package var unopened: Int?
    package var questions: [Question]
    package var known: [String: [String]]
  }
  package var devices: [Device]

  package static func read(_ layout: Layout, _ agent: String) -> Status? {
    let file = layout.agent(agent).appendingPathComponent("status.json")
    guard let data = try? Data(contentsOf: file) else { return nil }
    return try? JSONDecoder().decode(Status.self, from: data)
  }

  /// The devices of all agents that have written a status, sorted by family and device.
  package static func all(_ layout: Layout) -> [Device] {
    let folder = layout.root.appendingPathComponent("agents")
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.compactMap { read(layout, $0) }.flatMap(\.devices)
      .sorted { ($0.family, $0.device) < ($1.family, $1.device) }
  }

  /// A table with one line per device.
  package static func table(_ devices: [Device]) -> String {
    let head = [
      "device", "person", "role", "relay", "events", "outbox", "questions", "known",
    ]
    let rows = devices.map { device in
      [
        "\(device.family)-\(device.device)", device.name, device.role,
        device.relay, "\(device.position)", "\(device.outbox)",
        outcomes(of: device.questions),
        device.role == "child" ? "\(Set(device.known.values.joined()).count)" : "",
      ]
    }
    return Table.render([head] + rows)
  }

  /// The numbers of questions by state, as `3 approve, 1 open`.
  private static func outcomes(of questions: [Question]) -> String {
    Dictionary(grouping: questions, by: \.state).mapValues(\.count)
      .sorted { ($1.value, $0.key) < ($0.value, $1.key) }
      .map { "\($0.value) \($0.key)" }.joined(separator: ", ")
  }
}

extension Status.Question {
  /// The question's state and who answered.
  package var line: String { by.map { "\(state) by \($0)" } ?? state }
}
