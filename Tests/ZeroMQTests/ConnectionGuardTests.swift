import Testing

@testable import ZeroMQ

/// A guard beside connections of the kernel.
@Suite struct ConnectionGuardTests {
  /// An XPUB with its guard.
  private final class Publisher {
    let context: Context
    let xpub: Socket
    let endpoint: String
    var guarding: ConnectionGuard

    init() throws {
      let context = try Context()
      var options = SocketOptions()
      options.xpubManual = true
      let xpub = try Socket(.xpub, in: context, options: options)
      let bytes = ConnectionLimits.Bytes(burst: 1 << 30, perSecond: 1 << 30)
      let guarding = try ConnectionGuard(
        xpub, in: context,
        limits: ConnectionLimits(
          connections: 10_000, proven: bytes, unproven: bytes, unprovenTimeout: timeout,
          queues: QueueLimits()))
      endpoint = try xpub.bindToFreePort()
      self.context = context
      self.xpub = consume xpub
      self.guarding = consume guarding
    }

    /// A subscriber whose subscription the guard has recorded.
    func subscriber(to topic: [UInt8]) throws -> Socket {
      let subscriber = try Socket(.sub, in: context)
      try subscriber.subscribe(topic)
      try subscriber.connect(endpoint)
      var gate = SubscriptionGate()
      var descriptor: Int32?
      try eventually {
        _ = try gate.drain(xpub) { event in
          descriptor = event.descriptor
          return event.topic
        }
        return descriptor != nil
      }
      guarding.recordSubscription(of: descriptor, to: topic)
      return subscriber
    }
  }

  private let stopped = "stopped".bytes
  private let other = "other".bytes

  @Test("O4: peers that do not read cost the subscribers of other topics no broadcast")
  func otherTopics() throws {
    let publisher = try Publisher()
    let first = try publisher.subscriber(to: stopped)
    let second = try publisher.subscriber(to: other)
    // More than the total.
    publisher.guarding.recordPublished(300 << 20, on: stopped)
    publisher.guarding.recordPublished(64 << 10, on: other)
    let isDropped = !publisher.guarding.mayPublish(on: stopped)
    let mayPublish = publisher.guarding.mayPublish(on: other)
    #expect(isDropped && mayPublish)
    // The kernel is idle, so the bytes do not wait for this connection.
    try eventually { publisher.guarding.mayPublish(on: stopped) }
    #expect(try first.isSilent() && second.isSilent())
  }

  @Test("O4: a subscriber's broadcasts count, however many connections opened before its own")
  func manyEvents() throws {
    let publisher = try Publisher()
    for _ in 0..<1_100 { try sendRaw([], to: publisher.endpoint, untilClosed: false) }
    let subscriber = try publisher.subscriber(to: other)
    for _ in 0..<10 { try publisher.guarding.drain() }
    publisher.guarding.recordPublished(100, on: other)
    let unsent = publisher.guarding.unsent
    #expect(unsent == 100)
    #expect(try subscriber.isSilent())
  }
}
