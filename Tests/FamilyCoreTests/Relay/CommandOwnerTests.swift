import FamilyModel
import Testing

@testable import FamilyCore

/// A command's id belongs to its sender.
@Suite struct CommandOwnerTests {
  private var home = RelayMachineFixture()
  private let child = PersonID(3)
  private let id = CommandID(high: 4, low: 4)

  @Test("T1: a child's post under a guardian's next id does not swallow the guardian's withdrawal")
  mutating func swallow() {
    #expect(home.command(30, .post(child: child, .sealed([1])), id: id) == .success(2))
    #expect(home.command(10, .withdraw(child: child, .sealed([1])), id: id) == .success(3))
    guard case .withdrawn = home.log.last?.body else {
      Issue.record("the withdrawal is not in the log")
      return
    }
    // Both commands have their own results, also after a restart.
    for _ in 1...2 {
      #expect(home.command(30, .post(child: child, .sealed([2])), id: id) == .success(2))
      #expect(home.command(10, .withdraw(child: child, .sealed([2])), id: id) == .success(3))
      home.relay.evict(RelayMachineFixture.id)
      home.relay.load(RelayMachineFixture.id, events: home.log, cursors: [], now: home.now)
    }
    #expect(home.log.count == 3)
  }

  @Test("T1: a device's second command under one id is refused with problem 416")
  mutating func otherContent() {
    let limits = Command.setLimits(child: child, on: false)
    #expect(home.command(10, limits, id: id) == .success(2))
    #expect(home.command(10, limits, id: id) == .success(2))
    for other in [
      .setLimits(child: child, on: true), .setLimits(child: PersonID(4), on: false),
      .withdraw(child: child, .sealed([1])), .setRoster(RelayMachineFixture.roster),
    ] as [Command] {
      #expect(home.command(10, other, id: id) == .failure(.idTaken))
    }
    #expect(home.log.count == 2)
  }

  @Test("T1: the store's answer about another device's command is no result")
  mutating func stored() {
    home.relay = RelayMachine(verify: FakePasscode.verify, resultsKept: 2)
    home.relay.load(RelayMachineFixture.id, events: home.log, cursors: [], now: home.now)
    let (early, post) = (CommandID(high: 3, low: 1), Command.post(child: child, .sealed([1])))
    #expect(home.command(30, post, id: early) == .success(2))
    for number: UInt64 in 1...9 {
      _ = home.command(30, post, id: CommandID(high: 4, low: number))
      _ = home.command(10, post, id: CommandID(high: 4, low: number))
    }
    let family = RelayMachineFixture.id
    let stored = home.log[1]
    let isStored = home.relay.needsStoredResult(of: early, by: DeviceID(30), in: family)
    #expect(isStored)
    home.relay.setStoredResult(of: early, by: DeviceID(30), event: stored, in: family)
    #expect(home.command(30, post, id: early) == .success(2))
    #expect(home.command(10, post, id: early) == .failure(.overloaded))
    let other = Command.cancel(QuestionID(high: 1, low: 1))
    #expect(home.command(30, other, id: early) == .failure(.idTaken))
  }

  @Test("T1: the ids of one device do not make the results of other devices leave the memory")
  mutating func floors() {
    home.relay = RelayMachine(verify: FakePasscode.verify, resultsKept: 16)
    home.relay.load(RelayMachineFixture.id, events: home.log, cursors: [], now: home.now)
    let post = Command.post(child: child, .sealed([1]))
    for number: UInt64 in 1...130 {
      _ = home.command(30, post, id: CommandID(high: 1 << 40, low: number))
    }
    for number: UInt64 in 1...100 {
      let id = CommandID(high: 2, low: number)
      let isStored = home.relay.needsStoredResult(
        of: id, by: DeviceID(40), in: RelayMachineFixture.id)
      #expect(!isStored)
      let own = home.command(40, .post(child: PersonID(4), .sealed([1])), id: id)
      #expect(own == .success(131 + number))
    }
  }

  @Test("T1: each command has the outline of its event, and other commands have others")
  mutating func outlines() throws {
    let question = RelayMachineFixture.question(1)
    let invitation = Invitation(
      key: Array(repeating: 1, count: 32), person: child, expires: home.now + .minutes(1))
    let commands: [(UInt32, Command)] = [
      (30, .ask(question, .sealed([]))), (10, RelayMachineFixture.answer(1)),
      (10, .setLimits(child: child, on: false)), (10, .setLimits(child: child, on: true)),
      (30, .post(child: child, .sealed([]))), (10, .changeContact(child: child, .sealed([]))),
      (10, .withdraw(child: child, .sealed([]))), (10, .invite(invitation)),
      (10, .setAccount(child, .sealed([]))), (30, .noteAge(child, .sealed([]))),
      (10, .setAge(child, .sealed([]), proof: [])),
      (10, .changeSettings(child, .sealed([]), proof: [])),
      (0, .setRoster(RelayMachineFixture.roster)),
    ]
    var outlines: Set<CommandOutline> = []
    for (device, command) in commands {
      _ = try home.command(device, command).get()
      #expect(CommandOutline(command) == CommandOutline(home.log.last!))
      outlines.insert(CommandOutline(command))
    }
    #expect(outlines.count == commands.count)
  }
}
