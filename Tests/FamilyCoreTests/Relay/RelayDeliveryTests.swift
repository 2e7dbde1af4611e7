import FamilyModel
import Testing

@testable import FamilyCore

@Suite struct RelayDeliveryTests {
  var home = RelayMachineFixture()
  let conversation = Audience.conversation(PersonID(3))

  mutating func timer() -> [RelayMachine.Effect] {
    guard let deadline = home.relay.deadline else { return [] }
    home.now = max(home.now, deadline)
    return home.relay.step(.timer, now: home.now)
  }

  mutating func acknowledge(_ device: UInt32, _ delivered: UInt64, read: UInt64 = 0)
    -> [RelayMachine.Effect]
  {
    home.send(device, .acknowledge([Cursor(conversation, delivered: delivered, read: read)]))
  }

  mutating func attach(_ device: UInt32) {
    _ = home.send(
      device, .attach([Cursor(.family, delivered: 1), Cursor(conversation, delivered: 0)]))
  }

  @Test("M3: every audience has one order, and each event names its predecessor")
  mutating func chains() {
    _ = home.command(30, .post(child: PersonID(3), .sealed([1])))
    _ = home.command(40, .post(child: PersonID(4), .sealed([1])))
    _ = home.command(10, .post(child: PersonID(3), .sealed([1])))
    #expect(home.log.map(\.seq) == [1, 2, 3, 4])
    #expect(home.log.map(\.previous) == [0, 0, 0, 2])
  }

  @Test(
    "M4: broadcasts a receipt when a guardian's device first delivers or reads a child's message")
  mutating func receipts() {
    _ = home.ask(RelayMachineFixture.question(1))
    func receipts(_ effects: [RelayMachine.Effect]) -> [Receipt] {
      effects.compactMap {
        if case .broadcast(_, _, _, .receipt(_, let receipt)) = $0 { receipt } else { nil }
      }
    }
    #expect(receipts(acknowledge(31, 2)) == [])
    #expect(receipts(acknowledge(20, 2)) == [Receipt(delivered: 2)])
    #expect(receipts(acknowledge(10, 2)) == [])
    #expect(receipts(acknowledge(10, 2, read: 2)) == [Receipt(delivered: 2, read: 2)])
    #expect(receipts(acknowledge(20, 2, read: 2)) == [])
    _ = home.command(10, .post(child: PersonID(3), .sealed([])))
    #expect(receipts(acknowledge(20, 3, read: 3)) == [])
    guard case .attached(let channels, _) = home.reply(30, .attach([])) else { return }
    #expect(channels[1].receipt == Receipt(delivered: 3, read: 3))
  }

  @Test(
    "M4: an answer implies the receipt of its question; later messages have their own"
  )
  mutating func answered() {
    _ = home.ask(RelayMachineFixture.question(1))
    _ = home.command(20, .answer(RelayMachineFixture.question(1).id, choice: "approve"))
    func receipts(_ effects: [RelayMachine.Effect]) -> Int {
      effects.count { if case .broadcast(_, _, _, .receipt) = $0 { true } else { false } }
    }
    #expect(receipts(acknowledge(20, 3, read: 3)) == 0)
    _ = home.command(30, .post(child: PersonID(3), .sealed([1])))
    #expect(receipts(acknowledge(20, 4)) == 1)
    // The answer covers the question, but no later message of the child.
    _ = home.ask(RelayMachineFixture.question(2))
    _ = home.command(30, .post(child: PersonID(3), .sealed([1])))
    _ = home.command(10, .answer(RelayMachineFixture.question(2).id, choice: "approve"))
    #expect(receipts(acknowledge(20, 7, read: 7)) == 1)
  }

  @Test(
    "A3: an unnumbered command gets a reply only if it is repeated or refused")
  mutating func requestZero() {
    let post = Request.command(
      CommandID(high: 9, low: 1), .post(child: PersonID(3), .sealed([1])))
    func effects(_ request: Request) -> [RelayMachine.Effect] {
      home.relay.step(
        .request(
          RelayMachineFixture.address(30), key: RelayMachineFixture.key(30), administrator: false,
          id: 0, request),
        now: home.now)
    }
    func replies(_ effects: [RelayMachine.Effect]) -> [Reply] {
      effects.compactMap { if case .reply(_, 0, let reply) = $0 { reply } else { nil } }
    }
    let first = effects(post)
    #expect(replies(first) == [])
    #expect(first.contains { if case .broadcast(_, _, _, .event) = $0 { true } else { false } })
    #expect(replies(effects(post)) == [.accepted(CommandID(high: 9, low: 1), seq: 2)])
    let refused = Request.command(
      CommandID(high: 9, low: 2), .setLimits(child: PersonID(3), on: true))
    #expect(replies(effects(refused)) == [.refused(CommandID(high: 9, low: 2), .notPermitted)])
  }

  @Test("M5: cursors move only forward, and only in the device's audiences")
  mutating func cursors() {
    _ = home.ask(RelayMachineFixture.question(1))
    let device = DeviceID(20)
    #expect(
      acknowledge(20, 2, read: 99).first
        == .cursor(RelayMachineFixture.id, device, Cursor(conversation, delivered: 2, read: 2)))
    #expect(acknowledge(20, 1) == [])
    #expect(acknowledge(40, 2) == [])
    #expect(acknowledge(50, 2) == [])
    #expect(home.reply(40, .fetch(conversation, after: 0)) == .failed(.notPermitted))
  }

  @Test("R1: a cursor beyond the head confirms no event, because its history is lost")
  mutating func lostHistory() {
    for device: UInt32 in [10, 20] { attach(device) }
    _ = home.ask(RelayMachineFixture.question(1))
    _ = acknowledge(10, 2)
    #expect(acknowledge(20, 3) == [])
    // The device attached before the relay lost its events, and the request arrives late.
    let late = [Cursor(.family, delivered: 1), Cursor(conversation, delivered: 3)]
    _ = home.send(10, .attach(late))
    _ = home.send(20, .attach(late))
    var republished = 0
    for _ in 0..<3 {
      for device: UInt32 in [10, 20] { _ = home.send(device, .ping) }
      republished += timer().count { if case .republish = $0 { true } else { false } }
    }
    #expect(republished > 0)
    for device: UInt32 in [10, 20] {
      #expect(home.reply(device, .ping) != .pong)
      _ = acknowledge(device, 2)
      #expect(home.reply(device, .ping) == .pong)
    }
  }

  @Test("M5: a device that was offline fetches the events that it missed") mutating func fetch() {
    _ = home.ask(RelayMachineFixture.question(1))
    let effects = home.send(20, .fetch(conversation, after: 0))
    guard case .page(RelayMachineFixture.address(20), _, conversation, 0, 2) = effects.first else {
      Issue.record("\(effects)")
      return
    }
  }

  @Test("R1: republishes events that an attached device has not acknowledged, with growing delays")
  mutating func republish() {
    #expect(timer() == [])
    for device: UInt32 in [10, 30] { attach(device) }
    _ = home.ask(RelayMachineFixture.question(1))
    _ = acknowledge(30, 2)
    var times = [home.now]
    for _ in 0..<9 {
      _ = home.send(10, .ping)
      let effects = timer()
      times.append(home.now)
      #expect(
        effects == [
          .republish(RelayMachineFixture.id, generation: 0, conversation, 2)
        ])
    }
    let waits = zip(times.dropFirst(), times).map { $0 - $1 }
    #expect(waits.map(\.count) == [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
    _ = home.send(10, .ping)
    _ = acknowledge(10, 2)
    #expect(timer() == [])
    #expect(home.relay.deadline == nil)
  }

  /// Lets device 30 post every 100 ms and fires the timers on the way.
  ///
  /// - Returns: The sequence numbers of the republished events.
  private mutating func post(for duration: Milliseconds) -> [UInt64] {
    let end = home.now + duration
    var republished: [UInt64] = []
    while home.now < end {
      let next = home.now + .milliseconds(100)
      while let deadline = home.relay.deadline, deadline <= next {
        for effect in timer() {
          if case .republish(_, _, _, let seq) = effect { republished.append(seq) }
        }
      }
      home.now = next
      _ = home.command(30, .post(child: PersonID(3), .sealed([1])))
      _ = acknowledge(30, home.log.last!.seq)
      _ = home.send(10, .ping)
    }
    return republished
  }

  @Test("R1, R5: new events do not hasten the republishes for a device that lags")
  mutating func republishUnderTraffic() {
    for device: UInt32 in [10, 30] { attach(device) }
    let slow = post(for: .seconds(60))
    // 250 ms, then twice as long each time, up to 30 s.
    #expect((6...8).contains(slow.count), "\(slow)")
    // A device that has caught up and loses an event later gets that event soon.
    _ = acknowledge(10, home.log.last!.seq)
    _ = timer()
    #expect(home.relay.deadline == nil)
    _ = home.command(30, .post(child: PersonID(3), .sealed([1])))
    let lost = home.log.last!.seq
    _ = acknowledge(30, lost)
    let sent = home.now
    #expect(timer() == [.republish(RelayMachineFixture.id, generation: 0, conversation, lost)])
    #expect(home.now - sent == DeliveryTracker.firstRepublishDelay)
  }

  @Test("R1: a republish is one event, which shows a device its gap")
  mutating func newest() {
    _ = timer()
    attach(10)
    for _ in 0..<40 { _ = home.command(30, .post(child: PersonID(3), .sealed([1]))) }
    #expect(timer() == [.republish(RelayMachineFixture.id, generation: 0, conversation, 2)])
    // The next one shows the gap up to the head of the last check.
    #expect(timer() == [.republish(RelayMachineFixture.id, generation: 0, conversation, 41)])
  }

  @Test("R1, T5: an attachment corrects an acknowledgement of events that the device lacks")
  mutating func corrected() {
    attach(10)
    _ = home.ask(RelayMachineFixture.question(1))
    _ = acknowledge(10, 2, read: 2)
    #expect(timer() == [])
    _ = acknowledge(10, 1)
    #expect(timer() == [])
    let cursor = Cursor(conversation, delivered: 0)
    let effects = home.send(10, .attach([cursor]))
    #expect(effects.contains(.cursor(RelayMachineFixture.id, DeviceID(10), cursor)))
    #expect(timer().contains { if case .republish = $0 { true } else { false } })
  }

  @Test("R1: an event younger than the delay is not late") mutating func young() {
    attach(10)
    _ = home.ask(RelayMachineFixture.question(1))
    home.now = home.now + .milliseconds(249)
    _ = acknowledge(10, 2)
    _ = home.ask(RelayMachineFixture.question(2))
    #expect(timer() == [])
    #expect(timer().count == 1)
  }

  @Test("R1: a silent device becomes absent, and nothing is republished for it")
  mutating func silence() {
    attach(10)
    _ = home.ask(RelayMachineFixture.question(1))
    var count = 0
    while home.relay.deadline != nil, count < 100 {
      _ = timer()
      count += 1
    }
    #expect(count < 10)
    // Its next request attaches it again, also after the family was evicted.
    home.relay.evict(RelayMachineFixture.id)
    home.relay.load(RelayMachineFixture.id, events: home.log, cursors: [], now: home.now)
    _ = home.send(10, .ping)
    #expect(timer().contains { if case .republish = $0 { true } else { false } })
  }

  @Test("M5: a ping returns the heads to a late device, and a pong to others")
  mutating func latePing() {
    _ = timer()
    attach(10)
    _ = home.ask(RelayMachineFixture.question(1))
    #expect(home.reply(10, .ping) == .attached(home.channels(10), at: home.now))
    _ = acknowledge(10, 2)
    #expect(home.reply(10, .ping) == .pong)
  }

  @Test("R1: without attached devices there is no timer") mutating func nobody() {
    _ = home.ask(RelayMachineFixture.question(1))
    #expect(timer() == [])
    #expect(home.relay.deadline == nil)
  }
}
