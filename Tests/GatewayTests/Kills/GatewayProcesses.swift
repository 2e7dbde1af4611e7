import AsyncHTTPClient
import FamilyModel
import Foundation
import NIOCore
import ProcessCluster
import SQLiteStore
import Synchronization
import Testing

/// A cluster with the gateway of Emily's app as a process, and the receiver of its webhook.
final class GatewayProcesses: Sendable {
  static let gateway = "gateway"
  static let child = "child-agent-1"
  private static let guardian = "parent-agent-1-rosa"
  private static let app = RunningCluster.app

  /// The receiver's behaviour towards the next event; afterwards it accepts all.
  private struct Plan {
    var reply: WebhookReceiver.Reply?
    var skipsConnection = false
  }

  let cluster: RunningCluster
  let receiver: WebhookReceiver
  /// The target of the receiver's redirect.
  let elsewhere: WebhookReceiver
  let store: SQLiteGatewayStore
  private let plan: PlanBox
  private let client: HTTPClient

  private final class PlanBox: Sendable {
    let plan = Mutex(Plan())
  }

  /// Runs the body beside the processes, and stops them.
  static func with(_ body: @escaping @Sendable (GatewayProcesses) async throws -> Void)
    async throws
  {
    let root = "/tmp/pr-\(UUID().uuidString.prefix(8))"
    let processes = try await GatewayProcesses(Layout(root))
    let result = await Task {
      try await processes.cluster.stopping {
        try await processes.cluster.start()
        try await processes.cluster.wait("the gateway") { await processes.isCurrent() }
        try await body(processes)
      }
    }.result
    processes.store.close()
    try await processes.client.shutdown()
    try result.get()
    // After a failure the folder stays, because the error names its logs.
    try FileManager.default.removeItem(atPath: root)
  }

  private init(_ layout: Layout) async throws {
    let box = PlanBox()
    plan = box
    // A port of a killed gateway fails at once.
    var connections = HTTPClient.Configuration()
    connections.connectionPool.retryConnectionEstablishment = false
    client = HTTPClient(configuration: connections)
    elsewhere = try await WebhookReceiver { _ in .status(200) }
    receiver = try await WebhookReceiver(
      reads: {
        box.plan.withLock { plan in
          defer { plan.skipsConnection = false }
          return !plan.skipsConnection
        }
      },
      script: { _ in box.plan.withLock { $0.reply.take() } ?? .status(200) })
    let folder = Self.folder(layout)
    let manifest = layout.root.appendingPathComponent("manifest.json")
    var configuration = RunningCluster.Configuration()
    // The device launches the app while the gateway is down. This one leaves the store alone.
    let program = layout.root.appendingPathComponent("app.sh")
    configuration.apps[0].program = program.path
    configuration.extraProcesses = [
      .init(
        name: Self.gateway, program: Layout.program("gateway"),
        arguments: [
          "--directory", folder.path, "--port", "0", "--allow", receiver.origin,
          "--app", layout.appCredential(family: 1, device: 3).path,
          "--manifest", "\(Self.app)=\(manifest.path)",
        ])
    ]
    try layout.prepare()
    try Data("#!/bin/sh\nwhile test -e hold; do sleep 0.02; done\n".utf8).write(to: program)
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: program.path)
    // Each answer waits for a file with the handle's name.
    try JSONSerialization.data(withJSONObject: ["rules": [] as [String]])
      .write(to: Self.script(layout))
    cluster = try RunningCluster(layout, .example(1), configuration)
    try JSONSerialization.data(withJSONObject: ["webhook": receiver.origin + "/hook"])
      .write(to: manifest)
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    store = try SQLiteGatewayStore(path: folder.appendingPathComponent("gateway.sqlite").path)
  }

  private static func folder(_ layout: Layout) -> URL {
    layout.root.appendingPathComponent(gateway)
  }
  private static func script(_ layout: Layout) -> URL {
    layout.scripts.appendingPathComponent("\(guardian).json")
  }
  var folder: URL { Self.folder(cluster.layout) }

  /// The file for which each launched program of the app stays.
  var hold: URL {
    cluster.layout.appFolder(family: 1, device: 3).appendingPathComponent("hold")
  }

  /// The number of the device's traces of this step.
  func traces(_ step: String) -> Int {
    log(Self.child).split(separator: "\n").count { $0.contains("\"step\":\"\(step)\"") }
  }

  func log(_ name: String) -> String {
    (try? String(contentsOf: cluster.layout.log(name), encoding: .utf8)) ?? ""
  }

  // MARK: The receiver

  /// The replies that are no delivery, or only look like one.
  var lies: [WebhookReceiver.Reply] {
    [
      .status(500), .status(302, [("Location", elsewhere.origin)]), .close, .twice(200, 500),
      .twice(500, 200), .raw("HTTP/1.1 2OO OK\r\ncontent-length: 0\r\n\r\n", closes: true),
      .raw("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab", closes: true),
    ]
  }

  /// Sets the reply to the next event.
  func next(_ reply: WebhookReceiver.Reply) { plan.plan.withLock { $0.reply = reply } }

  /// Leaves the next connection unread.
  func skipNextConnection() { plan.plan.withLock { $0.skipsConnection = true } }

  // MARK: The family

  /// Asks about a person, whose name is the handle too.
  ///
  /// - Returns: The question, which the child has sent.
  func ask(about name: String) async throws -> String {
    let rules = [["handle": name, "choose": "approve", "after": "gate-\(name)"]]
    try JSONSerialization.data(withJSONObject: ["rules": rules])
      .write(to: Self.script(cluster.layout), options: .atomic)
    let id = UUID().uuidString
    let body = """
      {"id":"\(id)","about":{"people":[{"handle":{"kind":"custom","value":"\(name)"}}]}}
      """
    let reply = try #require(try await call("questions", body))
    #expect(reply.contains(#""outcome":"sent""#), "\(reply)")
    try await cluster.wait("the question about \(name)") { state(of: id) != nil }
    return id
  }

  /// Lets the guardian approve the question about the name.
  func decide(_ name: String) throws {
    try Data().write(to: cluster.layout.scripts.appendingPathComponent("gate-\(name)"))
  }

  /// The question's state on the guardian's device; `nil` before its arrival.
  func state(of question: String) -> String? {
    Status.read(cluster.layout, Self.guardian)?.devices.first?.questions
      .first { $0.id == question }?.state
  }

  // MARK: The gateway

  /// Posts a body; without one, gets the path.
  ///
  /// - Returns: The reply's body; `nil` for a status other than 200, or before the gateway listens.
  private func call(_ path: String, _ body: String? = nil) async throws -> String? {
    let lines = log(Self.gateway).split(separator: "\n")
    guard let url = lines.last(where: { $0.hasPrefix("ready http://") }) else { return nil }
    let token = try String(
      contentsOf: folder.appendingPathComponent("token-\(Self.app)"), encoding: .utf8)
    var request = HTTPClientRequest(url: "\(url.dropFirst("ready ".count))/v1/\(path)")
    request.headers.add(
      name: "authorization", value: "Bearer \(token.trimmingCharacters(in: .newlines))")
    if let body {
      request.method = .POST
      request.headers.add(name: "content-type", value: "application/json")
      request.body = .bytes(ByteBuffer(string: body))
    }
    let reply = try await client.execute(request, timeout: .seconds(120))
    let text = String(buffer: try await reply.body.collect(upTo: 1 << 20))
    return reply.status == .ok ? text : nil
  }

  private func isCurrent() async -> Bool {
    guard let status = try? await call("status") else { return false }
    return status.contains(#""isCurrent":true"#)
  }

  /// The next delivery, from the gateway's store.
  func attempt() throws -> SQLiteGatewayStore.Delivery? {
    try store.nextDelivery(of: Self.app)
  }

  /// Makes the next attempt due now, as after its delay.
  func hurry() throws {
    guard var next = try attempt(), let reason = next.reason else { return }
    next.due = Instant(milliseconds: 0)
    try store.recordWait(next, reason: reason)
  }

  func newest() throws -> Int { Int(try store.newest(of: Self.app)) }

  /// Whether the log has the question's response and its handle, and the queue is empty.
  func isDelivered(_ question: String) throws -> Bool {
    let responses = try responses()
    let known = try store.events(of: Self.app, after: 0, limit: 1_000)
      .filter { $0.type == "handles.known" }
    return try responses.contains(question) && known.count == responses.count
      && store.queued(of: Self.app) == 0
  }

  /// Waits for the delivery of the question's response, which has one event.
  func delivered(_ question: String) async throws {
    try await cluster.wait("the delivery of \(question)") { try isDelivered(question) }
    try await cluster.wait("the gateway") { await isCurrent() }
    let responses = try responses()
    #expect(Set(responses).count == responses.count, "a response has two events")
  }

  /// The questions of all responses in the log.
  private func responses() throws -> [String] {
    try store.events(of: Self.app, after: 0, limit: 1_000).filter { $0.type == "response" }
      .compactMap { event in
        let data = try JSONSerialization.jsonObject(with: Data(event.data.utf8))
        return (data as? [String: Any])?["question"] as? String
      }
  }

  /// The breaches in the receiver's history.
  func faults() throws -> [String] {
    WebhookHistory(receiver.seen.requests).faults(newest: try newest())
  }
}
