import ContentCheck
import FamilyModel
import Foundation
import Testing
import ZeroMQ

private let id: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
private let zeros = [UInt8](repeating: 0, count: 8)
private let type = Array("image/png".utf8)
private let bytes = picture(1).bytes

private func refusal(_ id: [UInt8], _ problem: Problem) -> [[UInt8]] {
  [[1], id, [2], [UInt8(problem.code >> 8), UInt8(problem.code & 0xFF)]]
}

private let malformed: [([[UInt8]], [[UInt8]])] = [
  ([[]], refusal(zeros, .malformed)),
  ([[1]], refusal(zeros, .malformed)),
  ([[1], id], refusal(id, .malformed)),
  ([[1], id, type], refusal(id, .malformed)),
  ([[1], id, type, bytes, [0]], refusal(id, .malformed)),
  ([[1], id, type, bytes, [0], [0], [0], [0], [0], [0]], refusal(id, .malformed)),
  ([[1], [1, 2], type, bytes], refusal(zeros, .malformed)),
  ([[1, 1], id, type, bytes], refusal(id, .malformed)),
  ([[2], id, type, bytes], refusal(id, .unsupportedVersion)),
  ([[2], id, [9], [9], [9]], refusal(id, .unsupportedVersion)),
  ([[1], id, [UInt8](repeating: 65, count: 65), bytes], refusal(id, .tooLarge)),
  ([[1], id, type, []], refusal(id, .badImage)),
  ([[1], id, type, [1, 2, 3]], refusal(id, .badImage)),
  ([[1], id, [0xFF, 0xFE], bytes], refusal(id, .badImage)),
  ([[1], id, Array("image/gif".utf8), bytes], refusal(id, .badImage)),
  (
    [[1], id, type, picture(1, bytes: Limits.avatarBytes + 1).bytes], refusal(id, .imageTooLarge)
  ),
]

@Suite struct InterfaceTests {
  @Test("S2: serves a plain REQ client repeatedly")
  func request() async throws {
    let fixture = try await ContentCheckFixture(list: line(picture(1)))
    let socket = try fixture.socket(.req)
    #expect(try await socket.ask([[1], id, type, bytes]) == [[1], id, [1], [0, 0]])
    #expect(
      try await socket.ask([[1], zeros, type, picture(2).bytes]) == [[1], zeros, [0], [0, 0]])
    await fixture.stop()
  }

  @Test("S2: rejects malformed messages by number and keeps the connection")
  func numbers() async throws {
    let fixture = try await ContentCheckFixture()
    let socket = try fixture.socket(.req)
    for (frames, reply) in malformed { #expect(try await socket.ask(frames) == reply) }
    #expect(await fixture.worker.counters.refused == malformed.count)
    #expect(try await socket.ask([[1], id, type, bytes]) == [[1], id, [0], [0, 0]])
    await fixture.stop()
  }

  @Test("S2: rejects a message without a delimiter, in a reply with one")
  func noDelimiter() async throws {
    let fixture = try await ContentCheckFixture()
    let socket = try fixture.socket(.dealer)
    #expect(try await socket.ask([[1], id, type, bytes]) == [[]] + refusal(zeros, .malformed))
    #expect(try await socket.ask([[9]]) == [[]] + refusal(zeros, .malformed))
    #expect(try await socket.ask([[]]) == [[]] + refusal(zeros, .malformed))
    #expect(try await socket.ask([[], [1], id, type, bytes]) == [[], [1], id, [0], [0, 0]])
    await fixture.stop()
  }

  @Test("S2: disconnects the sender of an oversized frame and serves other clients")
  func tooLarge() async throws {
    let fixture = try await ContentCheckFixture()
    let context = try Context()
    let address = try WorkerAddress.read(from: fixture.folder.url)
    var options = SocketOptions()
    let key = try #require(CurvePublicKey(z85: address.publicKey))
    options.security = .client(try .generate(), server: key)
    let socket = try Socket(.dealer, in: context, options: options)
    var monitor = try Monitor(socket, in: context)
    try socket.connect(address.endpoint)
    let huge = [UInt8](repeating: 0, count: ContentLimits.frameBytes + 1)
    #expect(try socket.send([[], [1], id, type, huge]) == .sent)
    var isCutOff = false
    let end = ContinuousClock.now + patience
    while !isCutOff, ContinuousClock.now < end {
      _ = try monitor.drain { if $0.kind == .disconnected { isCutOff = true } }
      try await Task.sleep(for: .milliseconds(1))
    }
    #expect(isCutOff)
    #expect(try await socket.next(within: .milliseconds(50)) == nil)
    #expect(await fixture.client.verdict(on: picture(1)) == .clean)
    await fixture.stop()
  }

  @Test("S2: sends nothing to a worker with another key and rejects clients without a key")
  func keys() async throws {
    let fixture = try await ContentCheckFixture(timeout: .milliseconds(300))
    let plain = try Socket(.req, in: try Context())
    try plain.connect(try WorkerAddress.read(from: fixture.folder.url).endpoint)
    #expect(try plain.send([[1], id, type, bytes]) == .sent)
    #expect(try await plain.next(within: .milliseconds(100)) == nil)
    let other = WorkerAddress(
      endpoint: try WorkerAddress.read(from: fixture.folder.url).endpoint,
      publicKey: try CurveKeyPair.generate().publicKey)
    try JSONEncoder().encode(other).write(to: WorkerAddress.file(in: fixture.folder.url))
    #expect(await fixture.client.verdict(on: picture(1)) == .unknown)
    #expect(await fixture.worker.counters.verdicts == [0, 0, 0])
    await fixture.stop()
  }

  @Test("S2: decodes no malformed reply; undefined verdicts are unknown")
  func replies() {
    #expect(ContentReply([]) == nil)
    #expect(ContentReply([[2], id, [0], [0, 0]]) == nil)
    #expect(ContentReply([[1], [1], [0], [0, 0]]) == nil)
    #expect(ContentReply([[1], id, [0], [0]]) == nil)
    #expect(ContentReply([[1], id, [7], [0, 0]])?.verdict == .unknown)
    #expect(ContentReply([[1], id, [0], [1, 0x35]])?.verdict == .unknown)
    #expect(ContentReply([[1], id, [0], [1, 0x35]])?.problem == .badImage)
    #expect(ContentReply([[1], id, [0], [0, 0]]) == ContentReply(id: id, .clean))
    #expect(ContentReply(refusal(id, .tooLarge)) == ContentReply(id: id, .tooLarge))
  }
}
