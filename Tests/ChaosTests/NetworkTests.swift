import Credentials
import FamilyModel
import FamilyTrust
import FaultNetwork
import Foundation
import ProcessCluster
import Testing
import ZeroMQ

@testable import chaos

@Suite struct NetworkTests {
  @Test("netem: reports the kernel's error as the reason, or a missing permission without one")
  func skipped() {
    let words = "Error: Specified qdisc kind is unknown.\nmore\n"
    #expect(Netem.reason(2, words) == "Error: Specified qdisc kind is unknown.")
    #expect(Netem.reason(1, "") == "not allowed")
    #expect(Netem.reason(0, words) == nil)
  }

  @Test("netem: begins and ends loss, delay, duplication and reordering on the loopback interface")
  func commands() {
    let begins = (0..<8).map { Netem.commands($0).begin }
    #expect(Set(begins.map { $0[6] }) == ["loss", "delay", "duplicate"])
    #expect(Set(begins).count == 4 && begins.contains { $0.contains("reorder") })
    for begin in begins {
      #expect(begin[...5] == ["qdisc", "replace", "dev", "lo", "root", "netem"])
    }
    #expect(Netem.commands(3).end == ["qdisc", "del", "dev", "lo", "root"])
    #expect(
      Netem.reentry("/chaos", ["--seed", "1 2"]) == [
        "unshare", "-n", "sh", "-c", "ip link set lo up && exec \"$@\"", "chaos", "/chaos",
        "--seed",
        "1 2",
      ])
  }

  @Test("draws slow links with a delay, with stalls, with a low rate, and with all three")
  func slowness() {
    var random = IDSource(seed: 1)
    let some = (0..<100).map { _ in ProxyLink.Slowness(&random) }
    #expect(some.allSatisfy { $0.delay > 0 || $0.stall > 0 || $0.rate != nil })
    #expect(some.contains { $0.delay > 0 && $0.stall == 0 && $0.rate == nil })
    #expect(some.contains { $0.delay == 0 && $0.stall > 0 && $0.rate == nil })
    #expect(some.contains { $0.delay == 0 && $0.stall == 0 && $0.rate != nil })
    #expect(some.contains { $0.delay > 0 && $0.stall > 0 && $0.rate != nil })
  }

  @Test("agents have one name, also those of guardians with unusual names")
  func names() throws {
    for name in ["Rosa", "Ana/Lu", String(repeating: "Long ", count: 12)] {
      let families = try JSONDecoder().decode(
        ClusterFamilies.self,
        from: JSONEncoder().encode([
          "families": [Family(id: 7, members: [Member(name: name, role: "guardian")])]
        ]))
      let credential = Credential(
        address: DeviceAddress(family: FamilyID(7), device: DeviceID(1)), personID: PersonID(1),
        role: .guardian, name: name, keys: try .generate(), deviceKeys: DeviceKeys(),
        organizerKey: [], relayKey: try CurveKeyPair.generate().publicKey, requests: "",
        broadcasts: "")
      #expect(families.agents == [Redirection.agent(of: credential)])
    }
  }

  private struct Family: Codable {
    var id: UInt64
    var members: [Member]
  }
  private struct Member: Codable {
    var name: String
    var role: String
  }
}
