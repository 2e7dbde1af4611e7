import CPictureExchange
import Dispatch
public import FamilyModel
public import Foundation
public import PerceptualHash
import Synchronization
import ZeroMQ

/// Computes the perceptual hashes of pictures in a process of its own, which may do nothing else.
///
/// `stopped` → (first picture) `running` → (death, silence or a malformed reply) `stopped`.
///
/// Strangers choose the pictures, and decoders have defects. The process of `content-decoder` has no
/// network, no files, and only the picture that it decodes. A process that does not answer within
/// ``ContentLimits/decoderTimeout`` is killed. The next picture starts another one.
public final class PictureDecoder: Sendable {
  /// A decoder that cannot be started, or that cannot confine itself.
  public struct Failure: Error, CustomStringConvertible {
    /// The program and the reason in one sentence.
    public let description: String
  }

  private struct State {
    var running: DecoderProcess?
    var lastStart = MonotonicInstant.machineStart
  }

  private let program: URL
  private let timeout: Duration
  /// Pictures are decoded one after the other.
  private let queue = DispatchQueue(label: "decoder")
  private let state = Mutex(State())

  /// Creates a decoder that is not yet running.
  ///
  /// - Parameters:
  ///   - program: The path of `content-decoder`.
  ///   - timeout: The time for the start of the process, and for one picture.
  public init(program: URL, timeout: Duration = ContentLimits.decoderTimeout) {
    self.program = program
    self.timeout = timeout
  }

  deinit { state.withLock { Self.end(&$0) } }

  /// Starts the process, unless it runs.
  ///
  /// - Throws: `Failure`.
  public func start() async throws -> DecoderGreeting {
    try await onQueue { state throws(Failure) in try self.running(&state).greeting }
  }

  /// Ends the process.
  public func stop() async { try? await onQueue { Self.end(&$0) } }

  /// The number of the running process, for tests.
  package var process: Int32? { state.withLock { $0.running?.process } }

  /// Decodes a picture.
  ///
  /// - Returns: `nil` if the process cannot be started, ended or did not answer in time.
  public func reply(to picture: Avatar) async -> DecoderReply? {
    guard let format = Self.formats[picture.mediaType] else { return .undecodable }
    return try? await onQueue { state throws(Failure) in
      let running = try self.running(&state)
      let isSent = running.send(picture.bytes, format)
      let bytes = isSent ? running.message(atMost: DecoderReply.maximumBytes) : []
      guard let reply = DecoderReply(bytes) else {
        Self.end(&state)
        throw Failure(description: "\(self.program.path) did not answer.")
      }
      return reply
    }
  }

  private static let formats: [String: picture_format] = [
    "image/png": picture_png, "image/jpeg": picture_jpeg, "image/gif": picture_gif,
    "image/webp": picture_webp,
  ]

  private func onQueue<T: Sendable>(
    _ body: @escaping @Sendable (inout State) throws(Failure) -> T
  ) async throws(Failure) -> T {
    let result: Result<T, Failure> = await withCheckedContinuation { continuation in
      queue.async {
        let result = self.state.withLock { state in
          Result { () throws(Failure) in try body(&state) }
        }
        continuation.resume(returning: result)
      }
    }
    return try result.get()
  }

  /// The running process. Starts one if necessary, at most one in
  /// ``ContentLimits/decoderInterval``.
  private func running(_ state: inout State) throws(Failure) -> DecoderProcess {
    if let running = state.running { return running }
    let next = state.lastStart + ContentLimits.decoderInterval
    if next > .now { usleep(UInt32((next - .now).count / 1_000)) }
    state.lastStart = .now
    let running = try DecoderProcess(program: program, timeout: timeout)
    state.running = running
    return running
  }

  private static func end(_ state: inout State) {
    state.running?.end()
    state.running = nil
  }
}
