import Testing

@testable import ZeroMQ

@Suite("Message")
struct MessageTests {
  @Test("keeps small bytes inside and large bytes outside of the value")
  func bytes() {
    for size in [0, 1, 33, 34, 300, 100_000] {
      let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
      let message = Message(bytes)
      // The macro cannot borrow a noncopyable value.
      let (count, read, more, userID) = (
        message.count, message.bytes, message.more, message.userID
      )
      #expect(count == size)
      #expect(read == bytes)
      #expect(!more)
      #expect(userID == nil)
    }
  }

  @Test("is filled in place")
  func fill() {
    let message = Message(size: 40) { buffer in
      for index in buffer.indices { buffer[index] = UInt8(index) }
    }
    #expect(message.bytes == (0..<40).map { UInt8($0) })
  }

  @Test("is freed when `fill` throws")
  func fillThrows() {
    struct Refused: Error {}
    #expect(throws: Refused.self) {
      _ = try Message(size: 1_000) { (_) throws(Refused) in throw Refused() }
    }
  }

  @Test("a copy shares the bytes and outlives the original")
  func copy() {
    var copies = 0
    let bytes = [UInt8](repeating: 7, count: 5_000)
    let copy = copyOutOf(bytes, &copies)
    #expect(copy.bytes == bytes)
    #expect(copies == 1)
  }

  private func copyOutOf(_ bytes: [UInt8], _ sameAddress: inout Int) -> Message {
    var original = Message(bytes)
    let copy = original.copy()
    let first = original.withBytes { $0.baseAddress }
    if copy.withBytes({ $0.baseAddress }) == first { sameAddress += 1 }
    return copy
  }

  @Test("one payload is sent to many peers")
  func payloadToMany() throws {
    let context = try Context()
    let router = try Socket(.router, in: context)
    try router.bind("inproc://many")
    let clients = try ClientPair(context)
    try #expect(clients.first.send(["hello".bytes]) == .sent)
    try #expect(clients.second.send(["hello".bytes]) == .sent)
    let identities = [try router.next()[0], try router.next()[0]]

    var payload = Message([UInt8](repeating: 9, count: 300))
    for identity in identities {
      try #expect(router.send([identity], payload.copy()) == .sent)
    }
    try #expect(clients.first.next() == [[UInt8](repeating: 9, count: 300)])
    try #expect(clients.second.next() == [[UInt8](repeating: 9, count: 300)])
  }

  private struct ClientPair: ~Copyable {
    let first: Socket
    let second: Socket

    init(_ context: Context) throws {
      let first = try Socket(.dealer, in: context)
      try first.connect("inproc://many")
      let second = try Socket(.dealer, in: context)
      try second.connect("inproc://many")
      self.first = first
      self.second = second
    }
  }
}
