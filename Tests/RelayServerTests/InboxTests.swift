import FamilyModel
import RelayFixture
import RelayServer
import RelayWire
import Testing
import ZeroMQ

/// The inboxes of hosts over real sockets.
@Suite(.serialized, .timeLimit(.minutes(10))) struct InboxTests {
  /// The families of the host with many devices. The host reads four audiences of each.
  private static let families: UInt64 = 3_000
  /// Families that are founded together.
  private static let batch = 50

  @Test("O7: a host that reads 12,000 channels has one subscription")
  func channels() async throws {
    // libzmq visits each subscription of a publisher when any peer leaves. With a topic for each
    // channel, a peer that left took the relay 75 ms.
    let fixture = try await RelayFixture(maxFamilies: 10_000, wakeThreshold: 48)
    let before = await fixture.service.counters.subscriptions
    let host = try await host(fixture)
    #expect(await fixture.service.counters.subscriptions - before == 1)
    _ = try host.post("at the end", child: 3)
    #expect(try host.event() != nil)
    try await fixture.stop()
  }

  @Test("O7: a relay answers while peers come, are refused a subscription, and leave")
  func leaving() async throws {
    let fixture = try await RelayFixture()
    let pairs = try fixture.createFamily(2)
    let other = try fixture.peer(2, 30, pairs[30])
    for _ in 0..<10 {
      let refused = await fixture.service.counters.refusedSubscriptions
      let peer = try fixture.peer(1, 9, nil)
      try peer.subscribe([1, 2, 3])
      #expect(try await poll { await fixture.service.counters.refusedSubscriptions > refused })
      #expect(try other.ask(.ping) != nil)
    }
    try await fixture.stop()
  }

  /// Attaches an organizer's devices with one key in many families, and subscribes.
  private func host(_ fixture: RelayFixture) async throws -> Peer {
    let keys = try CurveKeyPair.generate()
    let roster = Roster(
      persons: [
        Person(id: PersonID(1), role: .organizer, displayName: "P1"),
        Person(id: PersonID(3), role: .child, displayName: "P3"),
      ],
      devices: [
        Device(id: DeviceID(10), person: PersonID(1), publicKey: keys.publicKey.bytes)
      ])
    let administrator = try fixture.peer(1, 0, fixture.administrator.keys)
    let host = try fixture.peer(Self.families, 10, keys)
    for reply in try askEach(administrator, as: 0, { .command(.next, .setRoster(roster), nil) }) {
      guard case .accepted = reply.reply else { throw Unexpected(reply: reply.reply) }
    }
    var inboxes: Set<Inbox> = []
    for envelope in try askEach(host, as: 10, { .attach([]) }) {
      guard case .attached(let channels, _) = envelope.reply, channels.count == 4,
        let inbox = envelope.inbox
      else { throw Unexpected(reply: envelope.reply) }
      inboxes.insert(inbox)
    }
    #expect(inboxes.count == 1)
    try host.attach()
    #expect(try host.broadcast() != nil)
    return host
  }

  /// Sends a request in the name of each family, ``batch`` at once. A relay that is busy with other
  /// tests refuses some, which are sent again.
  ///
  /// - Returns: The last reply of each family.
  private func askEach(_ peer: Peer, as device: UInt32, _ request: () -> Request) throws
    -> [ReplyEnvelope]
  {
    var waiting = Array(1...Self.families)
    var replies: [ReplyEnvelope] = []
    let end = MonotonicInstant.now + patience * 5
    while !waiting.isEmpty {
      let batch = waiting.suffix(Self.batch)
      waiting.removeLast(batch.count)
      for family in batch { try peer.sendRaw([[], envelope(request(), device, in: family)]) }
      for _ in batch {
        guard let reply = try peer.receive() else { throw Unexpected(reply: nil) }
        if case .failed(let problem) = reply.reply, problem.retryAfter > .zero,
          MonotonicInstant.now < end
        {
          waiting.append(reply.requestID)
        } else {
          replies.append(reply)
        }
      }
    }
    return replies
  }

  private func envelope(_ request: Request, _ device: UInt32, in family: UInt64) -> [UInt8] {
    let address = DeviceAddress(family: FamilyID(family), device: DeviceID(device))
    return Envelope(device: address, requestID: family, request: request).encode()
  }

  private struct Unexpected: Error { let reply: Reply? }

  @Test("O7, F3: hosts of one key share an inbox, and every other key has its own")
  func shared() async throws {
    let fixture = try await RelayFixture()
    let pairs = try fixture.createFamily(1)
    let (first, second) = (try fixture.peer(1, 10, pairs[10]), try fixture.peer(1, 10, pairs[10]))
    let child = try fixture.peer(1, 30, pairs[30])
    for peer in [first, second, child] {
      try peer.attach()
      #expect(try peer.broadcast() != nil)
    }
    #expect(first.inbox == second.inbox && child.inbox != first.inbox)
    _ = try child.post("hello")
    for peer in [first, second] { #expect(try peer.receives(seq: 2)) }
    try await fixture.stop()
  }

  @Test("O7: a restarted relay names another inbox, and refuses the subscription to the old one")
  func restarted() async throws {
    let fixture = try await RelayFixture()
    let pairs = try fixture.createFamily(1)
    let guardian = try fixture.peer(1, 10, pairs[10])
    try guardian.attach()
    let old = try #require(guardian.inbox)
    try await fixture.stop()
    let next = try await RelayFixture(in: fixture.folder)
    let (again, child) = (try next.peer(1, 10, pairs[10]), try next.peer(1, 30, pairs[30]))
    try again.subscribe(old.subscription)
    #expect(try await poll { await next.service.counters.refusedSubscriptions > 0 })
    try again.attach()
    #expect(again.inbox?.subscription != old.subscription)
    #expect(try again.broadcast() != nil)
    _ = try child.post("after the restart")
    #expect(try again.receives(seq: 2))
    try await next.stop()
  }

  @Test("O7: a device whose key lost its inbox at the limit becomes late, and gets another one")
  func evicted() async throws {
    let fixture = try await RelayFixture(adjust: { $0.pipeline.maxInboxes = 1 })
    let pairs = try fixture.createFamily(1)
    let (guardian, child) = (try fixture.peer(1, 10, pairs[10]), try fixture.peer(1, 30, pairs[30]))
    try guardian.attach()
    let old = try #require(guardian.inbox)
    #expect(try guardian.broadcast() != nil)
    try child.attach()
    _ = try child.post("lost")
    // The device is late after a delivery check.
    #expect(
      try await poll {
        if case .attached = try guardian.ask(.ping) { true } else { false }
      })
    #expect(guardian.inbox != nil && guardian.inbox != old)
    try guardian.resubscribe()
    #expect(try guardian.receives(seq: 2))
    try await fixture.stop()
  }
}
