import FamilyModel
import Foundation
import History
import ProcessCluster
import Synchronization

/// Reads what all processes write, while they write it, and makes facts of it.
///
/// Their own clocks may be wrong, so the order is that in which lines are seen. What apps wrote comes before
/// what agents wrote in the same look, and is read after it: an agent is told after the app has handled.
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
  /// The outcomes of asking after which a command is on its way.
  private static let promises: Set = ["sent", "answered-in-person"]

  private let agents: [URL]
  private let apps: [(file: URL, app: AppAddress)]
  private let recorder: Recorder
  private var offsets: [URL: UInt64] = [:]
  private var rests: [URL: Data] = [:]
  private var entries: [AppAddress: [UInt64: QuestionID]] = [:]
  private var registered: Set<AppAddress> = []
  /// The events of its family that each device has applied, in any of its lives.
  private var applied: [DeviceAddress: Set<UInt64>] = [:]
  private(set) var unreadable = 0

  init(agents: [URL], apps: [(file: URL, app: AppAddress)], _ recorder: Recorder) {
    self.agents = agents
    self.apps = apps
    self.recorder = recorder
  }

  func run() async {
    while !Task.isCancelled {
      look()
      try? await Task.sleep(for: Self.interval)
    }
    look()
  }

  /// Who of them has applied the event of their family, said so or was killed before that.
  func devices(of all: Set<DeviceAddress>, with seq: UInt64) -> Set<DeviceAddress> {
    all.filter { applied[$0]?.contains(seq) ?? false }
  }

  /// Devices that lost their state in the run.
  private(set) var anew: Set<DeviceAddress> = []

  /// The device lost its state; its apps' positions begin again.
  func forget(_ devices: [DeviceAddress]) {
    // What its last life wrote comes before.
    look()
    for device in devices {
      let app = AppAddress(device, AppID(RunningCluster.app))
      entries[app] = nil
      anew.insert(device)
      recorder.note([.forgot(device), .appForgot(app)])
    }
  }

  /// Reads what was written since the last look.
  func look() {
    let lines = agents.flatMap { newLines($0) }
    for (file, app) in apps { for line in newLines(file) { tell(line, of: app) } }
    for line in lines where line.first == UInt8(ascii: "{") { tell(line) }
  }

  private func newLines(_ file: URL) -> [Data] {
    guard let handle = try? FileHandle(forReadingFrom: file) else { return [] }
    defer { try? handle.close() }
    try? handle.seek(toOffset: offsets[file] ?? 0)
    guard let data = try? handle.readToEnd(), !data.isEmpty else { return [] }
    offsets[file, default: 0] += UInt64(data.count)
    var lines = ((rests[file] ?? Data()) + data).split(
      separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    rests[file] = lines.removeLast()
    return lines.map { Data($0) }
  }

  private func tell(_ data: Data, of app: AppAddress) {
    let words = String(decoding: data, as: UTF8.self).split(separator: " ").map(String.init)
    guard words.count >= 2, let id = UUID(uuidString: words[1]).map(ID128.init) else { return }
    if words[0] == "handled:", words.count == 3 {
      recorder.note(.handled(app, id, choice: words[2]))
    }
  }

  private func tell(_ data: Data) {
    guard let line = try? JSONDecoder().decode(Line.self, from: data) else {
      unreadable += 1
      return
    }
    guard let family = line.family, let number = line.device else { return }
    let device = DeviceAddress(family: FamilyID(family), device: DeviceID(number))
    let app = AppAddress(device, AppID(RunningCluster.app))
    let command = line.command.map(ID128.init)
    switch line.step {
    case "issued": if let command { recorder.note(.issued(device, command)) }
    case "asked":
      // An app cannot tell a question that goes out from one that was cancelled: its device says which it was told.
      if let id = line.question.map(ID128.init), Self.promises.contains(line.outcome ?? "") {
        recorder.note(.sent(app, id))
      }
    case "acknowledged":
      if let command, let seq = line.seq {
        recorder.note(.acknowledged(device, command, seq: seq))
      }
    case "refused-command":
      if let command, let problem = line.problem {
        recorder.note(.refused(device, command, Problem(code: problem)))
      }
    case "applied":
      guard let command, let seq = line.seq, let audience = line.audience else { return }
      applied[device, default: []].insert(seq)
      let place = Audience(rawValue: audience)
      recorder.note([
        .received(device, place, seq: seq), .applied(device, place, seq: seq, command),
      ])
    case "restored":
      guard let audience = line.audience, let seq = line.seq, let seqs = line.seqs else { return }
      applied[device, default: []].formUnion(seqs)
      recorder.note(.restored(device, Audience(rawValue: audience), seqs, cursor: seq))
    case "app-registered":
      if registered.insert(app).inserted { recorder.note(.registered(app)) }
    case "app-entry":
      if let position = line.position, let id = line.about.map(ID128.init) {
        entries[app, default: [:]][position] = id
      }
    case "app-settled":
      for position in (entries[app] ?? [:]).keys.sorted() where position <= line.position ?? 0 {
        recorder.note(.settled(app, entries[app]!.removeValue(forKey: position)!))
      }
    default: break
    }
  }
}

extension ID128 {
  init(_ uuid: UUID) { self = withUnsafeBytes(of: uuid.uuid) { ID128(bytes: $0)! } }
}
