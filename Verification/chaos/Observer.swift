import FamilyModel
import Foundation
import History
import ProcessCluster
import Synchronization

/// Reads the processes' output while they run and records facts.
///
/// The processes' clocks may be wrong, so facts have the order in which their lines are read. In
/// one poll, agents' files are read first but apps' lines are recorded first: an app handles a
/// response before its agent learns it.
actor Observer {
  /// A line of an agent's trace.
  private struct Line: Decodable {
    var step: String
    var family: UInt64?
    var device: UInt32?
    var audience: UInt64?
    var seq: UInt64?
    var seqs: [UInt64]?
    var command: UUID?
    var about: UUID?
    var question: UUID?
    var outcome: String?
    var position: UInt64?
    var problem: UInt16?
  }
  static let interval = Duration.milliseconds(25)
  /// The outcomes of asking that promise a command.
  private static let sentOutcomes: Set = ["sent", "answered-in-person"]

  private let agents: [URL]
  private let apps: [(file: URL, app: AppAddress)]
  private let recorder: Recorder
  private var offsets: [URL: UInt64] = [:]
  private var partialLines: [URL: Data] = [:]
  private var entries: [AppAddress: [UInt64: QuestionID]] = [:]
  private var registered: Set<AppAddress> = []
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
      entries[app] = nil
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
    let lines = agents.flatMap { newLines($0) }
    for (file, app) in apps { for line in newLines(file) { recordLine(line, of: app) } }
    for line in lines where line.first == UInt8(ascii: "{") { recordLine(line) }
  }

  private func newLines(_ file: URL) -> [Data] {
    guard let handle = try? FileHandle(forReadingFrom: file) else { return [] }
    defer { try? handle.close() }
    try? handle.seek(toOffset: offsets[file] ?? 0)
    guard let data = try? handle.readToEnd(), !data.isEmpty else { return [] }
    offsets[file, default: 0] += UInt64(data.count)
    var lines = ((partialLines[file] ?? Data()) + data).split(
      separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    partialLines[file] = lines.removeLast()
    return lines.map { Data($0) }
  }

  private func recordLine(_ data: Data, of app: AppAddress) {
    let fields = String(decoding: data, as: UTF8.self).split(separator: " ").map(String.init)
    guard fields.count == 2, let id = UUID(uuidString: fields[0]).map(ID128.init) else { return }
    recorder.record(.handled(app, id, choice: fields[1]))
  }

  private func recordLine(_ data: Data) {
    guard let line = try? JSONDecoder().decode(Line.self, from: data) else {
      unreadable += 1
      return
    }
    guard let family = line.family, let number = line.device else { return }
    let device = DeviceAddress(family: FamilyID(family), device: DeviceID(number))
    let app = AppAddress(device, AppID(RunningCluster.app))
    let command = line.command.map(ID128.init)
    switch line.step {
    case "issued":
      let entry = OutboxEntry(position: line.position, question: line.about.map(ID128.init))
      if let command { recorder.record(.issued(device, command, entry)) }
    case "asked":
      // An app's output does not distinguish a sent question from a cancelled one; the device's
      // trace does.
      if let id = line.question.map(ID128.init), Self.sentOutcomes.contains(line.outcome ?? "") {
        recorder.record(.sent(app, id))
      }
    case "acknowledged":
      if let command, let seq = line.seq {
        recorder.record(.acknowledged(device, command, seq: seq))
      }
    case "refused-command":
      if let command, let problem = line.problem {
        recorder.record(.refused(device, command, Problem(code: problem)))
      }
    case "applied":
      guard let command, let seq = line.seq, let audience = line.audience else { return }
      applied[device, default: []].insert(seq)
      let eventAudience = Audience(rawValue: audience)
      recorder.record([
        .received(device, eventAudience, seq: seq),
        .applied(device, eventAudience, seq: seq, command),
      ])
    case "restored":
      guard let audience = line.audience, let seq = line.seq, let seqs = line.seqs else { return }
      applied[device, default: []].formUnion(seqs)
      recorder.record(.restored(device, Audience(rawValue: audience), seqs, cursor: seq))
    case "app-registered":
      if registered.insert(app).inserted { recorder.record(.registered(app)) }
    case "app-entry":
      if let position = line.position, let id = line.about.map(ID128.init) {
        entries[app, default: [:]][position] = id
      }
    case "app-settled":
      for position in (entries[app] ?? [:]).keys.sorted() where position <= line.position ?? 0 {
        recorder.record(.consumed(app, entries[app]!.removeValue(forKey: position)!))
      }
    default: break
    }
  }
}

extension ID128 {
  init(_ uuid: UUID) { self = withUnsafeBytes(of: uuid.uuid) { ID128(bytes: $0)! } }
}
