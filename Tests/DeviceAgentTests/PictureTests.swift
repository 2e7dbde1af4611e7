import ContentCheck
import DeviceAgent
import FamilyCore
import FamilyModel
import Foundation
import RelayFixture
import Testing

/// The check of pictures between an app's socket, a device and a worker process.
@Suite(.timeLimit(.minutes(10))) struct PictureTests {
  private func picture(_ number: UInt8, bytes: Int = 0) -> Avatar {
    var png: [UInt8] = [
      0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 0,
      1, 0, 0, 0, 1, 8, 0, 0, 0, 0, 0x3A, 0x7E, 0x9B, 0x55, 0, 0, 0, 10, 0x49, 0x44, 0x41, 0x54,
      0x78, 0x9C, 0x63, 0xF8, 0x0F, 0, 1, 1, 1, 0, 0xB1, 0x38, 0xF6, 0x14, 0, 0, 0, 0, 0x49, 0x45,
      0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82, number,
    ]
    png += [UInt8](repeating: 0, count: max(0, bytes - png.count))
    return Avatar(mediaType: "image/png", bytes: png)
  }

  /// The next reply. Sleeps between two reads, because the checkers need the tests' thread pool.
  private func reply(_ app: Client) async throws -> AppReply {
    while true {
      if let reply = try app.appReply(.zero) { return reply }
      try await Task.sleep(for: .milliseconds(2))
    }
  }

  /// The next reply that is an analysis.
  private func analysis(
    _ app: Client
  ) async throws -> (number: UInt64, analysis: PictureAnalysis) {
    while true {
      if case .analyzed(let number, let analysis) = try await reply(app) {
        return (number, analysis)
      }
    }
  }

  private func send(_ app: Client, _ request: AppRequest) throws {
    #expect(try app.socket.send([[], request.encode()]) == .sent)
  }

  private func check(
    _ app: Client, _ number: UInt64, _ picture: Avatar
  ) async throws -> PictureAnalysis {
    try send(app, .analyze(number, picture))
    let next = try await analysis(app)
    #expect(next.number == number)
    return next.analysis
  }

  private func end(_ process: Process, _ signal: Int32 = SIGKILL) {
    kill(process.processIdentifier, signal)
    guard signal == SIGKILL else { return }
    process.waitUntilExit()
  }

  @Test("S2: a worker that is killed or hangs gives no verdict, and a new one decides again")
  func worker() async throws {
    let folder = URL(fileURLWithPath: "/tmp/pr-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: folder) }
    try Data().write(to: folder.appendingPathComponent("list"))
    let checker = try ContentClient(directory: folder, timeout: .seconds(1))
    let fixture = try await AgentFixture(checker: checker)
    let app = try fixture.app()
    try send(app, .attach(app: AgentFixture.app, applied: 0))
    #expect(try await check(app, 1, picture(1)) == .failed(.noVerdict))
    var process = try Process.contentWorker(in: folder)
    // A busy machine may need several tries.
    func decides(_ number: UInt64) async throws -> Bool {
      for attempt in 0..<100 {
        let result = try await check(app, number + UInt64(attempt), picture(1))
        if result == .checked(isSensitive: false) { return true }
        #expect(result == .failed(.noVerdict))
      }
      return false
    }
    #expect(try await decides(1_000))
    try await process.stopThreads()
    #expect(try await check(app, 2, picture(2)) == .failed(.noVerdict))
    end(process, SIGCONT)
    #expect(try await decides(2_000))
    end(process)
    #expect(try await check(app, 3, picture(3)) == .failed(.noVerdict))
    process = try Process.contentWorker(in: folder)
    #expect(try await decides(3_000))
    end(process)
    await checker.stop()
    await fixture.stop()
  }

  @Test("S2: a flood above the limits is refused, while the device answers and the app may leave")
  func flood() async throws {
    let gate = Gate()
    let fixture = try await AgentFixture(checker: gate)
    let app = try fixture.app()
    try send(app, .attach(app: AgentFixture.app, applied: 0))
    for number in 0..<20 { try send(app, .analyze(UInt64(number), picture(UInt8(number)))) }
    var refused: Set<UInt64> = []
    while refused.count < 20 - Limits.appPictures {
      let next = try await analysis(app)
      #expect(next.analysis == .failed(.tooManyPictures))
      refused.insert(next.number)
    }
    #expect(refused == Set(UInt64(Limits.appPictures)..<20))
    // The device's loop does not wait for the worker.
    try send(app, .ping)
    #expect(try await reply(app) == .pong)
    // Another app has room of its own.
    let other = try fixture.app(as: AgentFixture.otherApp)
    try send(other, .attach(app: AgentFixture.otherApp, applied: 0))
    try send(other, .analyze(50, picture(50)))
    try send(app, .detach)
    #expect(try await poll { await gate.waiting == Limits.appPictures + 1 })
    await gate.open()
    #expect(try await analysis(other).number == 50)
    try send(app, .attach(app: AgentFixture.app, applied: 0))
    #expect(try await check(app, 60, picture(60)) == .checked(isSensitive: false))
    await fixture.stop()
  }

  @Test("S2: without a worker no picture counts as clean; hostile frames are refused")
  func hostile() async throws {
    let fixture = try await AgentFixture()
    let app = try fixture.app()
    try send(app, .attach(app: AgentFixture.app, applied: 0))
    #expect(try await check(app, 1, picture(1)) == .failed(.noContentWorker))
    #expect(try await check(app, 2, picture(1, bytes: 65_537)) == .failed(.imageTooLarge))
    #expect(
      try await check(app, 3, Avatar(mediaType: "image/png", bytes: Array("GIF89a".utf8)))
        == .failed(.badImage))
    await fixture.stop()
  }
}

/// A checker whose verdicts wait until the gate opens.
private actor Gate: ContentChecker {
  private var continuations: [CheckedContinuation<Void, Never>] = []
  private var isOpen = false
  var waiting: Int { continuations.count }

  func verdict(on picture: Avatar) async -> ContentVerdict {
    if !isOpen { await withCheckedContinuation { continuations.append($0) } }
    return .clean
  }

  func open() {
    isOpen = true
    for continuation in continuations { continuation.resume() }
    continuations = []
  }
}
