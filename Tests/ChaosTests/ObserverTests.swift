import FamilyModel
import Foundation
import History
import Testing

@testable import chaos

/// What the observer makes of the lines of processes.
@Suite struct ObserverTests {
  private static let question = UUID()
  private static let landmarks = AppAddress(
    DeviceAddress(family: FamilyID(1), device: DeviceID(3)), AppID("example.landmarks"))

  /// The facts of a child's device and app that wrote these lines, and who saw them.
  private func look(agent: [String], app: [String] = []) async throws -> (History, Observer) {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let files = (
      agent: folder.appendingPathComponent("agent"), app: folder.appendingPathComponent("app")
    )
    func write(_ lines: [String], _ file: URL) throws {
      try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: file)
    }
    try write(agent, files.agent)
    try write(app, files.app)
    let recorder = Recorder()
    let observer = Observer(agents: [files.agent], apps: [(files.app, Self.landmarks)], recorder)
    await observer.look()
    return (recorder.all, observer)
  }

  private func step(_ name: String, _ facts: String) -> String {
    #"{"at":1,"step":"\#(name)","family":1,"device":3,"question":"\#(Self.question)"\#(facts)}"#
  }

  /// What is said of the history by a family's end in which no question is in the log.
  private func verdict(_ history: History) -> Verdict {
    var history = history
    let roster = Roster(
      persons: [Person(id: PersonID(1), role: .child, displayName: "Emily")],
      devices: [
        Device(
          id: DeviceID(3), person: PersonID(1), publicKey: Array(repeating: 1, count: 32))
      ])
    let event = Event(
      seq: 1, previous: 0, audience: .family, command: ID128(high: 0, low: 1), device: DeviceID(0),
      at: .now, body: .rosterChanged(roster))
    for fact in [.healed, .converged, .stored(FamilyID(1), event), .storeRead] as [Fact] {
      history.note(fact, at: .now)
    }
    return EverythingArrives().check(history)
  }

  @Test("A5: a question that the child cancelled is owed to nobody, whatever its app writes")
  func cancelled() async throws {
    let (history, _) = try await look(
      agent: [step("prompt", ""), step("asked", #","outcome":"cancelled""#)],
      app: ["asked: \(Self.question)"])
    #expect(history.entries.isEmpty, "\(history.entries)")
    #expect(verdict(history) == .ok)
  }

  @Test(
    "A3: a question that a device said is on its way, and kept nowhere, is found to be lost",
    arguments: ["sent", "answered-in-person"])
  func lost(_ outcome: String) async throws {
    // As of a device whose outbox is not durable: nothing tells that a command was issued.
    let (history, _) = try await look(agent: [step("asked", #","outcome":"\#(outcome)""#)])
    #expect(verdict(history).isViolated)
  }
  @Test("an event has arrived whose device was killed before it said so, and has it when it starts")
  func restored() async throws {
    let lines = [
      #"{"at":1,"step":"applied","family":1,"device":3,"audience":0,"seq":1,"command":"\#(UUID())"}"#,
      #"{"at":2,"step":"restored","family":1,"device":3,"audience":0,"seq":4,"seqs":[1,4]}"#,
    ]
    let (_, observer) = try await look(agent: lines)
    let other = DeviceAddress(family: FamilyID(2), device: DeviceID(3))
    for seq: UInt64 in [1, 4] {
      let found = await observer.devices(of: [Self.landmarks.device, other], with: seq)
      #expect(found == [Self.landmarks.device])
    }
    #expect(await observer.devices(of: [Self.landmarks.device], with: 3).isEmpty)
  }
}
