import FamilyModel
import Foundation
import History
import SystemClock
import Testing

@testable import chaos

/// Tests the facts that the observer derives from the output of processes.
@Suite struct ObserverTests {
  private static let question = UUID()
  private static let landmarks = AppAddress(
    DeviceAddress(family: FamilyID(1), device: DeviceID(3)), AppID("example.landmarks"))

  /// Lets an observer read the output of a child's device and app.
  private func readNewLines(agent: [String], app: [String] = []) async throws -> (History, Observer)
  {
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
    await observer.readNewLines()
    return (recorder.all, observer)
  }

  private func step(_ name: String, _ facts: String) -> String {
    #"{"at":1,"step":"\#(name)","family":1,"device":3,"question":"\#(Self.question)"\#(facts)}"#
  }

  /// The liveness verdict for the history if the family's log ends without a question.
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
      history.record(fact, at: .now)
    }
    return EverythingArrives().check(history)
  }

  @Test("records a delivery, in the app's own words, before its acknowledgement")
  func deliveries() async throws {
    let (history, _) = try await readNewLines(
      agent: [
        step("app-entry", #","position":7,"about":"\#(Self.question)""#),
        step("app-settled", #","position":7"#),
      ], app: ["\(Self.question) approve"])
    let id = ID128(Self.question)
    #expect(
      history.entries.map(\.fact) == [
        .handled(Self.landmarks, id, choice: "approve"), .consumed(Self.landmarks, id),
      ])
    #expect(HandledOnce().check(history) == .ok)
  }

  @Test("A5: expects no delivery of a question that the child cancelled")
  func cancelled() async throws {
    let (history, _) = try await readNewLines(
      agent: [step("prompt", ""), step("asked", #","outcome":"cancelled""#)],
      app: [])
    #expect(history.entries.isEmpty, "\(history.entries)")
    #expect(verdict(history) == .ok)
  }

  @Test(
    "A3: finds a lost question that its device reported as sent",
    arguments: ["sent", "answered-in-person"])
  func lost(_ outcome: String) async throws {
    // A device without a durable outbox issues no command.
    let (history, _) = try await readNewLines(agent: [step("asked", #","outcome":"\#(outcome)""#)])
    #expect(verdict(history).isViolated)
  }

  @Test("counts an event as applied that a killed device reports only after its restart")
  func restored() async throws {
    let lines = [
      #"{"at":1,"step":"applied","family":1,"device":3,"audience":0,"seq":1,"command":"\#(UUID())"}"#,
      #"{"at":2,"step":"restored","family":1,"device":3,"audience":0,"seq":4,"seqs":[1,4]}"#,
    ]
    let (_, observer) = try await readNewLines(agent: lines)
    let other = DeviceAddress(family: FamilyID(2), device: DeviceID(3))
    for seq: UInt64 in [1, 4] {
      let found = await observer.devices(of: [Self.landmarks.device, other], with: seq)
      #expect(found == [Self.landmarks.device])
    }
    #expect(await observer.devices(of: [Self.landmarks.device], with: 3).isEmpty)
  }
}
