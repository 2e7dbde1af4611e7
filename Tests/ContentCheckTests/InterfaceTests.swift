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
  @Test("S2: a plain REQ client gets its verdicts, again and again")
  func request() async throws {
    let rig = try await ContentCheckFixture(list: line(picture(1)))
    let socket = try rig.socket(.req)
    #expect(try await socket.ask([[1], id, type, bytes]) == [[1], id, [1], [0, 0]])
    #expect(
      try await socket.ask([[1], zeros, type, picture(2).bytes]) == [[1], zeros, [0], [0, 0]])
    await rig.stop()
  }

  @Test("S2: what is malformed gets a number, and the connection stays")
  func numbers() async throws {
    let rig = try await ContentCheckFixture()
    let socket = try rig.socket(.req)
    for (frames, reply) in malformed { #expect(try await socket.ask(frames) == reply) }
    #expect(await rig.worker.counters.refused == malformed.count)
    #expect(try await socket.ask([[1], id, type, bytes]) == [[1], id, [0], [0, 0]])
    await rig.stop()
  }

  @Test("S2: a message without the empty delimiter gets a number, behind a delimiter")
  func noDelimiter() async throws {
    let rig = try await ContentCheckFixture()
    let socket = try rig.socket(.dealer)
    #expect(try await socket.ask([[1], id, type, bytes]) == [[]] + refusal(zeros, .malformed))
    #expect(try await socket.ask([[9]]) == [[]] + refusal(zeros, .malformed))
    #expect(try await socket.ask([[]]) == [[]] + refusal(zeros, .malformed))
    #expect(try await socket.ask([[], [1], id, type, bytes]) == [[], [1], id, [0], [0, 0]])
    await rig.stop()
  }

  @Test("S2: who sends a frame that is too large is cut off; others are not")
  func tooLarge() async throws {
    let rig = try await ContentCheckFixture()
    let context = try Context()
    let address = try WorkerAddress.read(from: rig.folder.url)
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
    #expect(await rig.client.verdict(on: picture(1)) == .clean)
    await rig.stop()
  }

  @Test("S2: who does not prove the worker's key is not asked, and who has no key does not get in")
  func keys() async throws {
    let rig = try await ContentCheckFixture(timeout: .milliseconds(300))
    let plain = try Socket(.req, in: try Context())
    try plain.connect(try WorkerAddress.read(from: rig.folder.url).endpoint)
    #expect(try plain.send([[1], id, type, bytes]) == .sent)
    #expect(try await plain.next(within: .milliseconds(100)) == nil)
    let other = WorkerAddress(
      endpoint: try WorkerAddress.read(from: rig.folder.url).endpoint,
      publicKey: try CurveKeyPair.generate().publicKey)
    try JSONEncoder().encode(other).write(to: WorkerAddress.file(in: rig.folder.url))
    #expect(await rig.client.verdict(on: picture(1)) == .unknown)
    #expect(await rig.worker.counters.verdicts == [0, 0, 0])
    await rig.stop()
  }

  @Test("S2: replies that are no replies are nil; what is not known in them is unknown")
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
