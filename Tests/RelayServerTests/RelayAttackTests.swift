import RelayServer
import Credentials
import RelayFixture
import FamilyModel
import RelayWire
import Testing
import ZeroMQ

@Suite(.serialized, .timeLimit(.minutes(10))) struct RelayAttackTests {
  /// Whether a well-formed request is answered.
  private func isAlive(_ peer: Peer) throws -> Bool {
    let id = CommandID.next
    guard case .accepted(id, _) = try peer.post("alive", id: id) else { return false }
    return true
  }

  @Test("X2: malformed messages on the request socket are counted and answered with a problem")
  func badRequests() async throws {
    let fixture = try await RelayFixture()
    let pairs = try fixture.createFamily(1)
    let good = try fixture.peer(1, 30, pairs[30])
    let bad = try fixture.peer(1, 30, pairs[30])
    let body = Envelope(device: good.address, requestID: 7, request: .ping).encode()
    func answer(_ frames: [[UInt8]]) throws -> Reply? {
      try bad.sendRaw(frames)
      return try bad.receive()?.reply
    }
    #expect(try answer([[], []]) == .failed(.unsupportedVersion))
    #expect(try answer([[], Array("GET / HTTP/1.1".utf8)]) == .failed(.malformed))
    #expect(try answer([body]) == .failed(.malformed))
    #expect(try answer([[1], body]) == .failed(.malformed))
    #expect(try answer([[], body, []]) == .failed(.malformed))
    #expect(try answer(Array(repeating: [1], count: 12)) == .failed(.malformed))
    // Field 1 is the version.
    #expect(try answer([[], [8, 99]]) == .failed(.unsupportedVersion))
    #expect(try answer([[], [8, 1]]) == .failed(.unknownRequest))
    var source = IDSource(seed: 5)
    var count = await fixture.service.counters.malformed
    #expect(count == 8)
    for length in 0..<200 {
      let cut = Array(body.prefix(length % body.count))
      let noise = (0..<length).map { _ in UInt8(truncatingIfNeeded: source.next()) }
      for frame in [cut, noise] { #expect(try answer([[], frame]) != nil) }
    }
    count = await fixture.service.counters.malformed
    #expect(count > 300)
    #expect(try isAlive(good))
    try await fixture.stop()
  }

  @Test("X2: an oversized frame disconnects only its sender") func tooLarge()
    async throws
  {
    let fixture = try await RelayFixture()
    let pairs = try fixture.createFamily(1)
    let (good, bad) = (try fixture.peer(1, 30, pairs[30]), try fixture.peer(1, 30, pairs[30]))
    try bad.sendRaw([[], Array(repeating: 1, count: Limits.frameBytes + 1)])
    #expect(try bad.receive(within: .milliseconds(300)) == nil)
    #expect(try isAlive(good))
    try await fixture.stop()
  }

  @Test("F3: a subscription to a prefix or a foreign inbox delivers nothing")
  func foreignSubscriptions() async throws {
    let fixture = try await RelayFixture()
    let (pairs, others) = (try fixture.createFamily(1), try fixture.createFamily(2))
    let (guardian, child) = (try fixture.peer(1, 10, pairs[10]), try fixture.peer(1, 30, pairs[30]))
    try guardian.attach()
    let topic = guardian.inbox!.bytes
    let eavesdroppers = [
      try fixture.peer(2, 10, others[10]), try fixture.peer(1, 40, pairs[40]),
      try fixture.peer(9, 9, nil),
    ]
    for peer in eavesdroppers {
      for wanted in [[], Array(topic.prefix(1)), Array(topic.prefix(3)), topic, topic + [0]] {
        try peer.subscribe(wanted)
      }
    }
    #expect(try await poll { await fixture.service.counters.refusedSubscriptions >= 15 })
    // A member of another family subscribes to its own inbox, and asks for the guardian's.
    let neighbour = try fixture.peer(2, 30, others[30])
    try neighbour.attach()
    #expect(neighbour.inbox != guardian.inbox)
    #expect(try neighbour.broadcast() != nil)
    try neighbour.subscribe(topic)
    #expect(try await poll { await fixture.service.counters.refusedSubscriptions >= 16 })
    for number in 0..<20 { _ = try child.post("\(number)") }
    #expect(try guardian.event() != nil)
    for peer in eavesdroppers {
      #expect(try peer.broadcast(within: .milliseconds(100)) == nil)
      #expect(peer.unopenedCount == 0)
    }
    while try neighbour.broadcast(within: .milliseconds(100)) != nil {}
    #expect(neighbour.unopenedCount == 0)
    try await fixture.stop()
  }

  @Test("X2: malformed messages on the broadcast socket are counted and disturb nothing")
  func badBroadcasts() async throws {
    let fixture = try await RelayFixture()
    let pairs = try fixture.createFamily(1)
    let attacker = try Attacker(fixture)
    var source = IDSource(seed: 6)
    for length in 0..<300 {
      let noise = (0..<length).map { _ in UInt8(truncatingIfNeeded: source.next()) }
      try attacker.send(length % 3 == 0 ? [noise, noise] : [noise])
    }
    try attacker.send([Array(repeating: 7, count: Limits.frameBytes + 1)])
    #expect(try await poll { await fixture.service.counters.unexpectedMessages >= 100 })
    let (guardian, child) = (try fixture.peer(1, 10, pairs[10]), try fixture.peer(1, 30, pairs[30]))
    try guardian.attach()
    #expect(try guardian.broadcast() != nil)
    #expect(try isAlive(child))
    #expect(try guardian.event() != nil)
    try await fixture.stop()
  }

  @Test(
    "X3: shifted subscription approvals reveal nothing to an attacker, and the victims recover"
  )
  func pipeShifting() async throws {
    let fixture = try await RelayFixture()
    let pairs = try fixture.createFamily(1)
    let child = try fixture.peer(1, 30, pairs[30])
    let attackers = try (0..<4).map { _ in try Attacker(fixture) }
    var sent = 0
    var guardians: [Peer] = []
    for round in 0..<30 {
      for attacker in attackers {
        for _ in 0..<20 { try attacker.send([[9]]) }
        try attacker.send([[1, UInt8(round)]])
      }
      let guardian = try fixture.peer(1, 10, pairs[10])
      try guardian.attach()
      guardians.append(guardian)
      for attacker in attackers { for _ in 0..<20 { try attacker.send([[9]]) } }
      _ = try child.post("secret \(round)")
      sent += 1
    }
    let conversation = Audience.conversation(PersonID(3))
    let topic = guardians[0].channels[conversation]!.topic
    let key = [UInt8](repeating: 0, count: 32)
    for attacker in attackers {
      for frames in try attacker.received() {
        // Sealed bytes may arrive, but cannot be opened without the key.
        #expect(ChannelCipher.open(frames.last ?? [], topic: topic, key: key) == nil)
        #expect(!frames.joined().contains(Array("secret".utf8)))
      }
    }
    // The victims miss nothing, whichever subscriptions were approved: the reply to a ping contains
    // the heads.
    var expected = await fixture.service.counters.subscriptions
    for guardian in guardians.suffix(5) {
      guard case .attached(let channels, _) = try guardian.ask(.ping),
        let channel = channels.first(where: { $0.audience == conversation })
      else {
        Issue.record("the reply to a late device's ping has no heads")
        return
      }
      #expect(channel.head == UInt64(sent) + 1)
      #expect(try guardian.texts().count == sent)
      // Agents resubscribe then: libzmq does not send a subscription that it counts already.
      try guardian.resubscribe()
      expected += 1
    }
    #expect(try await poll { await fixture.service.counters.subscriptions >= expected })
    _ = try child.post("after the attack")
    for guardian in guardians.suffix(5) { #expect(try guardian.receives(seq: UInt64(sent) + 2)) }
    #expect(await fixture.service.counters.unexpectedMessages > 0)
    try await fixture.stop()
  }
}

/// An XSUB socket, which can send arbitrary messages to the broadcast socket.
final class Attacker {
  private let socket: Socket

  init(_ fixture: RelayFixture) throws {
    var options = SocketOptions()
    options.security = .client(try .generate(), server: fixture.keys.keys.publicKey)
    options.maximumMessageSize = 8 << 20
    options.sendHighWaterMark = 100_000
    let context = try Context()
    let socket = try Socket(.xsub, in: context, options: options)
    var monitor = try Monitor(socket, in: context)
    try socket.connect(fixture.broadcasts)
    var isConnected = false
    while !isConnected, try monitor.socket.waitUntilReadable(within: patience) {
      _ = try monitor.drain { if $0.kind == .handshakeSucceeded { isConnected = true } }
    }
    self.socket = socket
  }

  func send(_ frames: [[UInt8]]) throws { _ = try socket.send(frames) }

  func received() throws -> [[[UInt8]]] {
    var all: [[[UInt8]]] = []
    while try socket.waitUntilReadable(within: .milliseconds(100)),
      let message = try socket.receive()
    {
      all.append(message.allBytes)
    }
    return all
  }
}

extension Sequence where Element == UInt8 {
  fileprivate func contains(_ pattern: [UInt8]) -> Bool {
    let all = Array(self)
    guard all.count >= pattern.count else { return false }
    return (0...all.count - pattern.count).contains {
      all[$0..<$0 + pattern.count].elementsEqual(pattern)
    }
  }
}
