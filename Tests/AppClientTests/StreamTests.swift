import AppClient
import FamilyCore
import FamilyModel
import Testing

@testable import SensitiveContentAnalysis

/// A live stream while the device or its worker hangs.
@Suite(.timeLimit(.minutes(10))) struct StreamTests {
  private func show(_ number: UInt8, _ analyzer: SCVideoStreamAnalyzer) {
    let pixels = [UInt8](repeating: number, count: 64 * 64 * 3)
    analyzer.analyze(pixels.span.bytes, layout: SCPixelLayout(.rgb, width: 64, height: 64))
  }

  private func until(_ condition: () -> Bool) async {
    while !condition() { try? await Task.sleep(for: .milliseconds(1)) }
  }

  /// The numbers of the frames that the device has received.
  private func frames(_ device: FakeDevice) -> [UInt64] {
    device.requests.compactMap { if case .analyze(let number, _) = $0 { number } else { nil } }
  }

  /// Calls the body with a stream of an app that is connected to the device.
  private func withStream(
    to device: FakeDevice, _ direction: SCVideoStreamAnalyzer.StreamDirection, lag: Duration,
    _ body: (SCVideoStreamAnalyzer) async throws -> Void
  ) async throws {
    let session = try await AppSession.connected(device, nameWait: .seconds(600))
    try await AppSession.$override.withValue(session) {
      let analyzer = try SCVideoStreamAnalyzer(
        participantUUID: "ben", streamDirection: direction, lag: lag)
      try await body(analyzer)
      analyzer.endAnalysis()
    }
  }

  @Test("S4: without verdicts in time a stream is interrupted, and frames are skipped")
  func hangs() async throws {
    let device = FakeDevice(isAlive: true)
    try await withStream(to: device, .incoming, lag: .milliseconds(200)) { analyzer in
      for number in 0..<10 as Range<UInt8> { show(number, analyzer) }
      // Two are at the worker, and the newest one waits.
      #expect(analyzer.skippedFrames == 7)
      // No further frame arrives: the clock alone interrupts.
      await until { analyzer.analysis?.shouldInterruptVideo == true }
      #expect(analyzer.problem?.number == 462 && analyzer.analysis?.isSensitive == false)
      await until { frames(device).count == 2 }
      // Sooner or later a verdict is in time.
      var answered = 0
      await until {
        for number in frames(device)[answered...] {
          device.tell(.analyzed(number, .checked(isSensitive: false)))
          answered += 1
        }
        show(1, analyzer)
        return analyzer.analysis?.shouldInterruptVideo == false
      }
    }
  }

  @Test(
    "S4: a sensitive frame interrupts before the worker receives the second frame after it")
  func frameBound() async throws {
    let device = FakeDevice(isAlive: true)
    try await withStream(to: device, .outgoing, lag: .seconds(600)) { analyzer in
      show(0, analyzer)
      await until { frames(device).count == 1 }
      device.tell(.analyzed(frames(device)[0], .checked(isSensitive: false)))
      await until { analyzer.analysis?.shouldInterruptVideo == false }
      // The sensitive frame arrives at the worker, and the camera continues.
      for number in 1..<30 as Range<UInt8> { show(number, analyzer) }
      await until { frames(device).count >= 3 }
      try await Task.sleep(for: .milliseconds(50))
      #expect(frames(device).count == 3)
      #expect(analyzer.analysis?.shouldInterruptVideo == false)
      device.tell(.analyzed(frames(device)[1], .checked(isSensitive: true)))
      // Its verdict alone interrupts. The next frame has none yet.
      await until { analyzer.analysis?.shouldInterruptVideo == true }
      #expect(analyzer.analysis?.isSensitive == true && analyzer.analysis?.shouldMuteAudio == true)
    }
  }

  @Test("S4: a device that is gone interrupts a stream")
  func gone() async throws {
    let device = FakeDevice(isAlive: false)
    try await withStream(to: device, .outgoing, lag: .seconds(600)) { analyzer in
      show(0, analyzer)
      await until { frames(device).count == 1 }
      device.disconnect()
      // The call ends after the longest silence of a device.
      await until { analyzer.analysis?.shouldInterruptVideo == true }
      #expect(analyzer.problem?.number == 420)
    }
  }
}
