import FamilyModel
import Testing

@testable import FamilyCore

@Suite struct RelayFamilyTests {
  var home = RelayMachineFixture()
  let child = PersonID(3)

  @Test("F1: only the administrator creates a family, and the roster must be well formed")
  mutating func found() {
    home = RelayMachineFixture(founded: false)
    #expect(home.command(10, .setRoster(RelayMachineFixture.roster)) == .failure(.notEnrolled))
    var noOrganizer = RelayMachineFixture.roster
    noOrganizer.persons.removeFirst()
    #expect(home.command(0, .setRoster(noOrganizer)) == .failure(.badFamily))
    #expect(home.command(0, .setRoster(RelayMachineFixture.roster)) == .success(1))
    #expect(home.command(10, .setRoster(RelayMachineFixture.roster)) == .failure(.notPermitted))
  }

  @Test(
    "F2, F5: administrator and guardians set a child's account; the child and guardians read it")
  mutating func accounts() {
    let account = Command.setAccount(child, .sealed([1]))
    #expect(home.command(30, account) == .failure(.notPermitted))
    #expect(home.command(50, account) == .failure(.notPermitted))
    #expect(home.command(10, .setAccount(PersonID(5), .sealed([1]))) == .failure(.notPermitted))
    #expect(home.command(10, account) == .success(2))
    #expect(home.command(0, account) == .success(3))
    #expect(home.log.last?.audience == .account(child))
    #expect(home.command(0, .setAccount(PersonID(9), .sealed([]))) == .failure(.unknown))
    let fetch = Request.fetch(.account(child), after: 0)
    for device: UInt32 in [10, 20, 30] {
      guard case .page = home.send(device, fetch).first else {
        Issue.record("device \(device)")
        return
      }
    }
    for device: UInt32 in [40, 50] {
      #expect(home.reply(device, fetch) == .failed(.notPermitted))
    }
    // The administrator reads the audiences that it writes to, and no conversation.
    #expect(home.reply(0, .fetch(.conversation(child), after: 0)) == .failed(.notPermitted))
    guard case .page = home.send(0, .fetch(.family, after: 0)).first else {
      Issue.record("administrator")
      return
    }
  }

  @Test("M1: only the child and the guardians write into the conversation")
  mutating func post() {
    for (count, device) in [UInt32(10), 20, 30].enumerated() {
      let result = home.command(device, .post(child: child, .sealed([1])))
      #expect(result == .success(UInt64(count) + 2))
    }
    for device: UInt32 in [40, 50, 0] {
      #expect(home.command(device, .post(child: child, .sealed([1]))) == .failure(.notPermitted))
    }
    #expect(home.command(10, .post(child: PersonID(5), .sealed([1]))) == .failure(.unknown))
    #expect(home.command(30, .changeContact(child: child, .sealed([]))) == .failure(.notPermitted))
    #expect(home.command(10, .changeContact(child: child, .sealed([]))) == .success(5))
  }

  @Test("F3: every device of a person gets the person's channels with their heads")
  mutating func attach() {
    _ = home.ask(RelayMachineFixture.question(1))
    func names(_ reply: Reply?) -> [Audience] {
      guard case .attached(let channels, _) = reply else { return [] }
      return channels.map(\.audience)
    }
    let childs: [Audience] = [.family, .conversation(child), .account(child)]
    #expect(names(home.reply(30, .attach([]))) == childs)
    #expect(names(home.reply(31, .attach([]))) == childs)
    #expect(names(home.reply(50, .attach([]))) == [.family, .account(PersonID(5))])
    let guardians: [Audience] = [
      .family, .conversation(child), .conversation(PersonID(4)), .account(PersonID(1)),
      .account(child), .account(PersonID(4)),
    ]
    #expect(names(home.reply(11, .attach([]))) == guardians)
    guard case .attached(let channels, _) = home.reply(10, .attach([])) else { return }
    #expect(channels.map(\.head) == [1, 2, 0, 0, 0, 0])
  }

  @Test("F3: an unknown family, an unknown device and a wrong key get the same reply")
  mutating func notEnrolled() {
    #expect(home.reply(99, .ping) == .failed(.notEnrolled))
    #expect(home.reply(30, .ping, key: RelayMachineFixture.key(40)) == .failed(.notEnrolled))
    let other = DeviceAddress(family: FamilyID(8), device: DeviceID(30))
    home.relay.load(other.family, events: [], cursors: [], now: home.now)
    let effects = home.relay.step(
      .request(other, key: RelayMachineFixture.key(30), administrator: false, id: 1, .ping),
      now: home.now)
    #expect(effects == [.reply(other, id: 1, .failed(.notEnrolled))])
    let fake = home.relay.step(
      .request(RelayMachineFixture.address(0), key: [], administrator: false, id: 1, .ping),
      now: home.now)
    #expect(fake == [.reply(RelayMachineFixture.address(0), id: 1, .failed(.notEnrolled))])
  }

  @Test("F3: a subscription broadcasts the heads of the audiences that the device may read")
  mutating func subscribe() {
    func subscribe(_ device: UInt32, key: UInt32? = nil) -> [RelayMachine.Effect] {
      home.relay.step(
        .subscribed(
          RelayMachineFixture.address(device), key: RelayMachineFixture.key(key ?? device)),
        now: home.now)
    }
    _ = home.ask(RelayMachineFixture.question(1))
    func heads(_ audiences: [(Audience, UInt64)]) -> [RelayMachine.Effect] {
      audiences.map {
        .broadcast(RelayMachineFixture.id, generation: 0, $0, .head($0, seq: $1))
      }
    }
    let own: [(Audience, UInt64)] = [(.family, 1), (.conversation(child), 2), (.account(child), 0)]
    #expect(subscribe(30) == heads(own))
    #expect(subscribe(20).contains(heads([(.conversation(child), 2)])[0]))
    #expect(!subscribe(40).contains(heads([(.conversation(child), 2)])[0]))
    #expect(subscribe(30, key: 20) == [] && subscribe(99) == [])
  }

  @Test("F3: only the devices that may read an audience are its readers")
  mutating func readers() {
    func readers(_ audience: Audience) -> Set<[UInt8]> {
      var keys: Set<[UInt8]> = []
      home.relay.forEachReader(of: audience, in: RelayMachineFixture.id) { keys.insert($0) }
      return keys
    }
    let roster = RelayMachineFixture.roster
    func keys(_ isReader: (Person) -> Bool) -> Set<[UInt8]> {
      let persons = roster.persons.filter(isReader).map(\.id)
      return Set(roster.devices.filter { persons.contains($0.person) }.map(\.publicKey))
    }
    #expect(readers(.family) == keys { _ in true })
    #expect(readers(.conversation(child)) == keys { $0.role.isGuardian || $0.id == child })
    #expect(readers(.account(child)) == keys { $0.role.isGuardian || $0.id == child })
    #expect(readers(Audience(rawValue: 3 << 32)) == [])
    home.relay.evict(RelayMachineFixture.id)
    #expect(readers(.family) == [])
  }

  @Test("F3: removing a device increments the generation of each of its audiences")
  mutating func remove() {
    var smaller = RelayMachineFixture.roster
    smaller.devices.removeAll { $0.id == DeviceID(40) }
    let effects = home.send(0, .command(CommandID(high: 2, low: 2), .setRoster(smaller)))
    // Remaining devices are subscribed to the old channel and learn of the new one by this event.
    guard case .broadcast(_, 0, .family, .event) = effects.last else {
      Issue.record("\(effects)")
      return
    }
    let state = home.relay.state(of: RelayMachineFixture.id)!
    #expect(state.generation(.family) == 1)
    #expect(state.generation(.conversation(PersonID(4))) == 1)
    #expect(state.generation(.account(PersonID(4))) == 1)
    #expect(state.generation(.conversation(child)) == 0)
    #expect(state.generation(.account(PersonID(1))) == 0)
    #expect(home.reply(40, .ping) == .failed(.notEnrolled))
    // A device that missed the change receives its channels when it pings.
    guard case .attached(let channels, _) = home.reply(30, .ping) else {
      Issue.record("no channels")
      return
    }
    #expect(channels.first?.generation == 1)
    _ = home.send(30, .acknowledge([Cursor(.family, delivered: 2)]))
    #expect(home.reply(30, .ping) == .pong)
  }

  @Test(
    "a device announces others with its key: devices that lack events receive their channels")
  mutating func present() {
    home = RelayMachineFixture(founded: false)
    var roster = RelayMachineFixture.roster
    // The devices of organizer and child share a key, as in one host.
    for index in roster.devices.indices where roster.devices[index].id != DeviceID(20) {
      roster.devices[index].publicKey = RelayMachineFixture.key(1)
    }
    _ = home.command(0, .setRoster(roster))
    let all = [11, 20, 30, 99].map(RelayMachineFixture.address)
    // No device has acknowledged the family's events: all are late.
    let effects = home.send(10, .present(all), key: RelayMachineFixture.key(1))
    var told: [DeviceAddress: Reply] = [:]
    for case .reply(let address, 0, let reply) in effects { told[address] = reply }
    #expect(Set(told.keys) == Set([10, 11, 20, 30, 99].map(RelayMachineFixture.address)))
    for device: UInt32 in [10, 11, 30] {
      guard case .attached = told[RelayMachineFixture.address(device)] else {
        Issue.record("\(device): \(told)")
        return
      }
    }
    // A device with another key, and a device that does not exist.
    #expect(told[RelayMachineFixture.address(20)] == .failed(.notEnrolled))
    #expect(told[RelayMachineFixture.address(99)] == .failed(.notEnrolled))
    #expect(home.reply(20, .present(all), key: RelayMachineFixture.key(1)) == .failed(.notEnrolled))
    // A family that is not held is not loaded.
    let other = DeviceAddress(family: FamilyID(8), device: DeviceID(1))
    for device: UInt32 in [10, 11, 30] {
      _ = home.send(
        device, .acknowledge([Cursor(.family, delivered: 1)]), key: RelayMachineFixture.key(1))
    }
    #expect(home.send(10, .present([other]), key: RelayMachineFixture.key(1)).count == 1)
  }

  @Test("F3: a device with a new key is a new device") mutating func newKey() {
    var changed = RelayMachineFixture.roster
    changed.devices[0].publicKey = RelayMachineFixture.key(99)
    #expect(home.command(0, .setRoster(changed)) == .failure(.mixedRemoval))
    for step in RelayMachineFixture.roster.steps(to: changed) {
      #expect(home.command(0, .setRoster(step)) != .failure(.mixedRemoval))
    }
    #expect(home.relay.state(of: RelayMachineFixture.id)!.generation(.conversation(child)) == 1)
    #expect(home.reply(10, .ping) == .failed(.notEnrolled))
    #expect(home.reply(10, .ping, key: RelayMachineFixture.key(99)) != .failed(.notEnrolled))
  }

  @Test("F1: a child who becomes an adult leaves the conversation; open questions stay undecided")
  mutating func growUp() {
    _ = home.ask(RelayMachineFixture.question(1))
    var older = RelayMachineFixture.roster
    older.persons[2].role = .adult
    _ = home.command(0, .setRoster(older))
    #expect(home.relay.state(of: RelayMachineFixture.id)!.generation(.conversation(child)) == 1)
    #expect(home.relay.state(of: RelayMachineFixture.id)!.generation(.account(child)) == 1)
    #expect(home.command(10, RelayMachineFixture.answer(1)) == .failure(.unknown))
    #expect(home.ask(RelayMachineFixture.question(2)) == .failure(.notAChild))
  }

  @Test("X2: refuses requests for a family that is not held, and does not create it")
  mutating func notHeld() {
    home.relay.evict(downTo: 0)
    #expect(home.relay.count == 0)
    #expect(home.command(30, .post(child: child, .sealed([]))) == .failure(.overloaded))
    #expect(home.log.count == 1)
  }
}
