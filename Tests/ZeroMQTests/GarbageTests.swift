import Testing

@testable import ZeroMQ

@Suite("Invalid bytes on the ports")
struct GarbageTests {
  /// A seeded generator, so that a failure can be replayed.
  private struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return z ^ (z >> 31)
    }
  }

  @Test("random bytes, broken greetings and HTTP over plain TCP do not disturb clients")
  func garbage() async throws {
    let relay = try TestRelay()
    defer { relay.thread.stop() }
    let endpoints = try await relay.start(topics: ["topic".bytes])
    var random = Generator(state: 1)
    let greeting =
      [0xFF, 0, 0, 0, 0, 0, 0, 0, 1, 0x7F, 3, 0] + "CURVE".bytes
      + [UInt8](repeating: 0, count: 47)
    for round in 0..<20 {
      let noise = (0..<Int.random(in: 0..<600, using: &random)).map { _ in
        UInt8.random(in: .min ... .max, using: &random)
      }
      let bytes =
        switch round % 4 {
        case 0: noise
        case 1: greeting + noise
        case 2: greeting + [4, 200, 5] + "HELLO".bytes + noise
        default: "GET / HTTP/1.1\r\nHost: x\r\n\r\n".bytes + noise
        }
      try sendRaw(bytes, to: round % 2 == 0 ? endpoints.router : endpoints.broadcasts)
    }
    let context = try Context()
    var options = SocketOptions()
    options.security = .client(try .generate(), server: relay.keys.publicKey)
    let dealer = try Socket(.dealer, in: context, options: options)
    try dealer.connect(endpoints.router)
    try #expect(dealer.send(["alive".bytes]) == .sent)
    try #expect(dealer.next() == ["alive".bytes])
    #expect(await relay.userIDs.count == 1)
  }
}
