import Testing

@testable import ZeroMQ

/// The subscribers whose bytes a guard counts.
@Suite struct SubscriberTests {
  @Test("O4: a topic has all of its open connections, and a connection one topic") func topics() {
    var table = SubscriberTable()
    let (first, second): ([UInt8], [UInt8]) = ([1], [2])
    for descriptor: Int32 in [5, 6, 5] { table.subscribe(descriptor, to: first) }
    #expect(table[first] == [5, 6] && table[second].isEmpty)
    table.subscribe(5, to: second)
    #expect(table[first] == [6] && table[second] == [5])
    table.remove(6)
    table.remove(7)
    #expect(table[first].isEmpty && table[second] == [5])
    // The kernel reuses a descriptor.
    table.subscribe(6, to: second)
    #expect(table[second] == [5, 6])
  }

  @Test("O4: a full subscriber is reported, and the subscribers of other topics receive everything")
  func fullQueue() throws {
    var options = SocketOptions()
    (options.xpubManual, options.xpubReportsFullQueues) = (true, true)
    options.sendHighWaterMark = 10
    let context = try Context()
    let (full, other) = ("full".bytes, "other".bytes)
    let xpub = try Socket(.xpub, in: context, options: options)
    let endpoint = try xpub.bindToFreePort()
    var gate = SubscriptionGate()
    options = SocketOptions()
    options.receiveHighWaterMark = 1
    let stopped = try Socket(.sub, in: context, options: options)
    let reader = try Socket(.sub, in: context)
    try stopped.subscribe(full)
    try reader.subscribe(other)
    try stopped.connect(endpoint)
    try reader.connect(endpoint)
    var approved = 0
    try eventually {
      _ = try gate.drain(xpub) { event in
        approved += 1
        return event.topic
      }
      return approved == 2
    }
    let bytes = [UInt8](repeating: 7, count: 64 << 10)
    var sent = 0
    try eventually {
      let result = try xpub.send([full, bytes])
      sent += result == .sent ? 1 : 0
      return result == .full
    }
    for number in 0..<20 {
      // The reader's queue is full, too, until libzmq knows that it has read.
      try eventually { try xpub.send([other, [UInt8(number)]]) == .sent }
      #expect(try reader.next() == [other, [UInt8(number)]])
    }
    // No message that was reported as sent is missing.
    for _ in 0..<sent { #expect(try stopped.next().count == 2) }
    #expect(try stopped.isSilent())
  }
}
