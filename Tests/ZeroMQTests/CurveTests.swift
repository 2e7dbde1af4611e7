import Testing

@testable import ZeroMQ

@Suite("CURVE keys")
struct CurveKeyTests {
  @Test("a key survives encoding as Z85, and a secret has one public key")
  func roundTrip() throws {
    let pair = try CurveKeyPair.generate()
    #expect(try CurveKeyPair.generate() != pair)
    #expect(pair.publicKey.z85.utf8.count == 40)
    #expect(CurvePublicKey(z85: pair.publicKey.z85) == pair.publicKey)
    #expect(CurveKeyPair(secretZ85: pair.secretZ85) == pair)
    #expect(CurveKeyPair(secretBytes: pair.secretBytes) == pair)
  }

  @Test("a key built from the example of RFC 32 has the example's text")
  func rfc32() throws {
    let bytes: [UInt8] = [0x86, 0x4F, 0xD2, 0x6F, 0xB5, 0x59, 0xF7, 0x5B]
    let key = try #require(CurvePublicKey(bytes: bytes + bytes + bytes + bytes))
    #expect(key.z85 == "HelloWorldHelloWorldHelloWorldHelloWorld")
  }

  @Test(
    "text that is not a key is refused",
    arguments: [
      "", "short", String(repeating: "#", count: 40), String(repeating: "~", count: 40),
      String(repeating: "é", count: 20), String(repeating: "\u{7f}", count: 40),
      String(repeating: "a", count: 41),
    ])
  func malformed(_ text: String) {
    #expect(CurvePublicKey(z85: text) == nil)
    #expect(CurveKeyPair(secretZ85: text) == nil)
  }

  @Test("keys of another length are refused")
  func length() {
    #expect(CurvePublicKey(bytes: []) == nil)
    #expect(CurvePublicKey(bytes: [UInt8](repeating: 0, count: 33)) == nil)
    #expect(CurveKeyPair(secretBytes: [1]) == nil)
  }

  @Test("no description, dump or interpolation shows the secret")
  func redaction() throws {
    let pair = try CurveKeyPair.generate()
    var dumped = ""
    dump(CurveSecurity.server(pair), to: &dumped)
    for text in ["\(pair)", String(reflecting: pair), "\(CurveSecurity.server(pair))", dumped] {
      #expect(!text.contains(pair.secretZ85))
      #expect(!text.contains("\(pair.secretBytes[0]), \(pair.secretBytes[1])"))
      #expect(text.contains(pair.publicKey.z85))
    }
  }
}

@Suite("CURVE with ZAP")
struct CurveTests {
  @Test("every frame and every subscription carries the client's key as user id")
  func userID() async throws {
    let relay = try TestRelay()
    defer { relay.thread.stop() }
    let endpoints = try await relay.start(topics: ["topic".bytes])
    let keys = try CurveKeyPair.generate()
    var options = SocketOptions()
    options.security = .client(keys, server: relay.keys.publicKey)
    let context = try Context()
    let dealer = try Socket(.dealer, in: context, options: options)
    try dealer.connect(endpoints.router)
    for index in 0..<10 {
      try #expect(dealer.send([[], [UInt8](repeating: UInt8(index), count: 300)]) == .sent)
      try #expect(dealer.next() == [[], [UInt8](repeating: UInt8(index), count: 300)])
    }
    #expect(await relay.userIDs == Array(repeating: keys.publicKey.z85, count: 10))

    let sub = try Socket(.sub, in: context, options: options)
    try sub.subscribe("topic".bytes)
    try sub.connect(endpoints.broadcasts)
    try await eventually { await !relay.subscriptions.isEmpty }
    let descriptor = try #require(await relay.subscriptions.first?.descriptor)
    #expect(
      await relay.subscriptions == [
        SubscriptionEvent(
          kind: .subscribe, topic: "topic".bytes, userID: keys.publicKey.z85,
          descriptor: descriptor, isApprovable: true)
      ])
  }

  @Test("a refused client sees its refusal, and connects once its key is allowed")
  func refusedThenAllowed() async throws {
    let relay = try TestRelay()
    defer { relay.thread.stop() }
    let endpoints = try await relay.start()
    let keys = try CurveKeyPair.generate()
    await relay.refuse(keys.publicKey)
    var client = try MonitoredClient(.client(keys, server: relay.keys.publicKey))
    try client.socket.connect(endpoints.router)
    try client.wait(for: .keyRefused(.clientKey(status: 400)))
    try eventually { try client.hasGivenUp() }
    await relay.allow(keys.publicKey)
    try client.socket.disconnect(endpoints.router)
    try client.socket.connect(endpoints.router)
    try client.wait(for: .connected)
  }
}

@Suite("ZAP requests")
struct ZAPTests {
  private let key = [UInt8](repeating: 1, count: 32)

  @Test("the three mechanisms of RFC 27 are decoded")
  func mechanisms() throws {
    let start = ["1.0", "id", "domain", "1.2.3.4", ""].map(\.bytes)
    #expect(ZAPFrames.parse(start + ["NULL".bytes])?.mechanism == .null)
    #expect(ZAPFrames.parse(start + ["PLAIN".bytes, "a".bytes, "b".bytes])?.mechanism == .plain)
    let request = try #require(ZAPFrames.parse(start + ["CURVE".bytes, key]))
    #expect(request.publicKey == CurvePublicKey(bytes: key))
    #expect(request.domain == "domain")
    #expect(request.address == "1.2.3.4")
  }

  @Test("each decision becomes its status code, and an impossible one 400 or 500")
  func replies() throws {
    let request = ZAPRequest(domain: "", address: "", mechanism: .null)
    let id = "7".bytes
    #expect(ZAPFrames.reply(to: id, request, .acceptKey)[2] == "400".bytes)
    #expect(ZAPFrames.reply(to: id, request, .accept(userID: "me"))[4] == "me".bytes)
    #expect(ZAPFrames.reply(to: id, request, .tryLater)[2] == "300".bytes)
    let long = String(repeating: "x", count: 256)
    #expect(ZAPFrames.reply(to: id, request, .accept(userID: long))[2] == "500".bytes)
  }

  @Test("malformed requests get 400 or 500, and the handler keeps working")
  func malformed() throws {
    let context = try Context()
    var handler = try ZAPHandler(in: context)
    let client = try Socket(.req, in: context)
    try client.connect(ZAPFrames.endpoint)
    let good = ["1.0", "9", "", "", "", "CURVE"].map(\.bytes) + [key]
    let requests: [([[UInt8]], String)] = [
      ([[]], "500"), (["1.0".bytes], "400"), (["2.0".bytes, "9".bytes], "500"),
      (Array(good.dropLast()), "400"), (Array(good.dropLast()) + [[1, 2]], "400"),
      (Array(good.prefix(5)) + [[0xFF, 0xFE], key], "400"), (good + [[], [], [], []], "400"),
      (good, "200"),
    ]
    for (request, status) in requests {
      try #expect(client.send(request) == .sent)
      try eventually {
        _ = try handler.drain { _ in .acceptKey }
        return try client.events().contains(.readable)
      }
      let reply = try client.next()
      #expect(reply.count == 6)
      #expect(reply[2] == status.bytes)
    }
    expect(.addressInUse) { _ = try ZAPHandler(in: context) }
  }
}
