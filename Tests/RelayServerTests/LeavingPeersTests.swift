import FamilyModel
import RelayFixture
import RelayServer
import RelayWire
import Testing
import ZeroMQ

/// Peers that leave a relay with many subscribers, over real sockets.
///
/// Scale: 250 subscribers of 6 channels each, for 5,000 of 5. When any peer leaves, libzmq walks
/// the trees of all topics. The test counts their slots, because times depend on the machine.
@Suite(.serialized, .timeLimit(.minutes(10))) struct LeavingPeersTests {
  private static let families: ClosedRange<UInt64> = 2...251
  private static let leavers = 10

  /// The slots that libzmq visits in a tree of these topics. Each prefix of a topic is a node, with
  /// a slot for each value from the lowest next byte to the highest one.
  private static func slots(of topics: some Sequence<[UInt8]>) -> Int {
    var nodes: [ArraySlice<UInt8>: ClosedRange<UInt8>] = [:]
    for topic in topics {
      for (index, byte) in topic.enumerated() {
        let range = nodes[topic[..<index]] ?? byte...byte
        nodes[topic[..<index]] = min(range.lowerBound, byte)...max(range.upperBound, byte)
      }
    }
    return nodes.values.reduce(0) { $0 + $1.count }
  }

  @Test("O7: a leaving peer costs one slot for each subscriber, however many channels those read")
  func slots() async throws {
    _ = ConnectionGuard.descriptors()
    let (fixture, pairs, organizers) = try await RelayFixture.withFamilies(Self.families)
    let context = try Context()
    let subscribers = try Self.families.map { family in
      let peer = try fixture.peer(family, 10, organizers[family], in: context)
      try peer.attach()
      #expect(try peer.broadcast() != nil && peer.channels.count >= 5)
      return peer
    }
    let count = subscribers.count
    #expect(await fixture.service.counters.subscriptions == count)
    // The relay approves the inbox in place of the requested topic, and libzmq keeps both.
    let requested = Self.slots(of: subscribers.map { $0.inbox!.subscription })
    let approved = Self.slots(of: subscribers.map { $0.inbox!.bytes })
    #expect(requested == Inbox.processBytes && (count...count + 20).contains(approved))
    let channels = subscribers.flatMap { $0.channels.values.map(\.topic) }
    #expect(Self.slots(of: channels) > 20 * approved, "the count shows the cost of channels")

    try await leave(fixture, pairs, channels, beside: subscribers)
    // The subscriptions of the others are still there.
    _ = try fixture.peer(Self.families.upperBound, 30, pairs[30]).post("at the end")
    #expect(try subscribers[count - 1].receives(seq: 2))
    let counters = await fixture.service.counters
    #expect(counters.subscriptions - counters.refusedSubscriptions == count + Self.leavers)
    #expect(counters.closedConnections == 0)
    for subscriber in subscribers { #expect(try subscriber.takeFailures().handshakes == 0) }
    try await fixture.stop()
  }

  /// Lets peers without a subscription, with refused ones, and with an approved one come and leave.
  /// Subscribers ping the relay meanwhile.
  private func leave(
    _ fixture: RelayFixture, _ pairs: [UInt32: CurveKeyPair], _ channels: [[UInt8]],
    beside subscribers: [Peer]
  ) async throws {
    let service = fixture.service
    for number in 0..<Self.leavers {
      let refused = await service.counters.refusedSubscriptions
      do {
        let silent = try fixture.peer(1, 9, nil)
        #expect(try silent.ask(.ping) == .failed(.notEnrolled))
        let greedy = try fixture.peer(1, 9, nil)
        for topic in channels[number * 5..<number * 5 + 5] { try greedy.subscribe(topic) }
        let member = try fixture.peer(1, 10, pairs[10])
        try member.attach()
        #expect(try member.broadcast() != nil)
        #expect(try await poll { await service.counters.refusedSubscriptions == refused + 5 })
        withExtendedLifetime((silent, greedy, member)) {}
      }
      for subscriber in subscribers[number * 5..<number * 5 + 5] {
        #expect(try subscriber.ask(.ping) != nil)
      }
    }
    let isAlone = try await poll {
      service.requestTurn()
      return service.meter.statistics().levels.broadcastConnections == subscribers.count
    }
    #expect(isAlone)
  }
}
