import FamilyCore
import FamilyModel
import History
import Testing

@testable import chaos

@Suite struct FaultPlanTests {
  private static let agents = ["child-agent-1", "parent-agent-1-alex", "parent-agent-1-rosa"]

  private func plan(_ kinds: [Fault.Kind], seed: UInt64 = 1, seconds: Double = 600) -> [Fault] {
    FaultPlan(seed: seed, seconds: seconds, agents: Self.agents, kinds: kinds).faults
  }

  @Test("cuts the power of the relay, of one agent and of all machines")
  func powerLoss() {
    let victims = Set(plan([.powerLoss]).map { Set($0.victims) })
    #expect(victims.contains(["relay"]) && victims.contains(Set(["relay"] + Self.agents)))
    #expect(victims.contains(["child-agent-1"]))
    #expect(victims.allSatisfy { $0.count == 1 || $0.count == 4 })
  }

  @Test("terminates up to four processes at once, or all in turn")
  func ends() {
    let counts = Set(plan([.terminate]).map(\.victims.count))
    #expect(counts == [1, 2, 3, 4])
    for fault in plan([.rollingRestart]) {
      #expect(Set(fault.victims) == Set(["relay"] + Self.agents))
    }
  }

  @Test("restores a copy once, and only in a run that names this kind")
  func restoredCopy() {
    #expect(!Fault.Kind.standard.contains(.restoredCopy))
    #expect(Fault.Kind.standard.count == Fault.Kind.allCases.count - 1)
    #expect(plan([.restoredCopy]).map(\.kind) == [.restoredCopy])
    let both = plan([.restoredCopy, .kill])
    #expect(both.count { $0.kind == .restoredCopy } == 1 && both.count > 100)
  }

  @Test("judges no end of a process while another fault stops or starves it")
  func disturbances() {
    func fault(_ kind: Fault.Kind, _ victims: [String]) -> Fault {
      Fault(kind: kind, at: 0, lasts: 1, victims: victims, seed: 1)
    }
    let disturbances = Disturbances()
    let own = fault(.terminate, ["relay", "a"])
    disturbances.begin(own)
    let before = disturbances.calm("relay")
    #expect(before != nil)
    disturbances.begin(fault(.cut, ["relay"]))
    #expect(disturbances.calm("relay") == before)
    disturbances.begin(fault(.stop, ["relay"]))
    #expect(disturbances.calm("relay") == nil && disturbances.calm("a") == 0)
    disturbances.end(fault(.stop, ["relay"]))
    // The other fault may have lasted until a moment before.
    #expect(disturbances.calm("relay") != before && disturbances.calm("relay") != nil)
  }

  @Test("finds a lost text that no device gave back, unless the device lost its store")
  func givenBack() {
    let device = DeviceAddress(family: FamilyID(1), device: DeviceID(2))
    let text = GivenBack.Text(author: device, command: ID128(high: 0, low: 7))
    let event = Event(
      seq: 9, previous: 0, audience: .family, command: text.command, device: device.device,
      at: .now, body: .rosterChanged(Roster(persons: [], devices: [])))
    func verdict(_ facts: [Fact]) -> Verdict {
      var history = History()
      for fact in facts { history.record(fact, at: .now) }
      return GivenBack(texts: [text]).check(history)
    }
    #expect(verdict([.stored(FamilyID(1), event), .storeRead]) == .ok)
    #expect(verdict([.stored(FamilyID(2), event), .storeRead]).isViolated)
    #expect(verdict([.storeRead]).isViolated)
    #expect(verdict([.lostState(device), .storeRead]) == .ok)
    #expect(verdict([]) != .ok && !verdict([]).isViolated)
  }
}
