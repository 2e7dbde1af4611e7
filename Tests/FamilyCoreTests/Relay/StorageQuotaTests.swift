import FamilyModel
import Testing

@testable import FamilyCore

@Suite struct StorageQuotaTests {
  private static let kilobyte = [UInt8](repeating: 1, count: 1_024)

  /// A family whose quota is 64 KB, and 32 KB for each device.
  private func home() -> RelayMachineFixture {
    var home = RelayMachineFixture()
    home.relay.quota.family = 64 << 10
    home.relay.quota.device = 32 << 10
    return home
  }

  private func post(_ child: UInt32 = 3) -> Command {
    .post(child: PersonID(child), .sealed(Self.kilobyte))
  }

  /// Posts until a refusal.
  ///
  /// - Returns: The number of accepted posts.
  private func fill(_ home: inout RelayMachineFixture, _ device: UInt32, child: UInt32 = 3) -> Int {
    for count in 0..<1_000 {
      home.now = home.now + .seconds(1)
      guard case .failure(let problem) = home.command(device, post(child)) else { continue }
      #expect(problem == .quotaReached)
      return count
    }
    return .max
  }

  @Test("O3: a device above its quota is refused; its family's other devices are not")
  func device() {
    var home = home()
    // 30 KB of the 32 KB; each post takes 1,280 bytes.
    #expect(fill(&home, 30) == 24)
    #expect(home.command(30, post()) == .failure(.quotaReached))
    guard case .success = home.command(31, post()), case .success = home.command(10, post()) else {
      Issue.record("another device was refused")
      return
    }
    let fetch = home.send(30, .fetch(.conversation(PersonID(3)), after: 0))
    #expect(fetch.contains { if case .page = $0 { true } else { false } })
    guard case .attached = home.reply(30, .attach([])) else {
      Issue.record("the device could not attach")
      return
    }
  }

  @Test("O3: notes that a device sends without a person's action leave half of its quota")
  func notes() {
    var home = home()
    var notes = 0
    while notes < 100 {
      home.now = home.now + .seconds(1)
      guard case .success = home.command(30, .noteAge(PersonID(3), .sealed(Self.kilobyte))) else {
        break
      }
      notes += 1
    }
    // 16 KB of the 32 KB.
    #expect(notes == 12)
    #expect(fill(&home, 30) == 12)
  }

  @Test("O3: at the family's quota, work ends and devices leave; other families are not affected")
  func family() throws {
    var home = home()
    guard case .success = home.ask(RelayMachineFixture.question(1)),
      case .success = home.ask(RelayMachineFixture.question(2))
    else {
      Issue.record("a question was refused")
      return
    }
    for device: UInt32 in [30, 31, 10, 40] { _ = fill(&home, device, child: device == 40 ? 4 : 3) }
    #expect(home.ask(RelayMachineFixture.question(3)) == .failure(.quotaReached))
    #expect(
      home.command(0, .setAccount(PersonID(3), .sealed(Self.kilobyte))) == .failure(.quotaReached))
    #expect(home.command(0, .setRoster(grown())) == .failure(.quotaReached))
    func isAccepted(_ device: UInt32, _ command: Command) -> Bool {
      home.now = home.now + .seconds(1)
      if case .success = home.command(device, command) { return true }
      return false
    }
    // The reserve: a withdrawal, limits, a share of keys.
    #expect(isAccepted(20, .withdraw(child: PersonID(3), .sealed(Self.kilobyte))))
    #expect(isAccepted(20, .setLimits(child: PersonID(3), on: false)))
    // The reserve has an end, and the ends of work have none.
    var withdrawals = 0
    while isAccepted(20, .withdraw(child: PersonID(3), .sealed(Self.kilobyte))) { withdrawals += 1 }
    #expect(withdrawals < 16)
    #expect(isAccepted(10, RelayMachineFixture.answer(1)))
    #expect(isAccepted(30, .cancel(RelayMachineFixture.question(2).id)))
    var roster = RelayMachineFixture.roster
    roster.devices.removeAll { $0.id == DeviceID(31) }
    #expect(isAccepted(0, .setRoster(roster)))
    // A repeated command keeps its first result.
    let state = try #require(home.relay.state(of: RelayMachineFixture.id))
    #expect(state.storage.family > home.relay.quota.family - (4 << 10))
    #expect(state.storage.bytes(of: DeviceID(31)) == 0)

    let neighbours = FamilyID(8)
    home.relay.load(neighbours, events: [], cursors: [], now: home.now)
    let founding = home.relay.step(
      .request(
        DeviceAddress(family: neighbours, device: DeviceID(0)), key: [], administrator: true,
        id: RequestID(1),
        .command(CommandID(high: 1, low: 1), .setRoster(RelayMachineFixture.roster))),
      now: home.now)
    #expect(founding.contains { if case .append = $0 { true } else { false } })
  }

  @Test("O3: a larger quota accepts the next command, and a loaded family has the same count")
  func larger() throws {
    var home = home()
    _ = fill(&home, 30)
    let before = try #require(home.relay.state(of: RelayMachineFixture.id))
    home.relay.evict(RelayMachineFixture.id)
    home.relay.load(RelayMachineFixture.id, events: home.log, cursors: [], now: home.now)
    #expect(home.relay.state(of: RelayMachineFixture.id) == before)
    #expect(before.storage.family == home.log.reduce(0) { $0 + $1.storedBytes })
    #expect(home.command(30, post()) == .failure(.quotaReached))
    let bytes = try #require(before.snapshot)
    #expect(FamilyState(snapshot: bytes) == before)
    home.relay.quota = StorageQuota()
    guard case .success = home.command(30, post()) else {
      Issue.record("the larger quota refused a command")
      return
    }
  }

  private func grown() -> Roster {
    var roster = RelayMachineFixture.roster
    roster.devices.append(
      Device(id: DeviceID(51), person: PersonID(5), publicKey: RelayMachineFixture.key(51)))
    return roster
  }
}
