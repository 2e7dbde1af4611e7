import AppClient
import ContentCheck
import DeviceConnection
import Dispatch
import FamilyModel
import Foundation
import PerceptualHash
import Synchronization

/// A video file that a process of its own decodes.
///
/// `waiting` → (a place among ``Limits/videoDecoders``) `decoding` → (end, sensitive frame, error or cancellation) ended.
final class VideoFile: Sendable {
  private struct State {
    var decoder: DecoderProcess?
    var isCancelled = false
  }

  /// The number of files of this process that are decoded.
  private static let decoding = Mutex(0)
  private let file: Int32
  private let program: URL
  private let state = Mutex(State())
  /// Waits for the decoder's messages.
  private let queue = DispatchQueue(label: "video")

  /// A file that stays open until the end of ``contains(_:)``.
  ///
  /// - Parameter decoder: The path of the device's decoder; `nil`: the one beside this program.
  init(_ file: Int32, decoder: String?) {
    self.file = file
    program = DecoderProcess.program(decoder)
  }

  /// The number of the decoder's process, for tests.
  var process: Int32? { state.withLock { $0.decoder?.process } }

  /// Ends the analysis, from any thread.
  func cancel() {
    state.withLock { state in
      state.isCancelled = true
      state.decoder?.kill()
    }
  }

  /// Whether a frame fulfils the condition.
  ///
  /// - Throws: `DeviceProblem` or `CancellationError`.
  func contains(_ condition: (VideoFrame) async throws -> Bool) async throws -> Bool {
    do {
      try await waitForPlace()
      defer { Self.decoding.withLock { $0 -= 1 } }
      defer { end() }
      try await start()
      return try await anyFrame(condition)
    } catch {
      if state.withLock(\.isCancelled) || error is CancellationError { throw CancellationError() }
      throw DeviceProblem(reason: error)
    }
  }

  private func waitForPlace() async throws {
    func hasPlace() -> Bool {
      Self.decoding.withLock { count in
        guard count < Limits.videoDecoders else { return false }
        count += 1
        return true
      }
    }
    while !hasPlace() {
      try await Task.sleep(for: .milliseconds(20))
      if state.withLock(\.isCancelled) { throw CancellationError() }
    }
  }

  private func anyFrame(_ condition: (VideoFrame) async throws -> Bool) async throws -> Bool {
    var count = 0
    while true {
      switch await next() {
      case .frame(let frame):
        count += 1
        let isFound = try await condition(frame)
        if state.withLock(\.isCancelled) { throw CancellationError() }
        if isFound { return true }
      case .end where count > 0: return false
      case .end, .undecodable, nil: throw Problem.videoUnreadable
      }
    }
  }

  private func start() async throws {
    try await onQueue { [self] in
      let timeout = Limits.videoFrameTimeout
      guard let decoder = try? DecoderProcess(program: program, start: timeout, timeout: timeout)
      else { throw Problem.noVideoDecoder }
      let isCancelled = state.withLock { state in
        state.decoder = decoder
        return state.isCancelled
      }
      if isCancelled { throw CancellationError() }
      guard decoder.send(video: file) else { throw Problem.videoUnreadable }
    }
  }

  /// The next message; `nil` after the decoder's death and after the timeout.
  private func next() async -> VideoReply? {
    try? await onQueue { [self] in
      guard let decoder = state.withLock(\.decoder) else { return nil }
      return VideoReply(decoder.message(atMost: VideoReply.maximumBytes))
    }
  }

  private func end() {
    state.withLock { state in
      state.decoder?.end()
      state.decoder = nil
    }
  }

  private func onQueue<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result(catching: body)) }
    }
  }
}
