import Testing

@testable import ZeroMQ

@Suite("XPUB in manual mode")
struct SubscriptionTests {
  private let context: Context
  private let mine = [UInt8](repeating: 1, count: 16)
  private let foreign = [UInt8](repeating: 2, count: 16)

  init() throws {
    context = try Context()
  }

  private func makeXPUB() throws -> Socket {
    var options = SocketOptions()
    options.xpubManual = true
    return try Socket(.xpub, in: context, options: options)
  }

  @Test("only exact topics are approved; wildcards, prefixes and foreign topics receive nothing")
  func exactTopicsOnly() async throws {
    let relay = try TestRelay()
    defer { relay.thread.stop() }
    let endpoint = try await relay.start(topics: [mine]).broadcasts
    var options = SocketOptions()
    options.security = .client(try .generate(), server: relay.keys.publicKey)
    let honest = try Socket(.sub, in: context, options: options)
    try honest.connect(endpoint)
    try honest.subscribe(mine)
    let greedy = try Socket(.sub, in: context, options: options)
    try greedy.connect(endpoint)
    for topic in [[], [1], Array(mine.prefix(8)), foreign, mine + [0]] {
      try greedy.subscribe(topic)
    }
    try await eventually { await relay.subscriptions.count == 6 }
    try await relay.publish([mine, "a".bytes])
    try await relay.publish([foreign, "b".bytes])
    try await relay.publish([mine, "c".bytes])
    try #expect(honest.next() == [mine, "a".bytes])
    try #expect(honest.next() == [mine, "c".bytes])
    // The first message that the greedy client receives.
    try greedy.subscribe(mine)
    try await eventually { await relay.subscriptions.count == 7 }
    try await relay.publish([mine, "last".bytes])
    try #expect(greedy.next() == [mine, "last".bytes])
    try #expect(honest.next() == [mine, "last".bytes])
  }

  @Test("O7: a peer is subscribed to the approved topic, which need not be the requested one")
  func otherTopic() throws {
    let xpub = try makeXPUB()
    var gate = SubscriptionGate()
    let endpoint = try xpub.bindToFreePort()
    let first = try Socket(.sub, in: context)
    let second = try Socket(.sub, in: context)
    try first.subscribe([1])
    try first.connect(endpoint)
    try second.subscribe([1])
    try second.connect(endpoint)
    var count: UInt8 = 0
    try eventually {
      _ = try gate.drain(xpub) { _ in
        count += 1
        return [1, count]
      }
      return count == 2
    }
    let topics: [[UInt8]] = [[1], [1, 1], [1, 2], [2]]
    for topic in topics { #expect(try xpub.send([topic, topic]) == .sent) }
    let received = [try first.next(), try second.next()]
    #expect(Set(received) == [[[1, 1], [1, 1]], [[1, 2], [1, 2]]])
    #expect(try first.isSilent() && second.isSilent())
  }

  @Test("a disconnecting peer is reported without a user id")
  func gone() throws {
    let xpub = try makeXPUB()
    var gate = SubscriptionGate()
    let sub = try Socket(.sub, in: context)
    try sub.subscribe(mine)
    try sub.connect(xpub.bindToFreePort())
    var events: [SubscriptionEvent] = []
    try eventually {
      _ = try gate.drain(xpub) {
        events.append($0)
        return $0.topic
      }
      return events.count == 1
    }
    sub.close()
    try eventually {
      _ = try gate.drain(xpub) {
        events.append($0)
        return $0.topic
      }
      return events.count == 2
    }
    #expect(events.map(\.kind) == [.subscribe, .unsubscribe])
    #expect(events.map(\.topic) == [mine, mine])
  }

  @Test("after a foreign message nothing is approved until the queue is empty")
  func foreignMessages() throws {
    let xpub = try makeXPUB()
    let endpoint = try xpub.bindToFreePort()
    let intruder = try Socket(.xsub, in: context)
    try intruder.connect(endpoint)
    try #expect(intruder.send(["noise".bytes]) == .sent)
    try #expect(intruder.send([[1] + foreign]) == .sent)
    try #require(try xpub.waitUntilReadable(within: timeout))
    let victim = try Socket(.sub, in: context)
    try victim.subscribe(mine)
    try victim.connect(endpoint)

    var gate = SubscriptionGate()
    var events: [SubscriptionEvent] = []
    try eventually {
      _ = try gate.drain(xpub, limit: 1) {
        events.append($0)
        return $0.topic
      }
      return events.contains { $0.topic == foreign }
    }
    #expect(events[0].kind == .foreign)
    #expect(events[0].topic == "noise".bytes)
    #expect(!events[1].isApprovable)
    // Once the queue has been empty, subscriptions are approved again.
    try eventually { try !gate.drain(xpub) { $0.topic } }
    try intruder.sendSubscription(to: mine)
    try eventually {
      _ = try gate.drain(xpub) {
        events.append($0)
        return $0.topic
      }
      return events.last?.topic == mine
    }
    #expect(events.last?.isApprovable == true)
  }

  @Test("a subscription of several parts is foreign")
  func severalParts() throws {
    let xpub = try makeXPUB()
    let intruder = try Socket(.xsub, in: context)
    try intruder.connect(xpub.bindToFreePort())
    try #expect(intruder.send(["x".bytes, [1] + mine]) == .sent)
    var gate = SubscriptionGate()
    var kinds: [SubscriptionEvent.Kind] = []
    try eventually {
      _ = try gate.drain(xpub) {
        kinds.append($0.kind)
        return $0.topic
      }
      return !kinds.isEmpty
    }
    #expect(kinds == [.foreign])
  }
}

extension Socket {
  /// XSUB sends a subscription as a message.
  fileprivate func sendSubscription(to topic: [UInt8]) throws {
    #expect(try send([[1] + topic]) == .sent)
  }
}
