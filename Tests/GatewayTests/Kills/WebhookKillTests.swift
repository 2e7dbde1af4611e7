import Foundation
import ProcessCluster
import SQLiteStore
import Synchronization
import Testing

/// Webhooks of a real gateway beside a real device, with SIGKILL at each step of a delivery.
@Suite(.serialized, .timeLimit(.minutes(20))) struct WebhookKillTests {
  @Test(
    "S1: after SIGKILL of gateway or device at any step, each event arrives, in order, with its id")
  func kills() async throws {
    try await GatewayProcesses.with { processes in
      for step in KillStep.allCases { try await processes.play(step) }
      try await processes.outliveLaunch()
      for lie in processes.lies { try await processes.suffer(lie) }
      let breaches = try processes.faults()
      #expect(breaches == [])
      #expect(processes.elsewhere.seen.connections == 0, "a redirect was followed")

      // relayctl reads the queue of the running gateway.
      let listed = try await processes.cluster.relayctl(
        "webhooks", "--directory", processes.folder.path)
      #expect(listed.contains(processes.receiver.origin) && !listed.contains("Dead letters"))

      // The check finds a gateway that counts an event as sent before the reply.
      let newest = try processes.newest()
      try await processes.loseEvent()
      let faults = try processes.faults()
      #expect(faults.contains("event \(newest + 1) is lost"), "\(faults)")
    }
  }

  @Test("S1: the check of a receiver's history finds each kind of fault")
  func checkCanFail() {
    func faults(_ receipts: (Int, String, Bool)..., newest: Int) -> [String] {
      WebhookHistory(
        receipts.map { .init(number: $0.0, id: "evt_\($0.1)", body: "", isAccepted: $0.2) }
      ).faults(newest: newest)
    }
    #expect(faults((1, "1", false), (1, "1", true), (2, "2", true), newest: 2) == [])
    #expect(faults((1, "1", true), (1, "1", true), newest: 1) == [])
    #expect(faults((1, "1", true), newest: 2) == ["event 2 is lost"])
    #expect(faults((1, "1", false), newest: 1) == ["event 1 is lost"])
    #expect(faults(newest: 1) == ["event 1 is lost"])
    #expect(faults((1, "1", true), (1, "x", true), newest: 1) == ["event 1 changes"])
    #expect(faults((1, "1", true), (2, "1", true), newest: 2) == ["an id is reused"])
    #expect(
      faults((1, "1", false), (2, "2", true), (1, "1", true), newest: 2)
        == ["event 2 is sent before 1 is accepted", "event 1 follows 2"])
    #expect(
      faults((1, "1", true), (3, "3", true), (2, "2", true), newest: 3)
        == ["event 3 follows 1", "event 2 follows 3"])
  }
}

/// The step of a delivery at which a process is killed.
enum KillStep: String, CaseIterable {
  /// The gateway: the receiver has accepted its connection and has read nothing.
  case connected
  /// The gateway: the receiver has the event and does not reply.
  case posted
  /// The gateway: the receiver has sent a part of its reply.
  case replying
  /// The gateway: it has the reply and cannot store it.
  case replied
  /// The device: the guardian has decided, and the device has not received the decision.
  case decided
  /// The device: the gateway cannot store the response that it has received.
  case delivered
  /// The device: the receiver has the event and does not reply.
  case posting

  var victim: String {
    switch self {
    case .connected, .posted, .replying, .replied: GatewayProcesses.gateway
    case .decided, .delivered, .posting: GatewayProcesses.child
    }
  }
}

extension GatewayProcesses {
  /// Asks a question, kills the step's process at its step, and waits for the response's delivery.
  func play(_ step: KillStep) async throws {
    let process = cluster.agent(step.victim)
    var lock: StoreLock?
    switch step {
    case .connected: skipNextConnection()
    case .posted: next(.silence)
    case .replying: next(.raw("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab", closes: false))
    case .replied: next(.held(200))
    case .posting: next(.held(200))
    case .decided, .delivered: break
    }
    let before = receiver.seen
    let question = try await ask(about: step.rawValue)
    if step == .delivered { lock = try StoreLock(folder) }
    if step == .decided { process.signal(SIGSTOP) }
    try decide(step.rawValue)
    switch step {
    case .connected:
      try await wait(step) { receiver.seen.connections > before.connections }
    case .posted, .replying, .posting:
      try await wait(step) { receiver.ids.count > before.requests.count }
    case .replied:
      try await wait(step) { receiver.ids.count > before.requests.count }
      lock = try StoreLock(folder)
      let open = receiver.seen.open
      receiver.release()
      // The gateway closes the connection after the reply.
      try await wait(step) { receiver.seen.open < open }
    case .decided: try await wait(step) { state(of: question) == "approve" }
    case .delivered:
      try await wait(step) { log(Self.gateway).contains("cannot write the log") }
    }
    let starts = process.starts
    process.signal(SIGKILL)
    if step == .posting { receiver.release() }
    try await wait(step) { process.starts > starts }
    lock?.end()
    try await delivered(question)
  }

  /// Kills the device, which launches the app's program before the gateway attaches again. The
  /// gateway receives responses also after the program's end.
  func outliveLaunch() async throws {
    let (device, gateway) = (cluster.agent(Self.child), cluster.agent(Self.gateway))
    let question = try await ask(about: "launch")
    gateway.signal(SIGSTOP)
    try Data().write(to: hold)
    let (starts, launches, ends) = (device.starts, traces("launched"), traces("launch-ended"))
    device.signal(SIGKILL)
    try await cluster.wait("the device's restart") { device.starts > starts }
    try decide("launch")
    try await cluster.wait("a launch") { traces("launched") > launches }
    let attachments = traces("app-attached")
    gateway.signal(SIGCONT)
    try await cluster.wait("the gateway's attachment") { traces("app-attached") > attachments }
    try await delivered(question)
    try FileManager.default.removeItem(at: hold)
    try await cluster.wait("the program's end") { traces("launch-ended") > ends }
    let next = try await ask(about: "next")
    try decide("next")
    try await delivered(next)
  }

  /// Asks a question while the receiver misbehaves, and kills the gateway after the failure.
  func suffer(_ lie: WebhookReceiver.Reply) async throws {
    next(lie)
    let gateway = cluster.agent(Self.gateway)
    let name = UUID().uuidString
    let question = try await ask(about: name)
    try decide(name)
    guard !lie.accepts else { return try await delivered(question) }
    try await cluster.wait("a failure") {
      try attempt()?.failures == 1 || isDelivered(question)
    }
    gateway.holdRestart()
    gateway.signal(SIGKILL)
    try await cluster.wait("the gateway's end") { gateway.isDown }
    // A busy machine may have sent the event again before the end.
    if let failed = try attempt(), failed.reason != nil {
      #expect(failed.failures == 1 && failed.due > failed.event.time)
    }
    try hurry()
    gateway.releaseRestart()
    try await delivered(question)
  }

  /// Plays a gateway that stores an event as sent before the reply, and is killed.
  func loseEvent() async throws {
    next(.silence)
    let count = receiver.ids.count
    let gateway = cluster.agent(Self.gateway)
    let question = try await ask(about: "lost")
    try decide("lost")
    try await cluster.wait("the post") { receiver.ids.count > count }
    try store.recordDelivered(try #require(try attempt()))
    let starts = gateway.starts
    gateway.signal(SIGKILL)
    try await cluster.wait("the gateway's restart") { gateway.starts > starts }
    try await delivered(question)
  }

  private func wait(_ step: KillStep, _ condition: () async throws -> Bool) async throws {
    try await cluster.wait("the step \(step.rawValue)", condition)
  }
}
