import FamilyModel
import Testing

@testable import FamilyCore

@Suite struct RateLimitTests {
  private let size = TokenBucket.Size(burst: 10, perSecond: 2)

  @Test("X2: a token bucket allows its burst at once, then its rate, and never more than the burst")
  func bucket() {
    var bucket = TokenBucket()
    var now = Instant(milliseconds: 5_000)
    func spend() -> Bool {
      guard bucket.delay(of: 1, of: size, now: now) == .zero else { return false }
      bucket.spend(1, of: size, now: now)
      return true
    }
    #expect((0..<20).count { _ in spend() } == 10)
    #expect(bucket.delay(of: 1, of: size, now: now) == .milliseconds(500))
    now = now + .milliseconds(499)
    #expect(!spend())
    now = now + .milliseconds(1)
    #expect(spend() && !spend())
    now = now + .hours(1)
    #expect((0..<20).count { _ in spend() } == 10)
    // A clock that is set back refills nothing, and blocks no later refill.
    now = now - .hours(1)
    #expect(!spend())
    now = now + .milliseconds(3_600_500)
    #expect(spend())
  }

  @Test(
    "X2: a device above its rate limit waits; other devices and the administrator do not"
  )
  func device() throws {
    var home = RelayMachineFixture()
    func ping(_ device: UInt32) -> Problem? {
      if case .failed(let problem) = home.reply(device, .ping) { problem } else { nil }
    }
    let answers = (0..<10_000).map { _ in ping(30) }
    #expect(answers.count { $0 == nil } == Int(RateLimits.device.burst))
    let problem = try #require(answers.last ?? nil)
    #expect(problem.code == 502 && problem.retryAfter > .zero)
    let command = Command.post(child: PersonID(3), .sealed([]))
    #expect(home.command(30, command) == .failure(.tooFast(retryAfter: problem.retryAfter * 2)))
    #expect(ping(31) == nil)
    for _ in 0..<10_000 { #expect(ping(0) == nil) }
    home.now = home.now + .seconds(1)
    #expect(ping(30) == nil)
  }

  @Test("X2: all devices of a family share the family's rate limit") func family() {
    var limits = RateLimits()
    let taken = (0..<100).reduce(0) { sum, device in
      sum
        + (0..<2_000).count { _ in
          limits.spend(1, of: DeviceID(device), now: RelayMachineFixture.start) == nil
        }
    }
    #expect(taken == Int(RateLimits.family.burst))
  }

  @Test("X2: the rate limit admits a full outbox and a guardian's whole history at once")
  func normal() {
    var home = RelayMachineFixture()
    for _ in 0..<Limits.outbox {
      let post = Command.post(child: PersonID(3), .sealed(Array(repeating: 0, count: 4_000)))
      guard case .success = home.command(30, post) else {
        Issue.record("the rate limit refused a full outbox")
        return
      }
    }
    for audience in 0..<UInt32(2 * Limits.persons) {
      let fetch = Request.fetch(.conversation(PersonID(audience)), after: 0)
      #expect(home.reply(10, fetch) != .failed(.tooFast(retryAfter: .milliseconds(1))))
    }
    #expect(home.reply(10, .ping) != nil)
  }

  @Test(
    "X2: a request that reads the log costs tokens by its length, up to half of the burst")
  func reading() {
    let events: [UInt64] = [0, 64, 1_000, 100_000, .max - 20]
    #expect(events.map { RateLimits.cost(ofPageIn: $0) } == [0, 2, 31, 3_125, 4_096])
    // The burst covers all pages of a long history, but not repeated reads of all of it.
    var home = RelayMachineFixture()
    for number in 0..<1_024 {
      if number % 100 == 0 { home.now = home.now + .seconds(10) }
      _ = home.command(30, .post(child: PersonID(3), .sealed([])))
    }
    func pages(after: UInt64) -> Int {
      (0..<1_000).count { _ in
        let fetch = Request.fetch(.conversation(PersonID(3)), after: after)
        let effects = home.send(11, fetch)
        return effects.contains { if case .page = $0 { true } else { false } }
      }
    }
    #expect(pages(after: 0) == Int(RateLimits.device.burst) / (16 + 32))
    home.now = home.now + .minutes(1)
    #expect(pages(after: 1_024) == Int(RateLimits.device.burst) / 16)
  }

  @Test("X2: reads of the store are limited for unknown keys, not for identified ones")
  func strangers() {
    var limit = UnprovenReadLimit()
    limit.recordRead(for: [1], isRefused: false, now: RelayMachineFixture.start)
    let reads = (0..<10_000).count { _ in
      guard limit.mayRead([2], now: RelayMachineFixture.start) else { return false }
      limit.recordRead(for: [2], isRefused: true, now: RelayMachineFixture.start)
      return true
    }
    #expect(reads == Int(UnprovenReadLimit.reads.burst))
    #expect(limit.mayRead([1], now: RelayMachineFixture.start))
    #expect(!limit.mayRead([3], now: RelayMachineFixture.start))
    #expect(limit.mayRead([3], now: RelayMachineFixture.start + .seconds(1)))
  }

  @Test("O4: a request costs what its bytes and its parts cost the relay")
  func prices() {
    let id = CommandID(high: 1, low: 1)
    func cost(_ command: Command, heads: Int = 0) -> Int64 {
      let head = AudienceHead(.family, ChainPosition(seq: 1))
      let known = Knowledge(heads: Array(repeating: head, count: heads))
      let signature = Signature(
        signer: DeviceID(1), knowing: known, bytes: [UInt8](repeating: 0, count: 64))
      return RateLimits.cost(of: .command(id, command, signature))
    }
    let megabyte = Content.sealed([UInt8](repeating: 0, count: Limits.contentBytes))
    #expect(cost(.post(child: PersonID(3), megabyte)) == 2 + Int64(Limits.contentBytes / 4_096))
    #expect(cost(.post(child: PersonID(3), .sealed([1]))) == 2)
    let devices = (1...UInt32(Limits.devices)).map {
      let key = [UInt8](repeating: 0, count: 32)
      return Device(
        id: DeviceID($0), person: PersonID(1), publicKey: key, signingKey: key, agreementKey: key)
    }
    #expect(cost(.setRoster(Roster(persons: [], devices: devices))) == 2 + 28)
    #expect(cost(.beat, heads: Limits.audienceHeads) == 2 + 1)
    let cursors = (0..<UInt32(Limits.audienceHeads)).map {
      Cursor(.conversation(PersonID($0)), delivered: 1)
    }
    #expect(RateLimits.cost(of: .acknowledge(cursors)) == 1 + 16)
    #expect(RateLimits.cost(of: .acknowledge(Array(cursors.prefix(5)))) == 1)
    #expect(RateLimits.cost(of: .attach(cursors)) == 8 + 16)
  }

  @Test("O4: the bytes of a page are charged after its read, as much as those of a command")
  func pageBytes() {
    var home = RelayMachineFixture()
    func fetches(chargedBy bytes: Int) -> Int {
      (0..<1_000).count { _ in
        let fetch = Request.fetch(.conversation(PersonID(3)), after: 1_000)
        let isServed = home.send(30, fetch).contains {
          if case .page = $0 { true } else { false }
        }
        if isServed {
          home.relay.charge(
            pageBytes: bytes, to: RelayMachineFixture.address(30), now: home.now)
        }
        return isServed
      }
    }
    // Small pages cost the base price only.
    #expect(fetches(chargedBy: 64 << 10) == Int(RateLimits.device.burst) / 16)
    home.now = home.now + .hours(1)
    #expect(fetches(chargedBy: Limits.pageBytes) <= 1 + (32 << 20) / Limits.pageBytes)
    let fetch = home.send(31, .fetch(.conversation(PersonID(3)), after: 1_000))
    #expect(fetch.contains { if case .page = $0 { true } else { false } })
  }
}
