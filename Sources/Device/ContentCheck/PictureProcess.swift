import CPictureExchange
import Dispatch
public import FamilyModel
public import Foundation
public import PerceptualHash
import Synchronization
import ZeroMQ

/// A process that is handed pictures and replies to each of them: ``PictureDecoder`` or
/// ``ClassifierProgram``.
///
/// `stopped` → (first picture) `running` → (death, silence or a malformed reply) `stopped`.
///
/// Strangers choose the pictures, and decoders have defects. The process confines itself before its
/// first picture: it has no network, no files, and only the picture that it reads. A process that does
/// not answer in time is killed. The next picture starts another one.
public final class PictureProcess<Reply: PictureReply>: Sendable {
  private struct State {
    var running: DecoderProcess?
    var lastStart = MonotonicInstant.machineStart
  }

  private let program: URL
  private let limits: ProcessLimits
  /// The process reads pictures one after the other.
  private let queue = DispatchQueue(label: "pictures")
  private let state = Mutex(State())
  private let isStopping = Atomic(false)

  /// Creates a process that is not yet running.
  ///
  /// - Parameters:
  ///   - program: The path of the program, which is started without arguments.
  ///   - limits: The times that the process has.
  public init(program: URL, limits: ProcessLimits) {
    self.program = program
    self.limits = limits
  }

  deinit { state.withLock { Self.end(&$0) } }

  /// Starts the process, unless it runs.
  ///
  /// - Throws: ``ProcessFailure``.
  public func start() async throws -> DecoderGreeting {
    try await onQueue { state throws(ProcessFailure) in try self.running(&state).greeting }
  }

  /// Ends the process. Waiting pictures have no reply.
  public func stop() async {
    isStopping.store(true, ordering: .relaxed)
    try? await onQueue { Self.end(&$0) }
    isStopping.store(false, ordering: .relaxed)
  }

  /// The number of the running process, for tests.
  package var process: Int32? { state.withLock { $0.running?.process } }

  /// Hands a picture to the process.
  ///
  /// - Returns: `nil` if the process cannot be started, ended or did not answer in time.
  public func reply(to picture: Avatar) async -> Reply? {
    guard let format = picture_format(mediaType: picture.mediaType) else { return .undecodable }
    let end = MonotonicInstant.now + Nanoseconds(limits.wait)
    return try? await onQueue { state throws(ProcessFailure) in
      guard MonotonicInstant.now <= end, !self.isStopping.load(ordering: .relaxed) else {
        throw ProcessFailure(description: "Too many pictures wait for \(self.program.path).")
      }
      let running = try self.running(&state)
      let isSent =
        !running.hasSurplus && running.send(picture.bytes, Reply.request + Int32(format.rawValue))
      let bytes = isSent ? running.message(atMost: Reply.maximumBytes) : []
      guard let reply = Reply(bytes) else {
        Self.end(&state)
        throw ProcessFailure(description: "\(self.program.path) did not answer.")
      }
      return reply
    }
  }

  private func onQueue<T: Sendable>(
    _ body: @escaping @Sendable (inout State) throws(ProcessFailure) -> T
  ) async throws(ProcessFailure) -> T {
    let result: Result<T, ProcessFailure> = await withCheckedContinuation { continuation in
      queue.async {
        let result = self.state.withLock { state in
          Result { () throws(ProcessFailure) in try body(&state) }
        }
        continuation.resume(returning: result)
      }
    }
    return try result.get()
  }

  /// The running process. Starts one if necessary, at most one in the interval of the limits.
  private func running(_ state: inout State) throws(ProcessFailure) -> DecoderProcess {
    if let running = state.running { return running }
    let next = state.lastStart + Nanoseconds(limits.interval)
    if next > .now { usleep(UInt32((next - .now).count / 1_000)) }
    state.lastStart = .now
    let running = try DecoderProcess(
      program: program, start: limits.start, timeout: limits.picture)
    state.running = running
    return running
  }

  private static func end(_ state: inout State) {
    state.running?.end()
    state.running = nil
  }
}
