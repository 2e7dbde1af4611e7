import AgentTraces
import FamilyModel
import FaultNetwork
import Foundation
import GatewayModel
import History
import Logging
package import ProcessCluster
import ServiceLifecycle
import SystemClock
import ZeroMQ

/// Shows a cluster's first family on a page: the devices, the relay between them, and the processes.
///
/// The console reads what the processes print and show, and does what a person would do: it answers
/// prompts, sends signals and cuts connections. No part of the page is made up here.
package actor ClusterConsole: Service {
  /// The languages of the page.
  static let languages: Set = ["en", "fr", "es", "pt-BR", "ja", "zh-Hans"]
  /// The time between two looks at the processes while a page is open, and without one.
  static let interval = Duration.milliseconds(40)
  static let idleInterval = Duration.milliseconds(500)
  /// The time between two looks at the states of processes, in milliseconds.
  static let processInterval: Int64 = 100
  /// The time between two judgements of the history.
  static let judgement: Int64 = 1_000
  /// The time after which an acknowledged command without an event counts as lost.
  static let lossPatience: Int64 = 10_000

  let cluster: RunningCluster
  let network: ConsoleNetwork
  let parts = Parts()
  var family: ConsoleFamily?
  var table = ProcessTable()
  var held: Set<String> = []
  var index = TraceIndex(family: 1)
  var windows: [String: AppWindow] = [:]
  var windowDocuments: [String: JSONValue] = [:]
  /// When the app's window asked and handled each question, on the machine's clock.
  var asked: [UUID: UInt64] = [:]
  var handled: [UUID: UInt64] = [:]
  /// The newest screens by device and language, and the process that showed them.
  var screens: [String: [String: JSONValue]] = [:]
  var screenPids: [String: pid_t] = [:]
  var screenClient: ScreenClient?
  private var files = GrowingFiles()
  private var facts = TraceFacts(app: AppID(RunningCluster.app))
  private var history = History()
  private var hasNewFacts = true
  private var judged: Int64 = 0
  private var updated: Int64 = 0
  private let progress: @Sendable (String) -> Void

  /// Creates the console of a cluster that has not started.
  ///
  /// - Parameter progress: Called with lines for a person.
  package init(
    _ cluster: RunningCluster, _ network: ConsoleNetwork,
    progress: @escaping @Sendable (String) -> Void
  ) {
    self.cluster = cluster
    self.network = network
    self.progress = progress
  }

  /// Starts the cluster, shows it until a graceful shutdown, and stops it.
  package func run() async throws {
    try await cancelWhenGracefulShutdown {
      do {
        try await self.cluster.start(self.progress)
        try await self.show()
      } catch is CancellationError {}
    }
    await parts.endAll()
    for window in windows.values { window.close() }
    await screenClient?.stop()
    await cluster.stop()
    await network.proxy.stop()
  }

  private func show() async throws {
    let family = try ConsoleFamily(cluster.layout)
    self.family = family
    index = TraceIndex(family: family.number)
    try await publish(
      .init(event: "cluster"), ClusterDocument(family: family, started: Self.now))
    let (stream, screens) = AsyncStream.makeStream(of: ScreenEvent.self)
    let client = try ScreenClient(cluster.layout) { screens.yield(.screens($0, $1)) }
    screenClient = client
    await client.start()
    for agent in family.agents {
      try await client.watch(.init(process: agent, language: "en"))
    }
    for device in family.appDevices { makeWindow(of: device) { screens.yield($0) } }
    progress("ready: \(cluster.agents.count + 1) processes; Ctrl-C stops them")
    let reader = Task { for await event in stream { await receive(event) } }
    defer { reader.cancel() }
    var beat = ContinuousClock.now
    while !Task.isCancelled {
      await look()
      let isWatched = await parts.readerCount > 0
      if ContinuousClock.now - beat > .seconds(10) {
        beat = .now
        await parts.beat()
      }
      try await Task.sleep(for: isWatched ? Self.interval : Self.idleInterval)
    }
  }

  static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }

  func publish(_ name: Parts.Name, _ document: some Encodable) async throws {
    await parts.set(name, try JSONDocument.encode(document), at: Self.now)
  }

  // MARK: Pages

  /// Shows the devices in a page's language.
  func opened(_ language: String) async {
    guard let family, let screenClient else { return }
    for agent in family.agents {
      try? await screenClient.watch(.init(process: agent, language: language))
    }
    await publishDevices()
  }

  /// The older rows of the family's log.
  func log(before: UInt64) -> [FamilyLog.Row] { logReader.log(before: before).events }

  // MARK: Looking

  /// Reads what is new, and publishes the parts that changed.
  private func look() async {
    guard let family else { return }
    let now = Self.now
    let isNew = readTraces(family)
    let isDue = now - updated >= Self.processInterval
    if isDue { updated = now }
    let isChanged = isDue && updateProcesses(family)
    if isNew || isChanged {
      for row in table.rows {
        guard let fault = row.fault else { continue }
        table.setSentAgain(index.sentAgain(after: fault, of: row.name), of: row.name)
      }
      try? await publish(.init(event: "processes"), table.rows)
      try? await publish(.init(event: "path"), pathFinder(family).path())
      try? await publish(.init(event: "log"), logReader.log())
      try? await publish(
        .init(event: "timeline"),
        TimelineDocument(index, lanes: lanes(family), faults: table.faults, now: now))
      hasNewFacts = true
    }
    if isChanged {
      await publishDevices()
      await publishApps()
    }
    if hasNewFacts, now - judged >= Self.judgement {
      judged = now
      hasNewFacts = false
      try? await publish(.init(event: "verdict"), verdicts(now))
    }
  }

  /// An app handles a response before its agent learns it, so its lines come first.
  private func readTraces(_ family: ConsoleFamily) -> Bool {
    let lines = (["relay"] + family.agents).map { name in
      (name, files.newLines(of: cluster.layout.log(name)))
    }
    let handled = family.appDevices.flatMap { device -> [Fact] in
      appFacts(of: device)
    }
    for fact in handled { record(fact) }
    var isNew = !handled.isEmpty
    for (name, lines) in lines {
      for data in lines where data.first == UInt8(ascii: "{") {
        guard let line = try? JSONDecoder().decode(TraceLine.self, from: data) else { continue }
        isNew = true
        index.add(line, of: name)
        guard name != "relay", line.family == family.number else { continue }
        for fact in facts.facts(of: line) { record(fact) }
      }
    }
    return isNew
  }

  private func record(_ fact: Fact) {
    guard history.entries.count <= Verdicts.facts else { return }
    history.record(fact, at: Instant(milliseconds: Self.now))
  }

  /// The responses that an app's own record has.
  private func appFacts(of device: ConsoleFamily.Device) -> [Fact] {
    guard let address = device.address else { return [] }
    let file = cluster.layout.appFolder(
      family: address.family.rawValue, device: address.device.rawValue
    ).appendingPathComponent("landmarks.deliveries")
    return files.newLines(of: file).compactMap { line in
      let words = String(decoding: line, as: UTF8.self).split(separator: " ").map(String.init)
      guard words.count == 2, let id = UUID(uuidString: words[0]) else { return nil }
      return .handled(
        AppAddress(address, AppID(RunningCluster.app)), ID128(id), choice: words[1])
    }
  }

  private func verdicts(_ now: Int64) -> Verdicts {
    let outboxes = screens.values.compactMap { screens -> Int? in
      guard case .object(let screen) = screens["en"], case .number(let count) = screen["outbox"]
      else { return nil }
      return Int(count)
    }
    return Verdicts(
      history, conflicts: index.conflicts.count,
      lost: index.lost(now: now, after: Self.lossPatience), waiting: outboxes.reduce(0, +),
      sentAgain: table.rows.compactMap(\.fault?.sentAgain).reduce(0, +))
  }

  // MARK: Documents

  private func pathFinder(_ family: ConsoleFamily) -> PathFinder {
    let names = family.agents.compactMap { agent in family.owner(of: agent).map { (agent, $0) } }
    return PathFinder(
      index: index, child: family.childAgent, guardians: family.guardians,
      names: Dictionary(uniqueKeysWithValues: names), asked: asked, handled: handled,
      faults: table.faults,
      now: (MonotonicInstant.now.nanoseconds / 1_000, Self.now))
  }

  private func lanes(_ family: ConsoleFamily) -> [(process: String, name: String)] {
    [("app-agent", "Landmarks"), (family.childAgent, family.owner(of: family.childAgent) ?? "")]
      + [("relay", "Relay")] + family.guardians.map { ($0, family.owner(of: $0) ?? $0) }
  }

  var logReader: LogReader {
    let devices = family?.devices ?? []
    var reader = LogReader(
      index: index,
      devices: devices.map {
        .init(
          key: $0.key, person: $0.person, name: $0.name,
          isGuardian: $0.process.hasPrefix("parent"), isChild: $0.role == "child")
      }, positions: [:])
    for (key, languages) in screens {
      guard case .object(let screen) = languages["en"] else { continue }
      guard case .array(let positions) = screen["positions"] else { continue }
      for case .object(let position) in positions {
        guard case .number(let audience) = position["audience"],
          case .number(let seq) = position["seq"]
        else { continue }
        reader.positions[key, default: [:]][UInt64(audience)] = UInt64(seq)
      }
    }
    return reader
  }
}

/// The document of the part `cluster`.
struct ClusterDocument: Encodable {
  var family: UInt64
  var devices: [ConsoleFamily.Device]
  var started: Int64

  init(family: ConsoleFamily, started: Int64) {
    self.family = family.number
    devices = family.devices
    self.started = started
  }
}

extension ConsoleFamily.Device {
  var address: DeviceAddress? {
    let numbers = key.split(separator: "-").compactMap { UInt64($0) }
    guard numbers.count == 2 else { return nil }
    return DeviceAddress(family: FamilyID(numbers[0]), device: DeviceID(UInt32(numbers[1])))
  }
}
