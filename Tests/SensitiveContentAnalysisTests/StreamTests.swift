import FamilyModel
import Foundation
import PermissionKitTesting
import Synchronization
import Testing

@testable import SensitiveContentAnalysis

/// An app's view of a live stream.
@Suite(.timeLimit(.minutes(10))) struct StreamTests {
  private static let layout = SCPixelLayout(.rgb, width: 64, height: 64)

  /// A frame whose first pixel has the number.
  private func show(_ number: UInt8, _ analyzer: SCVideoStreamAnalyzer) {
    let pixels = [UInt8](repeating: number, count: 64 * 64 * 3)
    analyzer.analyze(pixels.span.bytes, layout: Self.layout)
  }

  /// The number of a checked frame.
  private static func number(_ picture: Data) -> UInt8 { picture[picture.count - 30] }

  /// An analyzer whose frames are not late on a busy machine.
  private func newAnalyzer(
    _ direction: SCVideoStreamAnalyzer.StreamDirection
  ) throws -> SCVideoStreamAnalyzer {
    try SCVideoStreamAnalyzer(
      participantUUID: "ben", streamDirection: direction, lag: .seconds(600))
  }

  private func until(_ condition: () -> Bool) async {
    while !condition() { try? await Task.sleep(for: .milliseconds(1)) }
  }

  @Test(
    "S4: a sensitive frame interrupts, indicates and mutes a stream on both sides of a call",
    arguments: SCVideoStreamAnalyzer.StreamDirection.allCases)
  func hit(_ direction: SCVideoStreamAnalyzer.StreamDirection) async throws {
    let family = TestFamily()
    await family.organizer.setCommunicationSafety(.simple)
    family.checkPictures { Self.number($0) == 200 ? .sensitive : .clean }
    try await family.app {
      let analyzer = try newAnalyzer(direction)
      let heard = Mutex<[Bool]>([])
      analyzer.analysisChangedHandler = { analysis, error in
        #expect(error == nil)
        heard.withLock { $0.append(analysis?.shouldInterruptVideo ?? false) }
      }
      #expect(analyzer.analysis == nil && analyzer.streamDirection == direction)
      show(1, analyzer)
      await until { analyzer.analysis?.shouldInterruptVideo == false }
      show(200, analyzer)
      await until { analyzer.analysis?.isSensitive == true }
      let analysis = try #require(analyzer.analysis)
      #expect(analysis.shouldInterruptVideo && analysis.shouldMuteAudio)
      #expect(analysis.shouldIndicateSensitivity)
      analyzer.continueStream()
      #expect(analyzer.analysis?.shouldInterruptVideo == false)
      #expect(analyzer.analysis?.shouldIndicateSensitivity == true)
      await until { heard.withLock { $0.count } == 3 }
      #expect(heard.withLock { $0 } == [false, true, false])
      analyzer.endAnalysis()
      show(200, analyzer)
      #expect(analyzer.analysis == nil)
    }
  }

  @Test(
    "S4: the changes begin with the present guidance and end with the analysis"
  )
  func changes() async throws {
    let family = TestFamily()
    await family.organizer.setCommunicationSafety(.descriptive)
    family.checkPictures { Self.number($0) == 200 ? .sensitive : .clean }
    try await family.app {
      let analyzer = try newAnalyzer(.incoming)
      show(1, analyzer)
      await until { analyzer.analysis != nil }
      var sensitive: [Bool] = []
      for try await analysis in analyzer.analysisChanges {
        sensitive.append(analysis.isSensitive)
        if analysis.isSensitive { analyzer.endAnalysis() } else { show(200, analyzer) }
      }
      #expect(sensitive == [false, true])
      for try await _ in analyzer.analysisChanges { Issue.record("the analysis has ended") }
    }
  }

  @Test("S4: without a worker or a verdict the stream is interrupted, and a new worker ends that")
  func worker() async throws {
    let family = TestFamily()
    await family.organizer.setCommunicationSafety(.simple)
    family.checkPictures { picture in
      switch Self.number(picture) {
      case 1: .undecided
      case 2: .noWorker
      default: .clean
      }
    }
    try await family.app {
      let analyzer = try newAnalyzer(.incoming)
      for number in [1, 2] as [UInt8] {
        show(0, analyzer)
        await until { analyzer.analysis?.shouldInterruptVideo == false }
        show(number, analyzer)
        await until { analyzer.analysis?.shouldInterruptVideo == true }
        #expect(
          analyzer.analysis?.isSensitive == false && analyzer.analysis?.shouldMuteAudio == true)
        #expect(analyzer.problem?.number == 461 + Int(number))
      }
    }
  }

  @Test("S4: the newest frame is checked, also if no frame follows")
  func newest() async throws {
    let family = TestFamily()
    await family.organizer.setCommunicationSafety(.simple)
    family.checkPictures { Self.number($0) == 200 ? .sensitive : .clean }
    try await family.app {
      let analyzer = try newAnalyzer(.incoming)
      for number in 0..<10 as Range<UInt8> { show(number, analyzer) }
      show(200, analyzer)
      await until { analyzer.analysis?.isSensitive == true }
    }
  }

  @Test("S4: a restart of the device interrupts at most until it answers again")
  func restart() async throws {
    let family = TestFamily()
    await family.organizer.setCommunicationSafety(.simple)
    try await family.app {
      let analyzer = try newAnalyzer(.incoming)
      for number in 0..<3 as Range<UInt8> {
        show(number, analyzer)
        await family.restartDevice()
        await until {
          show(number, analyzer)
          return analyzer.analysis?.shouldInterruptVideo == false
        }
      }
    }
  }

  @Test("S4: a policy that is off has no analyzer, and one that is turned off gives no guidance")
  func off() async throws {
    let family = TestFamily()
    await family.organizer.setCommunicationSafety(.simple)
    try await family.app {
      let analyzer = try newAnalyzer(.incoming)
      show(1, analyzer)
      await until { analyzer.analysis != nil }
      let reader = Task {
        for try await _ in analyzer.analysisChanges {}
      }
      await family.organizer.setCommunicationSafety(.off)
      await until {
        show(1, analyzer)
        return analyzer.problem?.number == 460
      }
      #expect(analyzer.analysis == nil && analyzer.problem?.isWithoutCheck == true)
      await #expect(throws: DeviceProblem.self) { try await reader.value }
      await until { SCSensitivityAnalyzer().analysisPolicy == .disabled }
      #expect(throws: DeviceProblem.self) {
        try newAnalyzer(.incoming)
      }
    }
    #expect(throws: DeviceProblem.self) {
      try newAnalyzer(.incoming)
    }
  }

  @Test("S4: a frame with a wrong layout interrupts the stream")
  func wrong() async throws {
    let family = TestFamily()
    await family.organizer.setCommunicationSafety(.simple)
    try await family.app {
      let analyzer = try newAnalyzer(.outgoing)
      analyzer.analyze([UInt8](repeating: 0, count: 100).span.bytes, layout: Self.layout)
      #expect(analyzer.analysis?.shouldInterruptVideo == true)
      #expect(analyzer.problem?.number == 309)
      show(1, analyzer)
      await until { analyzer.analysis?.shouldInterruptVideo == false }
    }
  }
}
