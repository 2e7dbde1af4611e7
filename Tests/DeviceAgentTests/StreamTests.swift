import AppClient
import ContentCheck
import DeviceConnection
import FamilyModel
import Foundation
import PerceptualHash
import Testing

@testable import SensitiveContentAnalysis

/// A live stream between an app, a device and a worker's process, which the test kills.
@Suite(.timeLimit(.minutes(10))) struct StreamTests {
  private static let (width, height) = (640, 360)

  /// A frame with spots of light. The number chooses their places.
  private static func frame(_ number: Int) -> [UInt8] {
    (0..<width * height).flatMap { index in
      let (x, y) = (Double(index % width) / 640, Double(index / width) / 360)
      let phase = Double(number)
      let value =
        sin(x * (9 + phase)) * cos(y * (7 + 2 * phase) + phase) + sin((x + y) * (5 + phase))
      return [UInt8](repeating: UInt8(128 + 60 * value), count: 3)
    }
  }

  /// The line of a hash list for a frame.
  private static func line(_ frame: [UInt8]) throws -> String {
    let found = SmallFrame(frame.span.bytes, layout)
    let copy = try #require(found)
    let rated = copy.rgb.withUnsafeBufferPointer {
      PDQHash.rated(width: copy.width, height: copy.height, rgb: $0)
    }
    return "pdq \(try #require(rated).hash)\n"
  }

  private static let layout = SCPixelLayout(.rgb, width: width, height: height)

  @Test(
    "S4: a listed frame interrupts, and so does a worker that is killed or hangs"
  )
  func worker() async throws {
    let folder = URL(fileURLWithPath: "/tmp/pr-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: folder) }
    let (clean, listed) = (Self.frame(1), Self.frame(2))
    try Self.line(listed).write(
      to: folder.appendingPathComponent("list"), atomically: true, encoding: .utf8)
    let checker = try ContentClient(directory: folder)
    let fixture = try await AgentFixture(checker: checker)
    let credential = try JSONDecoder().decode(
      AppCredential.self, from: Data(contentsOf: fixture.appFile()))
    #expect(credential.decoder?.hasSuffix("/content-decoder") == true)
    let session = try AppSession.session(of: credential)
    let running = Task { await session.run() }
    var process = try Process.contentWorker(in: folder)
    try await AppSession.$override.withValue(session) {
      let analyzer = try SCVideoStreamAnalyzer(participantUUID: "ben", streamDirection: .incoming)
      func show(_ frame: [UInt8], until condition: (SCSensitivityAnalysis) -> Bool) async throws {
        while true {
          analyzer.analyze(frame.span.bytes, layout: Self.layout)
          if let analysis = analyzer.analysis, condition(analysis) { return }
          try await Task.sleep(for: .milliseconds(33))
        }
      }
      try await show(clean) { !$0.shouldInterruptVideo }
      kill(process.processIdentifier, SIGSTOP)
      try await show(clean) { $0.shouldInterruptVideo && !$0.isSensitive }
      kill(process.processIdentifier, SIGCONT)
      try await show(clean) { !$0.shouldInterruptVideo }
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      try await show(clean) { $0.shouldInterruptVideo && !$0.isSensitive }
      #expect(analyzer.problem?.number == 462)
      process = try Process.contentWorker(in: folder)
      try await show(clean) { !$0.shouldInterruptVideo }
      try await show(listed) { $0.shouldInterruptVideo && $0.isSensitive }
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      try await show(listed) { $0.isSensitive }
      analyzer.endAnalysis()
    }
    running.cancel()
    await session.close()
    await checker.stop()
    await fixture.stop()
  }
}
