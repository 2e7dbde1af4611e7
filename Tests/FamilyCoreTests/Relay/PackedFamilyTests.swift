import FamilyModel
import TestThreads
import Testing

@testable import FamilyCore

/// Packing and unpacking preserves a family.
@Suite(.ownThread) struct PackedFamilyTests {
  @Test("packing preserves a family after random histories", arguments: 1...6)
  func histories(seed: UInt64) throws {
    var home = RelayMachineFixture()
    // One family is open at a time: using the neighbours packs the family.
    home.relay = RelayMachine(verify: FakePasscode.verify, resultsKept: 5, openFamilies: 1)
    let neighbours = FamilyID(8)
    home.relay.load(neighbours, events: [], cursors: [], now: home.now)
    home.relay.load(RelayMachineFixture.id, events: home.log, cursors: [], now: home.now)
    var source = IDSource(seed: seed)
    for number in 1...400 {
      home.now = home.now + .milliseconds(source.next() % 100_000)
      let device = [UInt32(0), 10, 20, 30, 40, 50][Int(source.next() % 6)]
      let id = CommandID(high: 3, low: UInt64(number))
      switch source.next() % 4 {
      case 0:
        let cursors = [Audience.family, .conversation(PersonID(3))].map {
          Cursor($0, delivered: source.next() % 200, read: source.next() % 200)
        }
        _ = home.send(device, .attach(cursors))
      case 1:
        let event = source.next() % 2 == 0 ? nil : home.log.last
        home.relay.setStoredResult(
          of: id, by: DeviceID(device), event: event, in: RelayMachineFixture.id)
      case 2: _ = home.relay.step(.timer, now: home.now)
      default:
        let command = command(&source, now: home.now)
        _ = home.command(command.device, command.command, id: id)
      }
      let before = home.relay.families[home.relay.families.slot(of: RelayMachineFixture.id)!]
      #expect(home.relay.families.isOpen(RelayMachineFixture.id) || number == 1)
      _ = home.relay.step(
        .subscribed(DeviceAddress(family: neighbours, device: DeviceID(1)), key: []), now: home.now)
      #expect(!home.relay.families.isOpen(RelayMachineFixture.id))
      let after = home.relay.families[home.relay.families.slot(of: RelayMachineFixture.id)!]
      #expect(after == before, "seed \(seed)")
      _ = home.relay.needsStoredResult(
        of: id, by: DeviceID(device), in: RelayMachineFixture.id)
    }
    #expect(home.log.count > 20)
  }

  @Test("packing preserves rare values")
  func rare() {
    func key(_ byte: UInt8) -> [UInt8] { Array(repeating: byte, count: 32) }
    var family = RelayMachine.Family(
      state: FamilyState(resultsKept: .max), lastUsed: Instant(milliseconds: .min))
    family.state.invitations.add(
      Invitation(key: key(1), person: PersonID(2), expires: RelayMachineFixture.start),
      now: RelayMachineFixture.start)
    family.state.invitations.add(
      Invitation(key: key(3), person: PersonID(.max), expires: RelayMachineFixture.start),
      now: RelayMachineFixture.start)
    family.state.invitations.markUsed(
      by: JoinRequest(
        invitation: key(1), publicKey: key(4), signingKey: key(5), agreementKey: key(6),
        proof: [7, 8]))
    var passcode = Passcode(salt: [9, 10], logCost: 15, publicKey: key(11))
    var lock = PasscodeLock()
    _ = lock.prepare(.ideal)
    lock.adopt()
    _ = lock.prepare(.ideal)
    passcode.relayKey = PasscodeEvaluator.ideal.publicKey(
      PasscodeEvaluator.ideal.makeSecret())
    for number: UInt64 in 1...3 {
      family.state.passcodes.add(
        passcode,
        StatementOrder(
          seq: 8 + number, known: 5, command: CommandName(DeviceID(1), ID128(high: number, low: 1)))
      )
    }
    _ = try? lock.guess([13], of: passcode, now: RelayMachineFixture.start)
    #expect(lock.guesses == 1)
    family.passcodeLock = lock
    family.state.generations[.account(PersonID(.max))] = FamilyState.maximumGeneration
    family.refusals.add(
      CommandID(high: .max, low: 0), by: DeviceID(12),
      Problem(code: 399, retryAfter: .milliseconds(UInt32.max)))
    family.storedResult = RelayMachine.StoredResult(
      id: CommandID(high: 1, low: .max), device: DeviceID(.max), seq: .max,
      outline: CommandOutline(.cancel(QuestionID(high: 1, low: 2))))
    family.isCheckScheduled = true
    #expect(Unpacker.unpack(Packer.pack(family), as: RelayMachine.Family.self) == family)
    #expect(
      Unpacker.unpack(Packer.pack(RelayMachine.Family.empty), as: RelayMachine.Family.self)
        == .empty)
  }

  @Test("a packed family of three devices with ten questions takes less than a kilobyte")
  func size() throws {
    var home = RelayMachineFixture()
    var roster = RelayMachineFixture.roster
    roster.persons.removeLast(2)
    roster.devices = [10, 20, 30].map {
      Device(
        id: DeviceID($0), person: PersonID($0 / 10), publicKey: RelayMachineFixture.key($0),
        signingKey: RelayMachineFixture.key($0 + 1), agreementKey: RelayMachineFixture.key($0 + 2))
    }
    let other = FamilyID(9)
    home.relay.load(other, events: [], cursors: [], now: home.now)
    var family = RelayMachine.Family(state: FamilyState(resultsKept: 64), lastUsed: home.now)
    family.state.roster = roster
    for number in 1...10 {
      let question = RelayMachineFixture.question(
        UInt64(number), child: 3, about: [1, 2, 3, 4, 5, 6, 7, 8])
      let header = Event(
        seq: UInt64(2 * number), previous: 0, audience: .conversation(PersonID(3)),
        command: CommandID(high: UInt64(number), low: 1), device: DeviceID(30), at: home.now,
        body: .asked(question, .sealed([])))
      family.state.apply(header)
      family.state.apply(
        Event(
          seq: UInt64(2 * number + 1), previous: 0, audience: .conversation(PersonID(3)),
          command: CommandID(high: UInt64(number), low: 2), device: DeviceID(10), at: home.now,
          body: .decided(Decision(question: question.id, choice: question.choices[0]))))
    }
    #expect(Packer.pack(family).count < 1_024)
  }

  /// A random command, usually of a device that may send it.
  private func command(_ source: inout IDSource, now: Instant)
    -> (device: UInt32, command: Command)
  {
    let number = source.next() % 12
    let child = PersonID(UInt32(3 + source.next() % 2))
    let question = RelayMachineFixture.question(
      number, child: child.rawValue, about: [UInt8(source.next() % 4)],
      expiration: source.next() % 3 == 0 ? now + .milliseconds(source.next() % 500_000) : nil)
    switch source.next() % 12 {
    case 0...4: return (child.rawValue * 10, .ask(question, .sealed([])))
    case 5...6: return (20, RelayMachineFixture.answer(number, "approve"))
    case 7: return (child.rawValue * 10, .cancel(question.id))
    case 8: return (10, .setLimits(child: child, on: source.next() % 4 != 0))
    case 9:
      let key = [UInt8](repeating: UInt8(number), count: 32)
      return (10, .invite(Invitation(key: key, person: child, expires: now + .minutes(1))))
    case 10:
      let passcode = Passcode(
        salt: [UInt8](repeating: 1, count: 16), logCost: 14,
        publicKey: [UInt8](repeating: 2, count: 32))
      return (10, .setPasscode(passcode))
    default:
      var roster = RelayMachineFixture.roster
      if source.next() % 2 == 0 { roster.devices.removeLast() }
      return (0, .setRoster(roster))
    }
  }
}

extension RelayMachine.Family {
  fileprivate static var empty: Self {
    Self(state: FamilyState(), lastUsed: Instant(milliseconds: 0))
  }
}
