import AppClient
public import DeviceConnection
import Dispatch
import FamilyModel
import Synchronization

/// An object that has the frames of a live stream analyzed by the worker of the child's device.
///
/// An app has one analyzer for each stream of a call: one for its own camera, and one for each stream that it
/// receives. The app passes every frame before the frame is shown or sent.
///
/// ```swift
/// let analyzer = try SCVideoStreamAnalyzer(participantUUID: caller, streamDirection: .incoming)
/// analyzer.analysisChangedHandler = { analysis, _ in
///   view.isCovered = analysis?.shouldInterruptVideo ?? false
///   speaker.isMuted = analysis?.shouldMuteAudio ?? false
/// }
/// analyzer.analyze(frame.span.bytes, layout: SCPixelLayout(.nv12, width: 1280, height: 720))
/// ```
///
/// A sensitive frame interrupts the stream until ``continueStream()``. A stream is interrupted as well while
/// its frames have no verdict within a second: the worker is dead, stopped or too slow. Such an
/// interruption ends with the next timely verdict.
///
/// The worker has at most two frames of a stream at a time. Meanwhile the analyzer keeps the newest frame and
/// skips the others. The frames stay on the device, which neither stores nor logs them. Objects may be used from
/// any task at the same time.
public final class SCVideoStreamAnalyzer: Sendable {
  /// The side of a call from which a stream comes.
  public enum StreamDirection: Int, Sendable, CaseIterable {
    /// The stream of this device's camera.
    case outgoing = 1
    /// The stream of another participant.
    case incoming = 2
  }

  /// Receives the guidance, or `nil` with the reason why no check applies.
  ///
  /// While frames have no verdict, the handler receives both: guidance that interrupts, and the reason.
  public typealias ChangeHandler = @Sendable (SCSensitivityAnalysis?, (any Error)?) -> Void

  private struct Stream {
    var watch: StreamWatch
    /// The newest frame that waits for a place at the worker.
    var held: SmallFrame?
    var skipped: UInt64 = 0
    var handler: ChangeHandler?
    var readers: [UInt64: AsyncThrowingStream<SCSensitivityAnalysis, any Error>.Continuation] = [:]
    var lastReader: UInt64 = 0
    var timer: Task<Void, Never>?
  }

  /// The side from which the stream comes.
  public let streamDirection: StreamDirection
  /// The participant of the call whose stream this is.
  public let participantUUID: String
  private let session: AppSession
  private let stream: Mutex<Stream>
  private let start = SuspendingClock.now
  /// Calls the handlers in order.
  private let queue = DispatchQueue(label: "analysis")

  /// Creates an analyzer of a stream.
  ///
  /// - Parameters:
  ///   - participantUUID: The participant whose stream this is. The value stays in this process.
  ///   - streamDirection: The side of the call from which the stream comes.
  /// - Throws: `DeviceProblem`: the number is 460 while the policy is `disabled`, and 422 without a device.
  public convenience init(participantUUID: String, streamDirection: StreamDirection) throws {
    try self.init(
      participantUUID: participantUUID, streamDirection: streamDirection, lag: Limits.streamLag)
  }

  /// Creates an analyzer with another time for the verdict on a frame.
  init(participantUUID: String, streamDirection: StreamDirection, lag: Duration) throws {
    do { session = try AppSession.current() } catch { throw DeviceProblem(reason: error) }
    self.participantUUID = participantUUID
    self.streamDirection = streamDirection
    stream = Mutex(Stream(watch: StreamWatch(lag: lag)))
    let session = session
    Task { await session.requestSafety() }
    if session.safety == .off { throw DeviceProblem(.picturesNotChecked) }
  }

  deinit { endAnalysis() }

  /// The present guidance; `nil` before the first verdict, after the end, and while no check applies.
  ///
  /// An app shows no frame before the first verdict.
  public var analysis: SCSensitivityAnalysis? { stream.withLock { $0.watch.state.analysis } }

  /// The reason why frames have no verdict, or why no check applies; `nil` otherwise.
  ///
  /// An addition to Apple's API.
  public var problem: DeviceProblem? { stream.withLock { $0.watch.state.problem } }

  /// The number of frames that were skipped, because the worker was slower than the stream.
  ///
  /// An addition to Apple's API.
  public var skippedFrames: UInt64 { stream.withLock(\.skipped) }

  /// Receives each change of the guidance, in order, on an unspecified thread.
  public var analysisChangedHandler: ChangeHandler? {
    get { stream.withLock(\.handler) }
    set {
      // The old handler may own what calls the analyzer when it is released: not while the stream is locked.
      let old = stream.withLock { stream in
        let old = stream.handler
        if !stream.watch.isEnded { stream.handler = newValue }
        return old
      }
      withExtendedLifetime(old) {}
    }
  }

  /// The changes of the guidance, from the present one on. A slow reader receives the newest one.
  ///
  /// The sequence ends with ``endAnalysis()``. The sequence throws `DeviceProblem` 460 once guardians turn the
  /// check off.
  public var analysisChanges: some AsyncSequence<SCSensitivityAnalysis, any Error> {
    AsyncThrowingStream(
      SCSensitivityAnalysis.self, bufferingPolicy: .bufferingNewest(1)
    ) { reader in
      stream.withLock { stream in
        guard !stream.watch.isEnded else { return reader.finish() }
        if let analysis = stream.watch.state.analysis { reader.yield(analysis) }
        stream.lastReader += 1
        let number = stream.lastReader
        stream.readers[number] = reader
        reader.onTermination = { [weak self] _ in
          // The reader may end while the stream is locked.
          Task { self?.removeReader(number) }
        }
      }
    }
  }

  private func removeReader(_ number: UInt64) {
    _ = stream.withLock { $0.readers.removeValue(forKey: number) }
  }

  /// Analyzes a frame of the stream. Returns once the frame is copied at a smaller size.
  ///
  /// A frame with a wrong layout interrupts the stream with problem 309. The sides of a frame are 16 to 8,192
  /// pixels, and one side has at most 8 times the pixels of the other.
  ///
  /// - Parameters:
  ///   - pixels: The bytes of the frame.
  ///   - layout: The order of the bytes.
  public func analyze(_ pixels: RawSpan, layout: SCPixelLayout) {
    let frame = SmallFrame(pixels, layout)
    change { stream in
      if stream.held != nil { stream.skipped += 1 }
      guard let frame else {
        stream.held = nil
        stream.watch.refuse(DeviceProblem(.badImage))
        return
      }
      stream.held = frame
      stream.watch.hold(at: now)
    }
  }

  /// Continues a stream that a sensitive frame interrupted, because the person chose to see it.
  ///
  /// The stream is indicated as sensitive until its frames were clean for ten seconds. A later sensitive frame
  /// interrupts it again. The method has no effect on a stream whose frames have no verdict.
  public func continueStream() { change { $0.watch.continueStream() } }

  /// Ends the analysis. Frames that follow are ignored.
  public func endAnalysis() {
    let (handler, readers, timer) = stream.withLock { stream in
      let ended = (stream.handler, stream.readers, stream.timer)
      stream.watch.end()
      (stream.held, stream.handler) = (nil, nil)
      (stream.readers, stream.timer) = ([:], nil)
      return ended
    }
    timer?.cancel()
    for reader in readers.values { reader.finish() }
    withExtendedLifetime(handler) {}
  }

  private var now: Duration { start.duration(to: .now) }

  /// Changes the stream, sends the frame that has a place at the worker, and reports changed guidance.
  private func change(_ body: (inout sending Stream) -> Void) {
    stream.withLock { stream in
      guard !stream.watch.isEnded else { return }
      let state = stream.watch.state
      body(&stream)
      stream.watch.checkLag(at: now)
      if let frame = stream.held, let number = stream.watch.send() {
        stream.held = nil
        check(frame, number)
      }
      if stream.timer == nil, let deadline = stream.watch.deadline {
        stream.timer = timer(until: deadline)
      }
      if stream.watch.state != state { report(stream) }
    }
  }

  private func report(_ stream: Stream) {
    let (analysis, problem) = (stream.watch.state.analysis, stream.watch.state.problem)
    if let handler = stream.handler { queue.async { handler(analysis, problem) } }
    for reader in stream.readers.values {
      if let analysis { reader.yield(analysis) } else { reader.finish(throwing: problem) }
    }
  }

  private func check(_ frame: SmallFrame, _ number: UInt64) {
    Task { [weak self, session] in
      let verdict: Result<Bool, DeviceProblem>
      do {
        verdict = .success(try await session.analyze(frame.picture).isSensitive())
      } catch { verdict = .failure(DeviceProblem(reason: error)) }
      guard let self else { return }
      change { $0.watch.receive(verdict, on: number, at: now) }
    }
  }

  /// Looks for late frames when the oldest one becomes late.
  private func timer(until deadline: Duration) -> Task<Void, Never> {
    Task { [weak self, start] in
      // A moment later, because a frame at its deadline is not late.
      let due = start.advanced(by: deadline + .milliseconds(1))
      guard (try? await Task.sleep(until: due, clock: .suspending)) != nil else { return }
      self?.change { $0.timer = nil }
    }
  }
}
