import FamilyModel
import Foundation
import History
import LoadFamilies
import ProcessCluster
import Testing

@testable import chaos

@Suite struct CrowdTests {
  private let device = DeviceAddress(family: FamilyID(1_001), device: DeviceID(3))
  private var app: AppAddress { AppAddress(device, AppID(RunningCluster.app)) }
  private let id = ID128(high: .max, low: 7)
  private let other = ID128(high: 1, low: 2)

  /// One fact of each kind that a worker records.
  private var facts: [Fact] {
    [
      .issued(device, id, OutboxEntry(position: 300, question: other)),
      .issued(device, id, OutboxEntry(position: 1, question: nil)),
      .acknowledged(device, id, seq: 1 << 40), .refused(device, id, .alreadyAnswered),
      .received(device, .family, seq: 3),
      .applied(device, .conversation(PersonID(2)), seq: 4, id),
      .decided(device, other, choice: "approve"),
      .restored(device, .family, [1, 2, 9, 1_000], cursor: 1_000),
      .restored(device, .family, [], cursor: 0), .registered(app), .sent(app, other),
      .handled(app, other, choice: "Später"), .consumed(app, other), .appLostState(app),
    ]
  }

  @Test("a journal gives back each fact, in order, after a second process has written on")
  func journal() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).facts")
    defer { try? FileManager.default.removeItem(at: file) }
    try FactJournal(file).record(facts)
    // The next life of a worker continues the file.
    let stranger = DeviceAddress(family: FamilyID(2_000), device: DeviceID(1))
    let second = try FactJournal(file)
    second.record(.received(stranger, .family, seq: 1))
    second.record(.received(device, .family, seq: 5))
    let read = try RecordedFacts([file])
    #expect(read.count == facts.count + 2)
    let own = read.facts(of: device.family)
    #expect(own.map(\.fact) == facts + [.received(device, .family, seq: 5)])
    #expect(own.map(\.at) == own.map(\.at).sorted())
    #expect(read.facts(of: stranger.family).count == 1)
  }

  @Test("a journal that ends within a record gives back the records before it", arguments: [1, 5])
  func tornJournal(missing: Int) {
    var bytes: [UInt8] = []
    for fact in facts { FactCoding.append(fact, at: 5, to: &bytes) }
    bytes.removeLast(missing)
    bytes.withUnsafeBytes { bytes in
      var (position, count) = (0, 0)
      while let (_, end) = FactCoding.peek(bytes, at: position) {
        #expect(FactCoding.read(bytes, at: position)?.fact == facts[count])
        position = end
        count += 1
      }
      #expect(count == facts.count - 1)
    }
  }

  @Test("each device has one worker, and a child dies without its guardians")
  func workers() {
    let plan = CrowdPlan(seed: 1, families: 100, workers: 2)
    for family in plan.range {
      let workers = plan.factory.devices.map {
        plan.worker(of: DeviceAddress(family: FamilyID(family), device: $0))
      }
      #expect(workers[0] == workers[2])
      #expect(workers[0] != workers[1])
    }
    #expect(Set(plan.names.indices.map(plan.sample)).count == 2)
  }

  @Test("a run whose shards or copies never worked is a finding")
  func activity() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    let layout = Layout(folder.path)
    try layout.prepare()
    try Data("stopping counters=RelayCounters(workerWakeups: 0, commits: 9)\n".utf8)
      .write(to: layout.log("relay"))
    #expect(try RelayActivity.findings(inLogOf: layout, copies: 1, commands: 20_000).count == 1)
    #expect(try RelayActivity.findings(inLogOf: layout, copies: 0, commands: 20_000).count == 2)
    #expect(try RelayActivity.findings(inLogOf: layout, copies: 0, commands: 19_999) == [])
    #expect(RelayActivity.idleness(commands: 0, rate: 60, seconds: 24).count == 1)
    #expect(RelayActivity.idleness(commands: 100, rate: 60, seconds: 24) == [])
    try Data("workerWakeups: 0\nworkerWakeups: 12\n".utf8).write(to: layout.log("relay"))
    #expect(try RelayActivity.findings(inLogOf: layout, copies: 1, commands: 20_000) == [])
  }

  @Test("commands count in the second of their acknowledgement")
  func rates() {
    var rates = CrowdRates()
    for second in [-1.0, 0.2, 0.9, 2.5, 7] { rates.count(at: second) }
    #expect(rates.seconds == [2, 0, 1, 0, 0, 0, 0, 1])
    #expect(rates.total == 5)
    #expect(rates.mean(first: 4) == 0.75)
    #expect(rates.quantile(0.5, first: 3) == 1)
    #expect(rates.slowness(below: 1, first: 3) == nil)
    #expect(rates.slowness(below: 2, first: 3) != nil)
    #expect(CrowdRates().slowness(below: 0, first: 3) == nil)
  }
}
