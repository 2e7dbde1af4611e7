import FamilyModel
import Foundation
@testable import RelayRuntime
import RelayWire
import Testing
import ZeroMQ

@Suite(.serialized) struct RelayServiceTests {
  @Test("A3, X2: an accepted question is there after a restart, and a repeated command is the same")
  func durable() async throws {
    let bench = try await Bench()
    let child = try bench.client(bench.emily)
    guard case .accepted(_, let seq)? = try child.ask(question(1), as: 2) else {
      Issue.record("not accepted")
      return
    }
    await bench.stop()
    try await bench.start()
    let again = try bench.client(bench.emily)
    #expect(try again.ask(question(1), as: 2) == .accepted(ID128(high: 7, low: 1), seq: seq))
    let page = try again.ask(.fetch(.conversation(PersonID(2)), after: 0), as: 2)
    guard case .page(_, let events, _)? = page else {
      Issue.record("no page")
      return
    }
    #expect(events.map(\.seq) == [seq])
    await bench.stop()
  }

  @Test("X2: a stranger's key gets only “not enrolled”, whatever it names")
  func stranger() async throws {
    let bench = try await Bench()
    let stranger = try bench.client(try CurveKeyPair.generate())
    for device: UInt32 in [0, 1, 2, 9] {
      #expect(try stranger.ask(.attach([]), as: device) == .failed(.notEnrolled))
      #expect(
        try stranger.ask(.fetch(.family, after: 0), as: device, family: FamilyID(77))
          == .failed(.notEnrolled))
    }
    await bench.stop()
  }

  @Test(
    "bad frames at the request socket are counted and answered with a number, and stall nothing")
  func garbage() async throws {
    let bench = try await Bench()
    let client = try bench.client(bench.emily)
    var random = IDSource(seed: 5)
    var version = Envelope(
      device: DeviceAddress(family: bench.family, device: DeviceID(2)), requestID: 1,
      request: .ping
    ).encode()
    version[1] = 99
    _ = try client.socket.send([[], version])
    #expect(try client.reply() == .failed(.unsupportedVersion))
    for _ in 0..<300 {
      let bytes = (0..<random.next() % 200).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      let frames: [[UInt8]] =
        switch random.next() % 3 {
        case 0: [bytes]
        case 1: [[], bytes, bytes, bytes, bytes, bytes]
        default: [[], bytes]
        }
      _ = try client.socket.send(frames)
    }
    let honest = try bench.client(bench.emily)
    #expect(try bench.isServed(honest, as: 2))
    #expect(await bench.relay!.counters.malformed >= 300)
    await bench.stop()
  }

  @Test("a frame over the limit cuts its sender off, and nobody else")
  func oversized() async throws {
    let bench = try await Bench()
    let large = try bench.client(bench.emily)
    _ = try large.socket.send([[], [UInt8](repeating: 1, count: Limits.frameBytes + 1)])
    let honest = try bench.client(bench.rosa)
    #expect(try bench.isServed(honest, as: 1))
    await bench.stop()
  }

  @Test("a REQ client of any language is served")
  func req() async throws {
    let bench = try await Bench()
    let client = try bench.client(bench.emily, .req)
    #expect(try bench.isServed(client, as: 2))
    await bench.stop()
  }

  private func channel(_ bench: Bench, _ pair: CurveKeyPair, _ device: UInt32) throws -> Channel? {
    guard
      case .attached(let channels)? = try bench.client(pair).ask(.attach([]), as: device)
    else { return nil }
    return channels.first { $0.audience == .conversation(PersonID(2)) }
  }

  @Test("X3: a subscriber to a foreign channel, or to everything, receives nothing")
  func foreignSubscriber() async throws {
    let bench = try await Bench()
    let channel = try #require(try channel(bench, bench.rosa, 1))
    let stranger = try bench.client(try CurveKeyPair.generate(), .sub)
    try stranger.socket.subscribe([])
    try stranger.socket.subscribe(channel.topic)
    let member = try bench.client(bench.rosa, .sub)
    try member.socket.subscribe(channel.topic)
    // The head tells that the member's subscription counts.
    #expect(try member.receive() != nil)
    _ = try bench.client(bench.emily).ask(question(1), as: 2)
    let frames = try #require(try member.receive())
    let bytes = try #require(
      ChannelCipher.open(frames[1], topic: channel.topic, key: channel.key))
    guard case .event(let event) = try Broadcast.decode(bytes), case .asked = event.body else {
      Issue.record("not the question")
      return
    }
    #expect(try stranger.receive(300) == nil)
    #expect(await bench.relay!.counters.refusedSubscriptions >= 2)
    await bench.stop()
  }

  @Test(
    "X3: the pipe-shifting attack yields at most bytes that cannot be opened; the victim recovers")
  func pipeShifting() async throws {
    let bench = try await Bench()
    let channel = try #require(try channel(bench, bench.rosa, 1))
    let attacker = try bench.client(try CurveKeyPair.generate(), .xsub)
    _ = try attacker.socket.send([[1] + channel.topic])
    let victim = try bench.client(bench.rosa, .sub)
    for _ in 0..<200 { _ = try attacker.socket.send([Array("user message".utf8)]) }
    try victim.socket.subscribe(channel.topic)
    for _ in 0..<200 { _ = try attacker.socket.send([Array("user message".utf8)]) }
    _ = try bench.client(bench.emily).ask(question(1), as: 2)
    while let frames = try attacker.receive(200) {
      let key = [UInt8](repeating: 0, count: 32)
      #expect(ChannelCipher.open(frames[1], topic: channel.topic, key: key) == nil)
      #expect(frames[1].range(of: Array("content".utf8)) == nil)
    }
    // What the victim missed it fetches; and once it subscribes again, it hears what comes.
    guard
      case .page(_, let events, _)? = try bench.client(bench.rosa).ask(
        .fetch(channel.audience, after: 0), as: 1)
    else {
      Issue.record("no page")
      return
    }
    #expect(events.count == 1)
    try victim.socket.unsubscribe(channel.topic)
    try victim.socket.subscribe(channel.topic)
    var heard = false
    for number: UInt64 in 2...20 where !heard {
      _ = try bench.client(bench.emily).ask(question(number), as: 2)
      heard = try victim.receive(200) != nil
    }
    #expect(heard)
    #expect(await bench.relay!.counters.foreign > 0)
    await bench.stop()
  }
}

@Suite struct SecretTests {
  @Test("a credential that others may read is refused, with what to do")
  func wide() throws {
    let file = URL(fileURLWithPath: "/tmp/pr-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    try PrivateFile.write(Data("{}".utf8), to: file)
    #expect(try PrivateFile.read(file) == Data("{}".utf8))
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
    #expect(throws: PrivateFile.Failure.self) { try PrivateFile.read(file) }
  }

  @Test(
    "X3: a topic says what it stands for to the relay alone, and a channel's bytes open with its key"
  )
  func topics() {
    let cipher = ChannelCipher(secret: .init(repeating: 1, count: 32))
    let other = ChannelCipher(secret: .init(repeating: 2, count: 32))
    let topic = cipher.topic(FamilyID(7), .account(PersonID(9)), generation: 3)
    #expect(
      cipher.meaning(of: topic)
        == .init(family: FamilyID(7), audience: .account(PersonID(9)), generation: 3))
    #expect(other.meaning(of: topic)?.family != FamilyID(7))
    let sealed = ChannelCipher.seal([1, 2, 3], topic: topic, key: cipher.key(of: topic))
    #expect(ChannelCipher.open(sealed, topic: topic, key: cipher.key(of: topic)) == [1, 2, 3])
    #expect(ChannelCipher.open(sealed, topic: topic, key: other.key(of: topic)) == nil)
    #expect(ChannelCipher.open(sealed, topic: [0], key: cipher.key(of: topic)) == nil)
    var changed = sealed
    changed[20] ^= 1
    #expect(ChannelCipher.open(changed, topic: topic, key: cipher.key(of: topic)) == nil)
  }
}

extension [UInt8] {
  func range(of part: [UInt8]) -> Range<Int>? {
    guard count >= part.count else { return nil }
    for start in 0...(count - part.count) where Array(self[start..<start + part.count]) == part {
      return start..<start + part.count
    }
    return nil
  }
}
