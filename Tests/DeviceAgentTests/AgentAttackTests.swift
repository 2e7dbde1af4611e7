@testable import DeviceAgent
@testable import Credentials
import FamilyCore
import RelayFixture
import FamilyModel
import FamilyTrust
import RelayWire
import Testing
import ZeroMQ

@Suite(.serialized, .timeLimit(.minutes(10))) struct AgentAttackTests {
  private let attach = AppRequest.attach(app: AgentFixture.app, applied: 0).encode()

  /// Whether the reply accepts the attach; the position is arbitrary.
  private func isAttached(_ reply: AppReply?) -> Bool {
    if case .attached = reply { true } else { false }
  }

  @Test("X2: malformed messages of an app are counted, answered with a problem, and stall nothing")
  func badApp() async throws {
    let fixture = try await AgentFixture()
    let bad = try fixture.app()
    func answer(_ body: [UInt8]) throws -> AppReply? {
      _ = try bad.socket.send([[], body])
      return try bad.appReply()
    }
    #expect(try answer([]) == .failed(.unsupportedVersion))
    #expect(try answer([8, 99]) == .failed(.unsupportedVersion))
    #expect(try answer(Array("GET / HTTP/1.1".utf8)) == .failed(.malformed))
    var source = IDSource(seed: 11)
    for length in 0..<200 {
      let noise = (0..<length).map { _ in UInt8(truncatingIfNeeded: source.next()) }
      guard case .failed? = try answer(noise) else {
        Issue.record("noise was decoded")
        break
      }
    }
    for parts in [1, 3, 12] { _ = try bad.socket.send(Array(repeating: [1], count: parts)) }
    #expect(try await fixture.counters { $0.unusableAppMessages == 206 })
    #expect(isAttached(try answer(attach)))
    await fixture.stop()
  }

  @Test("X2: an app that sends an oversized frame is disconnected and can reconnect")
  func largeApp() async throws {
    let fixture = try await AgentFixture()
    let bad = try fixture.app()
    _ = try bad.socket.send([[], [UInt8](repeating: 1, count: Limits.frameBytes + 1)])
    #expect(try bad.receive(.milliseconds(300)) == nil)
    let good = try fixture.app()
    _ = try good.socket.send([[], attach])
    #expect(isAttached(try good.appReply()))
    await fixture.stop()
  }

  @Test("T9: an app that floods its device is refused soon; another app is served at once")
  func flood() async throws {
    let fixture = try await AgentFixture()
    let hostile = try fixture.app()
    let other = try fixture.app(as: AgentFixture.otherApp)
    var limited = 0
    for number in 0..<UInt64(10_000) {
      let question = Question(
        id: QuestionID(high: 7, low: number),
        topic: .communication(
          people: [Subject(handle: Handle("p\(number)", .custom))], actions: .chat))
      _ = try hostile.socket.send([[], AppRequest.ask(question, .choose).encode()])
      guard case .asked(question.id, .refused(let problem))? = try hostile.appReply() else {
        Issue.record("question \(number) has no answer")
        break
      }
      if problem == .appLimit { limited += 1 }
    }
    // A slow machine gives the app more time, and with it more questions.
    #expect(limited > 5_000)
    _ = try other.socket.send([[], attach])
    #expect(isAttached(try other.appReply()))
    #expect(try await fixture.counters { $0.refusedAppRequests == limited })
    await fixture.stop()
  }

  @Test("T9: an app's connections above the limit are closed; another app keeps its own")
  func connections() async throws {
    let fixture = try await AgentFixture()
    let other = try fixture.app(as: AgentFixture.otherApp)
    _ = try other.socket.send([[], AppRequest.ping.encode()])
    #expect(try other.appReply() == .pong)
    var hostile: [Client] = []
    for _ in 0..<4 * Limits.appConnections {
      let client = try fixture.app()
      _ = try client.socket.send([[], AppRequest.ping.encode()])
      _ = try client.appReply()
      hostile.append(client)
    }
    #expect(await fixture.host.closedAppConnections >= 3 * Limits.appConnections)
    _ = try other.socket.send([[], AppRequest.ping.encode()])
    #expect(try other.appReply() == .pong)
    await fixture.stop()
  }

  @Test("K4: a client without an installed app's key gets nothing from the device")
  func stranger() async throws {
    let fixture = try await AgentFixture()
    let stranger = try fixture.app(.generate())
    _ = try? stranger.socket.send([[], attach])
    #expect(try stranger.receive(.milliseconds(500)) == nil)
    await fixture.stop()
  }

  @Test("X2: unusable replies and broadcasts of a relay are counted and stall nothing")
  func badRelay() async throws {
    let fixture = try await AgentFixture()
    guard let (route, first) = try fixture.request() else {
      Issue.record("the device does not attach")
      return
    }
    var source = IDSource(seed: 12)
    for length in 0..<100 {
      let noise = (0..<length).map { _ in UInt8(truncatingIfNeeded: source.next()) }
      _ = try fixture.router.send([route, [], noise])
    }
    for parts in [1, 3, 12] {
      _ = try fixture.router.send([route] + Array(repeating: [1], count: parts))
    }
    // A reply to a device of another host.
    let other = DeviceAddress(family: FamilyID(1), device: DeviceID(4))
    let foreign = ReplyEnvelope(device: other, requestID: first.requestID, reply: .pong)
    _ = try fixture.router.send([route, [], foreign.encode()])
    #expect(try await fixture.counters { $0.unusableReplies == 104 })

    let topic = [UInt8](repeating: 7, count: 16)
    var channel = Channel(audience: .family, generation: 0, head: 0)
    channel.topic = topic
    channel.key = [UInt8](repeating: 9, count: 32)
    try fixture.answer((route, first), .attached([channel]))
    #expect(try fixture.publisher.waitUntilReadable(within: patience))
    let inbox = AgentFixture.inbox.bytes
    for length in 0..<100 {
      let noise = (0..<length).map { _ in UInt8(truncatingIfNeeded: source.next()) }
      _ = try fixture.publisher.send([inbox, [16] + topic + noise])
    }
    let sealed = ChannelCipher.seal([1, 2, 3], topic: topic, key: channel.key)
    _ = try fixture.publisher.send([inbox, [16] + topic + sealed])
    // Frames that are shorter than their topic, and one of an unknown channel.
    for frame in [[], [0], [0, 1], [1], [255, 1, 2], [3, 1, 2, 3] + sealed] {
      _ = try fixture.publisher.send([inbox, frame])
    }
    _ = try fixture.publisher.send([inbox])
    #expect(try await fixture.counters { $0.unusableBroadcasts == 108 })

    // The device still decodes valid broadcasts and fetches missing events.
    let head = Broadcast.head(.family, seq: 5).encode()
    let frame = SealedBroadcast(
      topic: topic, sealed: ChannelCipher.seal(head, topic: topic, key: channel.key))
    _ = try fixture.publisher.send([inbox, frame.frame])
    #expect(try fixture.nextFetch()?.audience == .family)
    await fixture.stop()
  }

  @Test(
    "X3: an agent rejects a roster and an approval that the relay forged, and reports both")
  func disbelieves() async throws {
    let fixture = try await AgentFixture()
    guard let first = try fixture.request() else {
      Issue.record("the device does not attach")
      return
    }
    let conversation = Audience.conversation(PersonID(3))
    try fixture.answer(
      first,
      .attached([
        Channel(audience: .family, generation: 0, head: 1),
        Channel(audience: conversation, generation: 0, head: 2),
      ]))
    let relayOwn = DeviceKeys()
    let roster = Roster(
      persons: [
        Person(id: PersonID(1), role: .organizer, displayName: "Mallory"),
        Person(id: PersonID(3), role: .child, displayName: "Emily"),
      ],
      devices: [
        Device(
          id: DeviceID(1), person: PersonID(1), publicKey: Array(repeating: 1, count: 32),
          keys: relayOwn)
      ])
    let signature = Signature(
      signer: DeviceID(1), basedOnSeq: 0, bytes: KeyVault(relayOwn).sign([1, 2, 3]))
    func event(_ seq: UInt64, _ audience: Audience, _ body: Event.Body) throws -> Event {
      let event = Event(
        seq: seq, previous: 0, audience: audience, command: .next, device: DeviceID(1),
        at: Instant(milliseconds: 1), body: body, signature: signature)
      var sent = try Event.decode(event.encode())
      sent.hash = sent.hash(after: ChainHash(), in: FamilyID(1), digest: KeyVault.digest)
      return sent
    }
    let made: [Audience: Event] = [
      .family: try event(1, .family, .rosterChanged(roster)),
      conversation: try event(
        2, conversation,
        .contactChanged(child: PersonID(3), .contact(Handle("mallory", .custom), known: true))),
    ]
    var left = Set(made.keys)
    while !left.isEmpty, let (next, audience) = try fixture.nextFetch() {
      try fixture.answer(next, .page(audience, [made[audience]!], more: false))
      left.remove(audience)
    }
    #expect(left.isEmpty)
    #expect(try await fixture.counters { $0.rejectedEvents == 2 })
    let status = await fixture.host.status.devices[0]
    #expect(status.disbelieved == 2 && status.known.values.allSatisfy(\.isEmpty))
    await fixture.stop()
  }

  @Test("X2: after an oversized frame libzmq gives up, and the device reconnects")
  func reconnects() async throws {
    let fixture = try await AgentFixture()
    guard let first = try fixture.request() else {
      Issue.record("the device does not attach")
      return
    }
    let large = [UInt8](repeating: 1, count: Limits.frameBytes + 1)
    _ = try fixture.router.send([first.route, [], large])
    while let next = try fixture.request() {
      if next.route == first.route { continue }
      #expect(next.envelope.request == .attach([]))
      await fixture.stop()
      return
    }
    Issue.record("the device does not reconnect")
    await fixture.stop()
  }

  @Test("M5: a device that misses broadcasts subscribes again")
  func resubscribes() async throws {
    let fixture = try await AgentFixture()
    guard let first = try fixture.request() else {
      Issue.record("the device does not attach")
      return
    }
    var channel = Channel(audience: .family, generation: 0, head: 0)
    channel.topic = [UInt8](repeating: 7, count: 16)
    channel.key = [UInt8](repeating: 9, count: 32)
    try fixture.answer(first, .attached([channel]))
    let topic = AgentFixture.inbox.subscription
    #expect(try fixture.subscription() == [1] + topic)
    // The relay sends this reply to the ping of a device that lags behind.
    try fixture.answer(first, .attached([channel]))
    #expect(try fixture.subscription() == [0] + topic)
    #expect(try fixture.subscription() == [1] + topic)
    // A relay that has restarted names another inbox.
    let other = Inbox(process: 9, number: 1)
    try fixture.answer(first, .attached([channel]), inbox: other)
    #expect(try fixture.subscription() == [0] + topic)
    #expect(try fixture.subscription() == [1] + other.subscription)
    await fixture.stop()
  }
}

extension AgentHost {
  fileprivate var closedAppConnections: Int { apps?.connections.closedConnections ?? 0 }
}

extension AgentFixture {
  typealias Asked = (route: [UInt8], envelope: Envelope)

  /// The next fetch. Skips other requests, because a device retries after a late reply.
  func nextFetch() throws -> (request: Asked, audience: Audience)? {
    while let next = try request() {
      if case .fetch(let audience, _) = next.envelope.request { return (next, audience) }
    }
    return nil
  }

  static let inbox = Inbox(process: 8, number: 1)

  func answer(_ request: Asked, _ reply: Reply, inbox: Inbox = AgentFixture.inbox) throws {
    var envelope = ReplyEnvelope(
      device: request.envelope.device, requestID: request.envelope.requestID, reply: reply)
    if case .attached = reply { envelope.inbox = inbox }
    _ = try router.send([request.route, [], envelope.encode()])
  }

  /// The next subscription (1) or unsubscription (0), with the topic.
  func subscription() throws -> [UInt8]? {
    guard try publisher.waitUntilReadable(within: patience) else { return nil }
    return try publisher.receive()?.bytes(0)
  }
}
