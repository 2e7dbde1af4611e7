import FamilyCore
import FamilyModel
import History
import TestThreads
import Testing

@testable import Simulation

/// Tests of runs with a dishonest relay.
@Suite(.ownThread) struct ByzantineTests {
  @Test(
    "T5, T10: no lie of the relay makes a device believe a forgery or keeps honest members apart",
    arguments: 0..<4)
  func relay(_ part: UInt64) {
    for seed in (part * 10 + 1)...(part * 10 + 10) {
      let result = Simulation.run(seed: seed, adversary: .relay)
      #expect(
        result.violations.isEmpty,
        "\(result.violations); replay: swift run simulate --seed \(seed) --byzantine relay")
    }
  }

  @Test("T5: a device to which the relay shows no roster sleeps")
  func withoutRoster() throws {
    let address = DeviceAddress(family: FamilyID(1), device: DeviceID(2))
    let vault = FakeVault(address, FakeVault.KeyMaker(seed: 1))
    var machine = GuardianMachine(
      address, of: PersonID(1), security: Security(vault, organizerKey: vault.signingKey),
      restoring: [], ids: IDSource(seed: 1))
    let now = World.start
    _ = machine.step(.connected, now: now)
    _ = machine.step(.reply(1, .attached([], at: now)), now: now)
    #expect(try #require(machine.deadline) > now)
  }

  @Test("a dishonest relay changes the run, and the same seed repeats it")
  func differs() {
    let run = Simulation.run(seed: 21, adversary: .relay)
    #expect(run.trace == Simulation.run(seed: 21, adversary: .relay).trace)
    #expect(run.trace != Simulation.run(seed: 21).trace)
  }
}
