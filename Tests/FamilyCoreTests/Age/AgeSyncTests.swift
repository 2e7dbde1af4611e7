@testable import FamilyCore
import FamilyModel
import TestThreads
import Testing

/// A device that is online from time to time.
private struct Offline {
  var applied = AgeState()
  var read = 0
  var pending: [Content] = []

  var state: AgeState {
    var state = applied
    for content in pending { state.record(content) }
    return state
  }

  mutating func sync(_ log: inout [Content]) {
    log += pending
    pending = []
    for content in log[read...] { applied.record(content) }
    read = log.count
  }
}

@Suite(.ownThread) struct AgeSyncTests {
  @Test("D10: events that are verified late, in any order, lead to the same state")
  func late() {
    let rig = { AgeFixture(born: day(2012, 5, 17), today: day(2026, 11, 21)) }
    func answer(_ gates: Int32..., on today: Account.Day) -> AgeLog.Entry {
      var rig = rig()
      rig.policy.today = today
      _ = try? rig.ask(gates)
      return .record(.ageMemory(AgeFixture.app, rig.state.memory(AgeFixture.app).answers[0]))
    }
    let entries: [AgeLog.Entry] = [
      .born(day(2012, 5, 17)), answer(13, 16, on: day(2026, 11, 21)),
      answer(18, on: day(2026, 12, 24)), answer(13, 16, on: day(2027, 11, 22)),
      .set(.ageSettings(World.settings(.never))), .set(.ageSettings(World.settings(.always))),
      .born(day(2016, 5, 17)), answer(13, 16, on: day(2028, 1, 1)),
    ]
    func log(_ order: [Int]) -> AgeState {
      var log = AgeLog()
      for index in order {
        let event = Event(
          seq: UInt64(index + 1), previous: 0, audience: .account(World.emily),
          command: ID128(high: 0, low: 0), device: DeviceID(3), at: World.november,
          body: .reminded(ID128(high: 0, low: 0)))
        log.add(event, entries[index])
      }
      return log.state
    }
    let expected = log(Array(entries.indices))
    #expect(expected.settings.sharing == .always && expected.apps == [AgeFixture.app])
    var source = IDSource(seed: 3)
    for _ in 0..<200 {
      var order = Array(entries.indices)
      for index in order.indices { order.swapAt(index, Int(source.next() % 8)) }
      #expect(log(order) == expected)
    }
  }

  @Test(
    "D10: two devices of one person agree after they synchronise, whatever each answered before")
  func agree() throws {
    var conflicts = 0
    for seed in 1...10_000 as ClosedRange<UInt64> {
      let history = AgeHistory(seed: seed)
      var source = IDSource(seed: seed)
      var devices = [Offline(), Offline()]
      var log: [Content] = []
      var rig = AgeFixture(
        born: history.born, today: history.steps[0].day, region: history.region,
        isInFamily: history.isInFamily)
      for (day, step) in history.steps {
        let index = Int(source.next() % 2)
        if source.next() % 3 == 0 { devices[index].sync(&log) }
        guard case .ask(let gates) = step else { continue }
        // The devices' clocks and time zones differ by a day.
        rig.policy.today = day.adding(Int64(index))
        let memory = devices[index].state.memory(AgeFixture.app)
        guard
          case .share(let answer, _)? = try? rig.policy.decide(gates, of: AgeFixture.app, memory)
        else { continue }
        devices[index].pending.append(.ageMemory(AgeFixture.app, answer))
      }
      if devices.allSatisfy({ !$0.pending.isEmpty }) { conflicts += 1 }
      devices[0].sync(&log)
      devices[1].sync(&log)
      devices[0].sync(&log)
      guard devices[0].state == devices[1].state else {
        Issue.record("seed \(seed): \(devices[0].state) and \(devices[1].state)")
        return
      }
      // Both devices give the same answer without a prompt.
      for answer in devices[0].state.memory(AgeFixture.app).answers.suffix(1) {
        rig.policy.today = answer.day
        rig.state = devices[0].state
        let first = try rig.ask(answer.gates)
        rig.state = devices[1].state
        #expect(try rig.ask(answer.gates) == first)
        #expect(rig.notices == 0 && rig.prompts == 0)
      }
    }
    #expect(conflicts > 500)
  }
}
