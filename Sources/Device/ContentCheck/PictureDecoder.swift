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

  private struct Running {
    let process: pid_t
    let socket: Int32
    let greeting: DecoderGreeting
  }

  private struct State {
    var running: Running?
    var lastStart = MonotonicInstant.machineStart
  }

  private let program: URL
  private let timeout: Nanoseconds
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
    self.timeout = Nanoseconds(timeout)
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
      let sent = picture_send(
        running.socket, picture.bytes, picture.bytes.count, Int32(format.rawValue))
      let bytes = sent == 0 ? Self.message(running.socket) : []
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
  private func running(_ state: inout State) throws(Failure) -> Running {
    if let running = state.running { return running }
    let next = state.lastStart + ContentLimits.decoderInterval
    if next > .now { usleep(UInt32((next - .now).count / 1_000)) }
    state.lastStart = .now
    var sockets: [Int32] = [-1, -1]
    let timeout = Int32(clamping: timeout.milliseconds)
    guard picture_sockets(&sockets, timeout) == 0 else {
      throw Failure(description: "Cannot create a socket for \(program.path).")
    }
    var process = pid_t()
    let error = picture_spawn(program.path, sockets[1], &process)
    close(sockets[1])
    guard error == 0 else {
      close(sockets[0])
      throw Failure(description: "Cannot start \(program.path). Name it with --decoder.")
    }
    guard let greeting = DecoderGreeting(Self.message(sockets[0])), greeting.isConfined else {
      picture_end(process)
      close(sockets[0])
      throw Failure(
        description: "\(program.path) cannot confine itself. Run it with --check for the reason.")
    }
    let running = Running(process: process, socket: sockets[0], greeting: greeting)
    state.running = running
    return running
  }

  private static func end(_ state: inout State) {
    guard let running = state.running else { return }
    picture_end(running.process)
    close(running.socket)
    state.running = nil
  }

  /// The next message; empty at the end of the socket and after the time-out.
  private static func message(_ socket: Int32) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: DecoderReply.maximumBytes + 1) { buffer, count in
      count = max(recv(socket, buffer.baseAddress, buffer.count, 0), 0)
    }
  }
}
