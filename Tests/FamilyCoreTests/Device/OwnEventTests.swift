import FamilyCore
import FamilyModel
import Testing

/// An attached device receives its own event as the only acknowledgement of its command.
@Suite struct OwnEventTests {
  private let conversation = Audience.conversation(World.emily)
  private let address = DeviceAddress(family: World.family, device: DeviceID(3))

  /// A child's device that has sent a text, the text's command, and the request's number.
  private func sent(_ now: Instant) -> (ChildMachine, CommandID, UInt64)? {
    var device = ChildMachine(
      address, of: World.emily, apps: [], ids: IDSource(seed: 1))
    _ = device.step(.connected, now: now)
    _ = device.step(.reply(1, .attached([])), now: now)
    guard let (id, command) = commands(device.step(.post("hello"), now: now)).first else {
      return nil
    }
    return (device, command, id)
  }

  private func commands(_ effects: [DeviceEffect]) -> [(UInt64, CommandID)] {
    effects.compactMap { effect in
      if case .send(let id, .command(let command, _, _)) = effect { (id, command) } else { nil }
    }
  }

  private func event(_ command: CommandID, by device: UInt32) -> Event {
    Event(
      seq: 1, previous: 0, audience: conversation, command: command, device: DeviceID(device),
      at: Instant(milliseconds: 0), body: .posted(child: World.emily, .text("hello")))
  }

  @Test(
    "A3: its own event removes a command from the outbox, in one transaction and without a reply")
  func settled() throws {
    let now = Instant(milliseconds: 0)
    var (device, command, id) = try #require(sent(now))
    #expect(id == 0)
    #expect(device.link.pendingCommands.count == 1)
    let effects = device.step(.broadcast(.event(event(command, by: 3))), now: now)
    #expect(device.link.pendingCommands.isEmpty)
    guard case .persist(let changes)? = effects.first else {
      Issue.record("\(effects)")
      return
    }
    #expect(changes.contains { if case .delete(.outbox) = $0 { true } else { false } })
    #expect(changes.contains { if case .put(.event) = $0 { true } else { false } })
    #expect(commands(device.step(.timer, now: now + .seconds(5))).isEmpty)
  }

  @Test("A3: retries a command whose event does not arrive, and then requests a reply")
  func lost() throws {
    let now = Instant(milliseconds: 0)
    var (device, command, _) = try #require(sent(now))
    let again = commands(device.step(.timer, now: now + .seconds(1)))
    #expect(again.map(\.1) == [command])
    #expect(again.allSatisfy { $0.0 > 0 })
    _ = device.step(.reply(again[0].0, .accepted(command, seq: 1)), now: now + .milliseconds(1_001))
    #expect(device.link.pendingCommands.isEmpty)
  }

  @Test("T1: a command whose id is taken goes out under a new id, and has one record")
  func taken() throws {
    let now = Instant(milliseconds: 0)
    var (device, command, _) = try #require(sent(now))
    let effects = device.step(.reply(0, .refused(command, .idTaken)), now: now)
    let again = try #require(commands(effects).first?.1)
    #expect(again != command)
    #expect(device.link.pendingCommands.count == 1)
    guard case .persist(let changes)? = effects.first else {
      Issue.record("\(effects)")
      return
    }
    let records = changes.compactMap { change in
      if case .put(.outbox(1, let id, _, _)) = change { id } else { nil }
    }
    #expect(records == [again] && changes.count == 1)
    _ = device.step(.reply(0, .accepted(command, seq: 1)), now: now)
    #expect(device.link.pendingCommands.count == 1)
    _ = device.step(.reply(0, .accepted(again, seq: 1)), now: now)
    #expect(device.link.pendingCommands.isEmpty)
  }

  @Test("T2: a device whose clock is ahead sends its commands with the relay's time")
  func ahead() throws {
    let relayTime = Instant(milliseconds: 1_795_262_400_000)
    let now = relayTime + .days(2_190)
    var (device, command, _) = try #require(sent(now))
    #expect(command.time == now)
    let refused = Reply.refused(command, .earlyID(relayTime: relayTime))
    let again = try #require(commands(device.step(.reply(0, refused), now: now)).first?.1)
    #expect(again.time <= relayTime + Limits.idLead)
    // Later commands need no second attempt. A text waits for the text before it.
    _ = device.step(.reply(0, .accepted(again, seq: 1)), now: now)
    let next = commands(device.step(.post("next"), now: now + .hours(1))).map(\.1)
    #expect(next.last?.time == relayTime + .hours(1))
    #expect(device.link.pendingCommands.count == 1)
    _ = device.step(.reply(0, .accepted(try #require(next.last), seq: 2)), now: now + .hours(1))
    // An attachment tells the time, too.
    _ = device.step(.disconnected, now: now)
    _ = device.step(.connected, now: now + .days(1))
    let attached = Reply.attached([], at: relayTime + .hours(2))
    _ = device.step(.reply(1, attached), now: now + .days(1))
    let last = commands(device.step(.post("last"), now: now + .days(1))).last?.1
    #expect(last?.time == relayTime + .hours(2))
  }

  @Test("T2: a device does not flood a relay whose clock is behind the family's events")
  func behind() throws {
    let now = Instant(milliseconds: 1_795_262_400_000)
    var (device, command, _) = try #require(sent(now))
    var other = event(CommandID(high: 1, low: 1), by: 4)
    other.at = now
    _ = device.step(.broadcast(.event(other)), now: now)
    let refused = Reply.refused(command, .earlyID(relayTime: now - .days(1_800)))
    #expect(commands(device.step(.reply(0, refused), now: now)).isEmpty)
    #expect(commands(device.step(.timer, now: now + .seconds(59))).isEmpty)
    let again = try #require(commands(device.step(.timer, now: now + .seconds(60))).first?.1)
    // The device sends the command when the relay's clock permits its id.
    let present = again.time - Limits.idLead - .seconds(40)
    let late = Reply.refused(again, .earlyID(relayTime: present))
    let later = now + .seconds(61)
    #expect(commands(device.step(.reply(1, late), now: later)).isEmpty)
    #expect(commands(device.step(.timer, now: later + .seconds(39))).isEmpty)
    #expect(commands(device.step(.timer, now: later + .seconds(41))).count == 1)
  }

  @Test("A3: another device's event does not complete a command") func others() throws {
    let now = Instant(milliseconds: 0)
    var (device, command, _) = try #require(sent(now))
    _ = device.step(.broadcast(.event(event(command, by: 4))), now: now)
    #expect(device.link.pendingCommands.count == 1)
  }
}
