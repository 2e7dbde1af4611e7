import Foundation
import PermissionKitTesting
import Synchronization
import Testing

@testable import SensitiveContentAnalysis

/// An app's view of the analysis of pictures.
@Suite(.timeLimit(.minutes(10))) struct AnalyzerTests {
  /// A valid picture of one pixel. The number makes it a different one.
  private func picture(_ number: UInt8, bytes: Int = 0) -> Data {
    var png: [UInt8] = [
      0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 0,
      1, 0, 0, 0, 1, 8, 0, 0, 0, 0, 0x3A, 0x7E, 0x9B, 0x55, 0, 0, 0, 10, 0x49, 0x44, 0x41, 0x54,
      0x78, 0x9C, 0x63, 0xF8, 0x0F, 0, 1, 1, 1, 0, 0xB1, 0x38, 0xF6, 0x14, 0, 0, 0, 0, 0x49, 0x45,
      0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82, number,
    ]
    png += [UInt8](repeating: 0, count: max(0, bytes - png.count))
    return Data(png)
  }

  private func wait(
    for policy: SCSensitivityAnalysisPolicy, _ analyzer: SCSensitivityAnalyzer
  ) async {
    while analyzer.analysisPolicy != policy { await Task.yield() }
  }

  @Test("S2: the policy follows the guardian's setting, also after restarts of app and device")
  func policy() async throws {
    let family = TestFamily(guardians: ["Rosa", "Alex"])
    try await family.app {
      let analyzer = SCSensitivityAnalyzer()
      await wait(for: .disabled, analyzer)
      await family.guardian("Rosa").setCommunicationSafety(.descriptive)
      await wait(for: .descriptiveInterventions, analyzer)
      await family.guardian("Alex").setCommunicationSafety(.simple)
      await wait(for: .simpleInterventions, analyzer)
    }
    await family.restartDevice()
    try await family.app {
      // The setting of a killed app is there at once.
      let analyzer = SCSensitivityAnalyzer()
      #expect(analyzer.analysisPolicy == .simpleInterventions)
      await family.restartDevice()
      await family.organizer.setCommunicationSafety(.off)
      await wait(for: .disabled, analyzer)
    }
  }

  @Test("S2: before the device's first answer the policy is the most careful one")
  func first() {
    #expect(SCSensitivityAnalysisPolicy(nil) == .descriptiveInterventions)
  }

  @Test("S2: no picture is checked while the policy is disabled, and for an adult")
  func disabled() async throws {
    for family in [TestFamily(), TestFamily(isChild: false), TestFamily(isInFamily: false)] {
      let calls = Mutex(0)
      family.checkPictures { _ in
        calls.withLock { $0 += 1 }
        return .clean
      }
      try await family.app {
        let analyzer = SCSensitivityAnalyzer()
        #expect(await problem { _ = try await analyzer.analyzeImage(picture(1)) } == 460)
        await wait(for: .disabled, analyzer)
      }
      #expect(calls.withLock { $0 } == 0)
    }
  }

  @Test("S2: a verdict about bytes and about a file; without a verdict the call fails")
  func verdicts() async throws {
    let family = TestFamily()
    await family.organizer.setCommunicationSafety(.simple)
    family.checkPictures { picture in
      switch picture.last {
      case 1: .sensitive
      case 2: .undecided
      case 3: .noWorker
      default: .clean
      }
    }
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(
      "picture-\(UUID().uuidString)")
    try picture(1).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    try await family.app {
      let analyzer = SCSensitivityAnalyzer()
      let clean = try await analyzer.analyzeImage(picture(0))
      #expect(!clean.isSensitive)
      let sensitive = try await analyzer.analyzeImage(at: file)
      #expect(sensitive.isSensitive)
      #expect(await problem { _ = try await analyzer.analyzeImage(picture(2)) } == 462)
      #expect(await problem { _ = try await analyzer.analyzeImage(picture(3)) } == 463)
      await withCheckedContinuation { done in
        analyzer.analyzeImage(picture(1)) { analysis, error in
          #expect(analysis?.isSensitive == true && error == nil)
          done.resume()
        }
      }
    }
  }

  @Test("S2: a picture above the limits, a hostile file and a missing one are refused")
  func refused() async throws {
    let family = TestFamily()
    await family.organizer.setCommunicationSafety(.simple)
    try await family.app {
      let analyzer = SCSensitivityAnalyzer()
      let largest = try await analyzer.analyzeImage(picture(0, bytes: 65_536))
      #expect(!largest.isSensitive)
      #expect(
        await problem { _ = try await analyzer.analyzeImage(picture(0, bytes: 65_537)) } == 305)
      #expect(await problem { _ = try await analyzer.analyzeImage(Data([1, 2])) } == 309)
      #expect(
        await problem { _ = try await analyzer.analyzeImage(at: URL(filePath: "/dev/zero")) } == 305
      )
      for address in ["file:///nowhere/picture.png", "https://example.com/picture.png"] {
        await #expect(throws: CocoaError.self) {
          _ = try await analyzer.analyzeImage(at: URL(string: address)!)
        }
      }
    }
  }

  @Test("S2: many pictures at once are checked in turn, and those above the limit fail")
  func flood() async throws {
    let family = TestFamily()
    await family.organizer.setCommunicationSafety(.simple)
    family.checkPictures { $0.last == 1 ? .sensitive : .clean }
    try await family.app {
      let analyzer = SCSensitivityAnalyzer()
      await withTaskGroup(of: Bool.self) { group in
        for index in 0..<100 {
          group.addTask {
            let result = try? await analyzer.analyzeImage(picture(UInt8(index % 2)))
            return result?.isSensitive == (index % 2 == 1)
          }
        }
        for await isRight in group { #expect(isRight) }
      }
    }
  }

  @Test("S2: a process without a device has the policy disabled, and no picture checked")
  func noDevice() async {
    let analyzer = SCSensitivityAnalyzer()
    #expect(analyzer.analysisPolicy == .disabled)
    #expect(await problem { _ = try await analyzer.analyzeImage(picture(1)) } == 422)
  }
}
