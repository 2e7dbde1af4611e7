import FamilyModel
import Foundation
import PermissionKitTesting
import PerceptualHash
import Synchronization
import Testing

@testable import SensitiveContentAnalysis

/// The analysis of video files by a decoder's process.
@Suite(.timeLimit(.minutes(10))) struct VideoTests {
  private static func isRed(_ frame: VideoFrame) -> Bool {
    frame.rgb[0] > 100 && frame.rgb[1] < 60
  }

  @Test(
    "S2: up to four frames of each second of a video are decoded",
    arguments: Clip.formats)
  func frames(_ clip: Data) async throws {
    var frames: [VideoFrame] = []
    let isFound = try await Clip.withVideo(clip) { video in
      try await video.contains { frame in
        frames.append(frame)
        return false
      }
    }
    #expect(!isFound)
    // The frames are 100 ms apart, so the interval of 250 ms is reached every third one. The last one counts.
    #expect(frames.map(\.time) == Array(stride(from: 0, through: 2_700, by: 300)) + [2_900])
    #expect(frames.map(Self.isRed) == frames.map { (1_500..<2_000).contains($0.time) })
    #expect(frames.allSatisfy { $0.size == FrameSize(width: 96, height: 64) })
    #expect(frames.allSatisfy { (2_900...3_100).contains($0.duration) })
  }

  @Test("S2: a frame counts if it is shown long, and the frames after an empty sample count")
  func shown() async throws {
    for clip in [Clip.held, Clip.withEmptySample] {
      #expect(
        try await Clip.withVideo(clip) { video in try await video.contains { Self.isRed($0) } })
    }
  }

  @Test("S2: a frame is copied with the ratio in which it is shown")
  func anamorphic() async throws {
    var sizes: [FrameSize] = []
    _ = try await Clip.withVideo(Clip.anamorphic) { video in
      try await video.contains { frame in
        sizes.append(frame.size)
        return false
      }
    }
    #expect(sizes == [FrameSize(width: 160, height: 53)])
  }

  @Test(
    "S2: a sensitive frame ends the analysis, and a clean video is read to the end"
  )
  func verdicts() async throws {
    let family = TestFamily()
    await family.organizer.setCommunicationSafety(.simple)
    let isChecked = Mutex(0)
    let isStrict = Mutex(true)
    family.checkPictures { picture in
      isChecked.withLock { $0 += 1 }
      // The last pixel, before the checksums and the end of the PNG.
      let isRed = picture[picture.count - 23] > 100
      return isRed && isStrict.withLock { $0 } ? .sensitive : .clean
    }
    try await family.app {
      try await Clip.withFile(Clip.h264) { file in
        let handler = SCSensitivityAnalyzer().videoAnalysis(forFileAt: file)
        let sensitive = try await handler.hasSensitiveContent()
        #expect(sensitive.isSensitive && isChecked.withLock { $0 } == 6)
        isStrict.withLock { $0 = false }
        let clean = try await handler.hasSensitiveContent()
        #expect(!clean.isSensitive && isChecked.withLock { $0 } == 17)
        #expect(handler.progress.fractionCompleted == 1)
      }
      try await Clip.withFile(Clip.withSound) { file in
        let handler = SCSensitivityAnalyzer().videoAnalysis(forFileAt: file)
        let analysis = try await handler.hasSensitiveContent()
        #expect(!analysis.isSensitive)
      }
    }
  }

  @Test("S2: a frame without a verdict leaves its video without a result")
  func noVerdict() async throws {
    let family = TestFamily()
    await family.organizer.setCommunicationSafety(.simple)
    let count = Mutex(0)
    family.checkPictures { _ in
      count.withLock {
        $0 += 1
        return $0 == 10 ? .undecided : .clean
      }
    }
    try await family.app {
      try await Clip.withFile(Clip.vp9) { file in
        let handler = SCSensitivityAnalyzer().videoAnalysis(forFileAt: file)
        #expect(await problem { _ = try await handler.hasSensitiveContent() } == 462)
      }
    }
  }

  @Test("S2: no video is checked while the policy is disabled, nor without a device")
  func disabled() async throws {
    try await Clip.withFile(Clip.vp8) { file in
      let handler = SCSensitivityAnalyzer().videoAnalysis(forFileAt: file)
      try await TestFamily().app {
        #expect(await problem { _ = try await handler.hasSensitiveContent() } == 460)
      }
      #expect(await problem { _ = try await handler.hasSensitiveContent() } == 422)
    }
  }

  @Test("S2: what is no video of one stream is never clean, and a missing file is an error")
  func unreadable() async throws {
    let family = TestFamily()
    await family.organizer.setCommunicationSafety(.simple)
    try await family.app {
      let analyzer = SCSensitivityAnalyzer()
      for content in [
        Clip.twoStreams, Clip.withCover, Clip.narrow, Clip.wide, Clip.otherCodec, Data(),
        Data([1, 2, 3]), Data(count: 100_000),
        Clip.h264.prefix(1_500), Clip.vp9.prefix(40), Clip.h264.dropFirst(4),
      ] {
        try await Clip.withFile(Data(content)) { file in
          let handler = analyzer.videoAnalysis(forFileAt: file)
          #expect(await problem { _ = try await handler.hasSensitiveContent() } == 464)
        }
      }
      for path in ["/dev/zero", "/tmp"] {
        let handler = analyzer.videoAnalysis(forFileAt: URL(filePath: path))
        #expect(await problem { _ = try await handler.hasSensitiveContent() } == 464)
      }
      await #expect(throws: POSIXError.self) {
        _ = try await analyzer.videoAnalysis(forFileAt: URL(filePath: "/nowhere/a.mp4"))
          .hasSensitiveContent()
      }
      await #expect(throws: CocoaError.self) {
        _ = try await analyzer.videoAnalysis(forFileAt: URL(string: "https://example.com/a.mp4")!)
          .hasSensitiveContent()
      }
      // A pipe without a writer would block a reader.
      let pipe = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
      mkfifo(pipe.path, 0o600)
      let handler = analyzer.videoAnalysis(forFileAt: pipe)
      #expect(await problem { _ = try await handler.hasSensitiveContent() } == 464)
      try FileManager.default.removeItem(at: pipe)
    }
  }
}
