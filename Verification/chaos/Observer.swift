import AgentTraces
import FamilyModel
import Foundation
import History
import ProcessCluster
import Synchronization
import SystemClock

/// Reads the processes' output while they run and records facts.
///
/// The processes' clocks may be wrong, so facts have the order in which their lines are read. In
/// one poll, agents' files are read first but apps' lines are recorded first: an app handles a
/// response before its agent learns it.
actor Observer {
  static let interval = Duration.milliseconds(25)

  private let agents: [URL]
  private let apps: [(file: URL, app: AppAddress)]
  private let recorder: Recorder
  private var files = GrowingFiles()
  private var facts = TraceFacts(app: AppID(RunningCluster.app))
  /// The events that each device has applied, in any of its processes.
  private var applied: [DeviceAddress: Set<UInt64>] = [:]
  private(set) var unreadable = 0

  init(agents: [URL], apps: [(file: URL, app: AppAddress)], _ recorder: Recorder) {
    self.agents = agents
    self.apps = apps
    self.recorder = recorder
  }

  func run() async {
    while !Task.isCancelled {
      readNewLines()
      try? await Task.sleep(for: Self.interval)
    }
    readNewLines()
  }

  /// The devices among `all` that have applied the event, by an `applied` or a later `restored`
  /// line.
  func devices(of all: Set<DeviceAddress>, with seq: UInt64) -> Set<DeviceAddress> {
    all.filter { applied[$0]?.contains(seq) ?? false }
  }

  /// The devices that lost their state in the run.
  private(set) var resetDevices: Set<DeviceAddress> = []

  /// Records that the devices lost their state. Their apps' positions restart.
  func forget(_ devices: [DeviceAddress]) {
    // Record the output of the previous processes first.
    readNewLines()
    for device in devices {
      let app = AppAddress(device, AppID(RunningCluster.app))
      facts.forget(app)
      resetDevices.insert(device)
      recorder.record([.lostState(device), .appLostState(app)])
    }
  }

  /// The number of histories that the relay has shown.
  private(set) var histories = 1

  /// Records that the relay shows another history. Its sequence numbers name other events.
  func beginHistory() {
    readNewLines()
    applied = [:]
    histories += 1
  }

  /// Reads the output since the last call and records its facts.
  func readNewLines() {
    let lines = agents.flatMap { files.newLines(of: $0) }
    for (file, app) in apps { for line in files.newLines(of: file) { recordLine(line, of: app) } }
    for line in lines where line.first == UInt8(ascii: "{") { recordLine(line) }
  }

  private func recordLine(_ data: Data, of app: AppAddress) {
    let fields = String(decoding: data, as: UTF8.self).split(separator: " ").map(String.init)
    guard fields.count == 2, let id = UUID(uuidString: fields[0]) else { return }
    recorder.record(.handled(app, ID128(id), choice: fields[1]))
  }

  private func recordLine(_ data: Data) {
    guard let line = try? JSONDecoder().decode(TraceLine.self, from: data) else {
      unreadable += 1
      return
    }
    let new = facts.facts(of: line)
    for fact in new {
      switch fact {
      case .applied(let device, _, let seq, _): applied[device, default: []].insert(seq)
      case .restored(let device, _, let seqs, _): applied[device, default: []].formUnion(seqs)
      default: break
      }
    }
    recorder.record(new)
  }
}
