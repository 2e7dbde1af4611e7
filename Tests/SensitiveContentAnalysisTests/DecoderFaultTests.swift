import FamilyModel
import Foundation
import PermissionKitTesting
import PerceptualHash
import Synchronization
import Testing

@testable import SensitiveContentAnalysis

/// The analysis of video files while files are damaged and decoders die.
@Suite(.timeLimit(.minutes(10))) struct DecoderFaultTests {
  @Test("S2: damaged videos end with a result or problem 464", arguments: Clip.formats)
  func damaged(_ clip: Data) async throws {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<25 {
      var content = [UInt8](clip)
      for _ in 0..<Int.random(in: 1...8, using: &random) {
        content[Int.random(in: 0..<content.count, using: &random)] = UInt8.random(
          in: 0...255, using: &random)
      }
      let number = await problem {
        _ = try await Clip.withVideo(Data(content)) { try await $0.contains { _ in false } }
      }
      #expect(number == nil || number == 464)
    }
  }

  @Test("S2: a decoder that is killed ends the analysis of its video without a result")
  func killed() async throws {
    let number = await problem {
      _ = try await Clip.withVideo(Clip.mpeg4) { video in
        try await video.contains { _ in
          kill(video.process!, SIGKILL)
          return false
        }
      }
    }
    // The last frames may wait in the socket, but not the end.
    #expect(number == 464)
  }

  @Test(
    "S2: without a decoder that confines itself no video is read",
    arguments: ["/missing", "/bin/cat"])
  func noDecoder(_ program: String) async throws {
    let number = await problem {
      _ = try await Clip.withVideo(Clip.vp9, decoder: program) {
        try await $0.contains { _ in true }
      }
    }
    #expect(number == 465)
  }

  @Test("S2: the end of the task and of the progress end an analysis", arguments: [true, false])
  func cancelled(_ byTask: Bool) async throws {
    let family = TestFamily()
    await family.organizer.setCommunicationSafety(.simple)
    try await family.app {
      try await Clip.withFile(Clip.vp9) { file in
        let handler = SCSensitivityAnalyzer().videoAnalysis(forFileAt: file)
        let running = Mutex<Task<Void, any Error>?>(nil)
        family.checkPictures { _ in
          if byTask { running.withLock { $0?.cancel() } } else { handler.progress.cancel() }
          return .clean
        }
        let task = Task {
          while running.withLock({ $0 == nil }) { await Task.yield() }
          _ = try await handler.hasSensitiveContent()
        }
        running.withLock { $0 = task }
        await #expect(throws: CancellationError.self) { try await task.value }
      }
    }
  }

  @Test("S2: a process decodes at most two videos at a time, and one that waits can be cancelled")
  func places() async throws {
    let load = Load()
    // Other tests of this process use places, too.
    let tasks = (0..<Limits.videoDecoders).map { _ in Task { try await load.analyze() } }
    while load.running.withLock({ $0 }) < Limits.videoDecoders {
      try await Task.sleep(for: .milliseconds(1))
    }
    let waiting = Task { try await load.analyze() }
    try await Task.sleep(for: .milliseconds(200))
    #expect(load.running.withLock { $0 } == Limits.videoDecoders)
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    load.isReleased.withLock { $0 = true }
    for task in tasks { #expect(try await task.value) }
  }
}

/// Videos whose frames are checked until a test releases them.
private final class Load: Sendable {
  let isReleased = Mutex(false)
  /// The number of videos whose first frame has arrived.
  let running = Mutex(0)

  func analyze() async throws -> Bool {
    try await Clip.withVideo(Clip.vp9) { video in
      try await video.contains { _ in
        running.withLock { $0 += 1 }
        while !isReleased.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
        return true
      }
    }
  }
}
