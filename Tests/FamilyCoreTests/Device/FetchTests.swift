import FamilyCore
import FamilyModel
import Testing

@Suite struct FetchTests {
  private let conversation = Audience.conversation(World.emily)

  private func event(_ seq: UInt64, after previous: UInt64) -> Event {
    Event(
      seq: seq, previous: previous, audience: conversation, command: ID128(high: 1, low: seq),
      device: DeviceID(1), at: Instant(milliseconds: 0),
      body: .posted(child: World.emily, .text("\(seq)")))
  }

  /// A child's device whose cursor is at event 5.
  private func device(_ now: Instant) -> ChildMachine {
    var device = ChildMachine(
      DeviceAddress(family: World.family, device: DeviceID(3)), of: World.emily, apps: [],
      ids: IDSource(seed: 1))
    _ = device.step(.connected, now: now)
    _ = device.step(.reply(1, .attached([])), now: now)
    _ = device.step(.broadcast(.event(event(5, after: 0))), now: now)
    return device
  }

  private func fetches(_ effects: [DeviceEffect]) -> [UInt64] {
    effects.compactMap { if case .send(let id, .fetch) = $0 { id } else { nil } }
  }

  @Test("X2: refetches events that the relay lost, with growing delays")
  func lost() {
    var now = Instant(milliseconds: 0)
    var device = device(now)
    // The relay was restored from a backup that ends with event 2, and has appended events since.
    let page = Reply.page(conversation, [event(6, after: 2)], more: false)
    var asked = fetches(device.step(.broadcast(.event(event(6, after: 2))), now: now))
    #expect(asked.count == 1)
    var times: [Instant] = []
    while now < Instant(milliseconds: 300_000), times.count < 1_000 {
      if let id = asked.popLast() {
        times.append(now)
        asked = fetches(device.step(.reply(id, page), now: now))
      } else {
        now = max(now + .milliseconds(1), device.deadline ?? now)
        let effects = device.step(.timer, now: now)
        for case .send(let id, .ping) in effects { _ = device.step(.reply(id, .pong), now: now) }
        asked = fetches(effects)
      }
      // Another broadcast reveals the same gap and changes nothing.
      asked += fetches(device.step(.broadcast(.event(event(7, after: 6))), now: now))
    }
    let waits = zip(times.dropFirst(), times).map { ($0 - $1).count }
    #expect(waits.prefix(7) == [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
    #expect(times.count < 20)
  }

  @Test("M5: fetches page after page without delay until no event is missing")
  func pages() {
    let now = Instant(milliseconds: 0)
    var device = device(now)
    var asked = fetches(device.step(.broadcast(.event(event(9, after: 8))), now: now))
    for seq: UInt64 in 6...9 {
      #expect(asked.count == 1)
      let page = Reply.page(conversation, [event(seq, after: seq - 1)], more: seq < 9)
      asked = fetches(device.step(.reply(asked.last ?? 0, page), now: now))
    }
    #expect(asked.isEmpty)
    #expect(device.conversation?.lines.map(\.seq) == [5, 6, 7, 8, 9])
  }

  @Test("X2: a page that arrives after its time-out is applied, and the next one may take as long")
  func latePages() {
    var now = Instant(milliseconds: 0)
    var device = device(now)
    // The relay answers each request after six seconds.
    var outstanding = fetches(device.step(.broadcast(.event(event(9, after: 8))), now: now))
      .map { (id: $0, at: now) }
    var count = 1
    while device.conversation?.lines.last?.seq != 9, now < Instant(milliseconds: 60_000) {
      let reply = outstanding.first.map { $0.at + .seconds(6) } ?? now + .seconds(60)
      now = min(reply, max(now + .milliseconds(1), device.deadline ?? reply))
      var effects: [DeviceEffect]
      if now == reply {
        let next = (device.conversation?.lines.last?.seq ?? 0) + 1
        let page = Reply.page(conversation, [event(next, after: next - 1)], more: next < 9)
        effects = device.step(.reply(outstanding.removeFirst().id, page), now: now)
      } else {
        effects = device.step(.timer, now: now)
        for case .send(let id, .ping) in effects { _ = device.step(.reply(id, .pong), now: now) }
      }
      let asked = fetches(effects)
      count += asked.count
      outstanding += asked.map { ($0, now) }
    }
    #expect(device.conversation?.lines.map(\.seq) == [5, 6, 7, 8, 9])
    // Four pages of six seconds each, and few repetitions.
    #expect(now <= Instant(milliseconds: 45_000) && count <= 12, "\(now), \(count) requests")
  }

  @Test("X2: an older page does not end a repeated request, whose page has newer events")
  func olderPage() throws {
    var now = Instant(milliseconds: 0)
    var device = device(now)
    let first = try #require(
      fetches(device.step(.broadcast(.event(event(8, after: 7))), now: now)).first)
    var again: UInt64?
    while again == nil {
      now = try #require(device.deadline)
      again = fetches(device.step(.timer, now: now)).first
    }
    #expect(fetches(device.step(.broadcast(.event(event(9, after: 8))), now: now)).isEmpty)
    let older = Reply.page(conversation, (6...8).map { event($0, after: $0 - 1) }, more: false)
    _ = device.step(.reply(first, older), now: now)
    let newer = Reply.page(conversation, (6...9).map { event($0, after: $0 - 1) }, more: false)
    _ = device.step(.reply(try #require(again), newer), now: now)
    #expect(device.conversation?.lines.map(\.seq) == [5, 6, 7, 8, 9])
  }

  @Test("X2: a page that was written before an event that the device received is not the last one")
  func overtakenPage() throws {
    let now = Instant(milliseconds: 0)
    var device = device(now)
    let first = try #require(
      fetches(device.step(.broadcast(.event(event(7, after: 6))), now: now)).first)
    #expect(fetches(device.step(.broadcast(.event(event(9, after: 8))), now: now)).isEmpty)
    #expect(fetches(device.step(.broadcast(.head(conversation, seq: 8)), now: now)).isEmpty)
    let page = Reply.page(conversation, (6...7).map { event($0, after: $0 - 1) }, more: false)
    let second = try #require(fetches(device.step(.reply(first, page), now: now)).first)
    // A relay that no longer has the event is asked once, not for ever.
    #expect(
      fetches(device.step(.reply(second, .page(conversation, [], more: false)), now: now)).isEmpty)
    #expect(fetches(device.step(.timer, now: now + .seconds(10))).isEmpty)
    let third = try #require(
      fetches(device.step(.broadcast(.event(event(9, after: 8))), now: now)).first)
    let rest = Reply.page(conversation, (8...9).map { event($0, after: $0 - 1) }, more: false)
    #expect(fetches(device.step(.reply(third, rest), now: now)).isEmpty)
    #expect(device.conversation?.lines.map(\.seq) == [5, 6, 7, 8, 9])
  }

  @Test("X2: a head that the device lacks makes it fetch; a head that it has does not")
  func head() {
    let now = Instant(milliseconds: 0)
    var device = device(now)
    #expect(fetches(device.step(.broadcast(.head(conversation, seq: 5)), now: now)).isEmpty)
    #expect(fetches(device.step(.broadcast(.head(conversation, seq: 6)), now: now)).count == 1)
  }

  @Test("X2: a repeated event is acknowledged again, not fetched")
  func repeated() {
    let now = Instant(milliseconds: 0)
    var device = device(now)
    let effects = device.step(.broadcast(.event(event(5, after: 0))), now: now)
    #expect(fetches(effects).isEmpty)
    let cursors = effects.flatMap { effect -> [Cursor] in
      if case .send(_, .acknowledge(let cursors)) = effect { cursors } else { [] }
    }
    #expect(cursors.map(\.delivered) == [5])
    #expect(device.conversation?.lines.map(\.seq) == [5])
  }

  @Test("X3: ends a page before the request that removes its reader in the same batch")
  func upTo() {
    let events = [event(5, after: 0), event(6, after: 5), event(8, after: 6)]
    #expect(
      Reply.page(conversation, events, more: true, upTo: 7)
        == .page(conversation, Array(events[..<2]), more: false))
    #expect(
      Reply.page(conversation, events, more: true, upTo: 9)
        == .page(conversation, events, more: true))
    var home = RelayMachineFixture()
    _ = home.command(30, .post(child: PersonID(3), .sealed([1])))
    let effects = home.send(31, .fetch(.conversation(PersonID(3)), after: 0))
    #expect(
      effects.contains { if case .page(_, _, _, 0, upTo: 2) = $0 { true } else { false } })
  }
}

@Suite struct PingTests {
  @Test(
    "pings every 10 to 20 minutes if the host announces presence, every 15 s otherwise")
  func ping() {
    func pings(_ hostAnnouncesPresence: Bool) -> [Milliseconds] {
      var device = ChildMachine(
        DeviceAddress(family: World.family, device: DeviceID(3)), of: World.emily, apps: [],
        hostAnnouncesPresence: hostAnnouncesPresence, ids: IDSource(seed: 1))
      var now = Instant(milliseconds: 0)
      var times = [now]
      _ = device.step(.connected, now: now)
      _ = device.step(.reply(1, .attached([])), now: now)
      while times.count < 6, let deadline = device.deadline {
        now = deadline
        for case .send(let id, .ping) in device.step(.timer, now: now) {
          times.append(now)
          _ = device.step(.reply(id, .pong), now: now)
        }
      }
      return zip(times.dropFirst(), times).map { $0 - $1 }
    }
    #expect(pings(false) == Array(repeating: .seconds(15), count: 5))
    let seldom = pings(true)
    #expect(seldom.count == 5 && seldom.allSatisfy { (.minutes(10) ..< .minutes(20)).contains($0) })
    #expect(Set(seldom).count > 1)
  }
}
