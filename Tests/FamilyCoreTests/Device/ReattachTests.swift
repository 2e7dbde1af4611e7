import FamilyCore
import FamilyModel
import Testing

@Suite struct ReattachTests {
  private func attachments(_ effects: [DeviceEffect]) -> [UInt64] {
    effects.compactMap { if case .send(let id, .attach) = $0 { id } else { nil } }
  }

  @Test("M5: requests the channels of new audiences until the relay answers")
  func lost() throws {
    var now = Instant(milliseconds: 0)
    var device = ChildMachine(
      DeviceAddress(family: World.family, device: DeviceID(3)), of: World.emily, apps: [],
      ids: IDSource(seed: 1))
    _ = device.step(.connected, now: now)
    _ = device.step(.reply(1, .attached([])), now: now)
    let roster = Event(
      seq: 1, previous: 0, audience: .family, command: ID128(high: 1, low: 1), device: DeviceID(1),
      at: now, body: .rosterChanged(World.roster))
    var requests = attachments(device.step(.broadcast(.event(roster)), now: now))
    #expect(requests.count == 1)
    // The relay refuses for now, or a proxy loses the request. Pings go through.
    while now < Instant(milliseconds: 20_000) {
      now = max(now + .milliseconds(1), device.deadline ?? now)
      let effects = device.step(.timer, now: now)
      for case .send(let id, .ping) in effects { _ = device.step(.reply(id, .pong), now: now) }
      requests += attachments(effects)
    }
    #expect(requests.count > 3)
    let last = try #require(requests.last)
    #expect(device.step(.reply(last, .attached([])), now: now).isEmpty == false)
    now = now + .seconds(14)
    #expect(attachments(device.step(.timer, now: now)).isEmpty)
  }

  /// The time from a relay's refusal of an attachment to the next one, and the requests until then.
  private func wait(_ problem: Problem, seed: UInt64) throws -> (Milliseconds, repeated: Int) {
    let start = Instant(milliseconds: 1_000_000)
    var device = ChildMachine(
      DeviceAddress(family: World.family, device: DeviceID(3)), of: World.emily, apps: [],
      ids: IDSource(seed: seed))
    let first = try #require(attachments(device.step(.connected, now: start)).first)
    _ = device.step(.reply(first, .failed(problem)), now: start)
    // A repeated refusal, such as that of an earlier attachment, changes nothing.
    _ = device.step(.reply(first + 7, .failed(problem)), now: start)
    var now = start
    var sent: [UInt64] = []
    while sent.isEmpty, now < start + .minutes(5) {
      now = max(now + .milliseconds(1), device.deadline ?? now)
      sent = attachments(device.step(.timer, now: now))
    }
    return (now - start, sent.count)
  }

  @Test("O8: a device attaches again when the relay says, once, and with jitter")
  func paced() throws {
    var waits: Set<Milliseconds> = []
    for seed in 1...UInt64(20) {
      let problem = Problem(code: Problem.overloaded.code, retryAfter: .seconds(12))
      let (wait, repeated) = try wait(problem, seed: seed)
      #expect((.seconds(12) ... .seconds(15)).contains(wait) && repeated == 1)
      waits.insert(wait)
    }
    #expect(waits.count > 10)
    // No relay postpones a device for long, and one without a time changes no time-out.
    let far = Problem(code: Problem.overloaded.code, retryAfter: .minutes(600))
    #expect(try wait(far, seed: 1).0 <= Timing.longestPostponement + .seconds(15))
    #expect(try wait(.overloaded, seed: 1).0 == Timing.firstRequestTimeout)
  }

  @Test("O8: devices whose attachments time out do not repeat them together")
  func jitter() {
    var times: [Int: Set<Instant>] = [:]
    for seed in 1...UInt64(40) {
      var device = ChildMachine(
        DeviceAddress(family: World.family, device: DeviceID(3)), of: World.emily, apps: [],
        ids: IDSource(seed: seed))
      var now = Instant(milliseconds: 0)
      _ = device.step(.connected, now: now)
      for attempt in 1...5 {
        now = max(now + .milliseconds(1), device.deadline ?? now)
        while attachments(device.step(.timer, now: now)).isEmpty {
          now = max(now + .milliseconds(1), device.deadline ?? now)
        }
        times[attempt, default: []].insert(now)
      }
    }
    #expect(times[1]?.count == 1 && (times[5]?.count ?? 0) > 30)
  }

  @Test("O8: an attachment after a lost connection renews the subscriptions")
  func resubscribes() throws {
    var device = ChildMachine(
      DeviceAddress(family: World.family, device: DeviceID(3)), of: World.emily, apps: [],
      ids: IDSource(seed: 1))
    let now = Instant(milliseconds: 0)
    var renewed: [Bool] = []
    for _ in 0..<2 {
      let id = try #require(attachments(device.step(.connected, now: now)).first)
      for case .listen(_, let resubscribes) in device.step(.reply(id, .attached([])), now: now) {
        renewed.append(resubscribes)
      }
      _ = device.step(.disconnected, now: now)
    }
    #expect(renewed == [false, true])
  }
}
