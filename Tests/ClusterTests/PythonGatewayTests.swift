import Foundation
import ProcessCluster
import Testing

/// Apps in Python and curl, beside a relay, agents and a gateway.
@Suite(.serialized, .timeLimit(.minutes(20))) struct PythonGatewayTests {
  @Test(
    "X5: apps in Python and curl ask, and receive unacknowledged events again after SIGKILL")
  func apps() async throws {
    let folder = "/tmp/pr-\(UUID().uuidString.prefix(8))"
    let layout = Layout(folder)
    guard let gateway = try await PythonGateway.prepare(layout) else { return }
    defer { gateway.remove() }
    try await gateway.run("", "-m", "unittest")

    var configuration = RunningCluster.Configuration()
    configuration.answer = "approve"
    // The device launches the app while the gateway is down. This one leaves the store alone.
    configuration.apps[0].program = "/bin/true"
    configuration.extraProcesses = [PythonGateway.process(layout)]
    let cluster = try RunningCluster(layout, .example(1), configuration)
    try await cluster.stopping {
      try await cluster.start()
      try await PythonApps(gateway: gateway, cluster: cluster).play()
    }
    // After a failure the folder stays, because the error names its logs.
    try FileManager.default.removeItem(atPath: folder)
  }
}

/// The apps of Emily's device.
private struct PythonApps {
  /// A page of the feed.
  struct Page: Decodable {
    struct Event: Decodable, Hashable {
      struct Data: Decodable, Hashable { var question: String? }
      var id: UInt64
      var type: String
      var time: String
      var data: Data
    }
    var events: [Event]
    var newest: UInt64
  }

  let gateway: PythonGateway
  let cluster: RunningCluster

  func play() async throws {
    try await cluster.wait("the gateway") { await isCurrent() }
    let url = try #require(gateway.url)
    try await examples(url)
    try await kills()
    // The gateway has chosen another port after its restarts.
    try await cluster.wait("the gateway") { await isCurrent() }
    let access = try await gateway.run(
      "check_access.py", try #require(gateway.url), gateway.token)
    #expect(access.hasSuffix("requests\n"), "\(access)")
    let checked = try await gateway.run("check_schema.py", try #require(gateway.url), gateway.token)
    // The event stream alone is left out.
    for part in ["Selected: 10/11", "Tested: 10", "✅ Examples", "✅ Coverage", "✅ Fuzzing"] {
      #expect(checked.contains(part), "\(checked)")
    }
  }

  private func examples(_ url: String) async throws {
    let python = try await gateway.run("landmarks.py", url, gateway.token, "ada")
    let lines = python.split(separator: "\n")
    #expect(lines.first == "sent" && lines.last?.hasSuffix(" approval") == true, "\(python)")
    let curl = try await gateway.run("landmarks.sh", url, gateway.token, "bob")
    #expect(curl.contains(#""outcome":"sent""#) && curl.contains(#""answer":"approval""#))
    for name in ["ada", "bob"] {
      try await cluster.wait("\(name) to be known") { try await isKnown(name) }
    }
    #expect(try await !isKnown("eve"))
  }

  /// Kills gateway and device between a response and its acknowledgement.
  private func kills() async throws {
    let position = try await page().newest
    _ = try await gateway.call("device.acknowledge(\(position))")
    let events = try await ask("cleo")
    #expect(events.allSatisfy { $0.id > position })
    for name in [PythonGateway.name, "child-agent-1", PythonGateway.name] {
      try await kill(name)
      try await cluster.wait("the gateway") { await isCurrent() }
      #expect(try await Array(page().events.prefix(events.count)) == events, "killed \(name)")
    }
    let more = try await ask("dan")
    let ids = more.map(\.id)
    #expect(Set(more.compactMap(\.data.question)).count == 2)
    #expect(ids == (0..<UInt64(ids.count)).map { position + 1 + $0 })

    let newest = try #require(ids.last)
    _ = try await gateway.call("device.acknowledge(\(newest))")
    try await kill(PythonGateway.name)
    try await cluster.wait("the gateway") { await isCurrent() }
    #expect(try await page().events.allSatisfy { $0.id > newest }, "handled events stay handled")
  }

  /// Asks about a person and waits for the response, without an acknowledgement.
  ///
  /// - Returns: The unacknowledged events.
  private func ask(_ name: String) async throws -> [Page.Event] {
    let id = UUID().uuidString
    let people = #"{"people": [{"handle": handle("\#(name)")}]}"#
    _ = try await gateway.call(#"device.ask(\#(people), id="\#(id)")"#)
    try await cluster.wait("the response about \(name)") {
      try await page().events.contains { $0.data.question == id }
    }
    return try await page().events
  }

  private func kill(_ name: String) async throws {
    let process = cluster.agent(name)
    let starts = process.starts
    process.signal(SIGKILL)
    try await cluster.wait("the restart of \(name)") { process.starts > starts }
  }

  private func page() async throws -> Page {
    try JSONDecoder().decode(Page.self, from: Data(try await gateway.call("device.feed()").utf8))
  }

  private func isKnown(_ name: String) async throws -> Bool {
    try await gateway.call(#"device.known([handle("\#(name)")])"#).contains(name)
  }

  private func isCurrent() async -> Bool {
    let status = try? await gateway.call(#"device.status()["isCurrent"]"#)
    return status?.hasPrefix("true") == true
  }
}
