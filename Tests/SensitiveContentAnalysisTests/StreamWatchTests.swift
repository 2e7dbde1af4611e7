import DeviceConnection
import FamilyModel
import Testing

@testable import SensitiveContentAnalysis

/// The meaning of the verdicts on a stream's frames.
@Suite struct StreamWatchTests {
  private static let noVerdict = DeviceProblem(.noVerdict)
  private var watch = StreamWatch()

  private mutating func send(at time: Duration) throws -> UInt64 {
    watch.hold(at: time)
    let number = watch.send()
    return try #require(number)
  }

  private mutating func frame(
    _ verdict: Result<Bool, DeviceProblem>, at time: Duration = .zero, after delay: Duration = .zero
  ) throws {
    let number = try send(at: time)
    watch.receive(verdict, on: number, at: time + delay)
  }

  @Test(
    "S4: a sensitive frame interrupts until the person continues")
  mutating func interrupts() throws {
    #expect(watch.state.analysis == nil)
    try frame(.success(false))
    var analysis = try #require(watch.state.analysis)
    #expect(!analysis.isSensitive && !analysis.shouldInterruptVideo && !analysis.shouldMuteAudio)
    try frame(.success(true))
    analysis = try #require(watch.state.analysis)
    #expect(analysis.isSensitive && analysis.shouldInterruptVideo)
    #expect(analysis.shouldMuteAudio && analysis.shouldIndicateSensitivity)
    try frame(.success(false), at: .seconds(60))
    #expect(watch.state == .interrupted)
    watch.continueStream()
    analysis = try #require(watch.state.analysis)
    #expect(analysis.isSensitive && analysis.shouldIndicateSensitivity)
    #expect(!analysis.shouldInterruptVideo && !analysis.shouldMuteAudio)
  }

  @Test("S4: a continued stream is interrupted again once it was clean for ten seconds")
  mutating func continued() throws {
    try frame(.success(true))
    watch.continueStream()
    try frame(.success(false), at: .seconds(1))
    try frame(.success(true), at: .seconds(9))
    try frame(.success(false), at: .seconds(10))
    try frame(.success(false), at: .milliseconds(19_999))
    #expect(watch.state == .continued(cleanSince: .seconds(10)))
    try frame(.success(true), at: .milliseconds(19_999))
    #expect(watch.state == .continued(cleanSince: nil))
    try frame(.success(false), at: .seconds(20))
    try frame(.success(false), at: .seconds(30))
    #expect(watch.state == .clean)
    try frame(.success(true), at: .seconds(31))
    #expect(watch.state == .interrupted)
  }

  @Test("S4: a frame without a verdict interrupts, until a later frame has a timely clean one")
  mutating func failure() throws {
    try frame(.success(false))
    let earlier = try send(at: .seconds(1))
    try frame(.failure(Self.noVerdict), at: .seconds(1))
    let analysis = try #require(watch.state.analysis)
    #expect(!analysis.isSensitive && analysis.shouldInterruptVideo && analysis.shouldMuteAudio)
    #expect(!analysis.shouldIndicateSensitivity && watch.state.problem == Self.noVerdict)
    watch.receive(.success(false), on: earlier, at: .seconds(1))
    #expect(watch.state == .unchecked(Self.noVerdict))
    watch.continueStream()
    #expect(watch.state == .unchecked(Self.noVerdict))
    try frame(.success(false), at: .seconds(2))
    #expect(watch.state == .clean)
  }

  @Test("S4: a late verdict counts if it is sensitive, and never as a clean one")
  mutating func late() throws {
    try frame(.success(false))
    let frames = [
      try send(at: .seconds(5)), try send(at: .seconds(5)),
    ]
    #expect(watch.deadline == .seconds(5) + Limits.streamLag)
    watch.checkLag(at: .seconds(5) + Limits.streamLag)
    #expect(watch.state == .clean)
    let later = Duration.milliseconds(6_001)
    watch.checkLag(at: later)
    #expect(watch.state == .unchecked(Self.noVerdict))
    // Late frames keep their places, so that a slow worker gets no more of them.
    watch.hold(at: later)
    let further = watch.send()
    #expect(further == nil)
    // A late frame is recorded once, so that its clock does not run without pause.
    #expect(watch.deadline == later + Limits.streamLag)
    watch.receive(.success(false), on: frames[0], at: later)
    #expect(watch.state == .unchecked(Self.noVerdict))
    watch.receive(.success(true), on: frames[1], at: later)
    #expect(watch.state == .interrupted)
  }

  @Test("S4: a late clean verdict counts for nothing, also if nobody looked for late frames")
  mutating func unseen() throws {
    try frame(.success(false), after: .milliseconds(1_001))
    #expect(watch.state == .unknown)
    try frame(.success(false), at: .seconds(2), after: Limits.streamLag)
    #expect(watch.state == .clean)
  }

  @Test("S4: an interrupted stream stays interrupted as a sensitive one without verdicts")
  mutating func both() throws {
    try frame(.success(true))
    try frame(.failure(Self.noVerdict))
    #expect(watch.state == .interrupted)
    watch.refuse(DeviceProblem(.badImage))
    #expect(watch.state == .interrupted)
  }

  @Test("S4: without a check the stream has no guidance, until the check is on again")
  mutating func off() throws {
    let off = DeviceProblem(.picturesNotChecked)
    try frame(.success(true))
    try frame(.failure(off))
    #expect(watch.state.analysis == nil && watch.state.problem == off)
    try frame(.success(false))
    #expect(watch.state == .clean)
  }

  @Test("S4: a refused frame interrupts, and later clean frames end the interruption")
  mutating func refused() throws {
    let earlier = try send(at: .zero)
    watch.refuse(DeviceProblem(.badImage))
    watch.receive(.success(false), on: earlier, at: .zero)
    #expect(watch.state == .unchecked(DeviceProblem(.badImage)))
    try frame(.success(false))
    #expect(watch.state == .clean)
  }

  @Test("S4: the worker has at most two frames of a stream, and an ended stream none")
  mutating func places() throws {
    var frames: [UInt64?] = []
    for _ in 0..<3 {
      watch.hold(at: .zero)
      frames.append(watch.send())
    }
    #expect(frames == [1, 2, nil])
    watch.receive(.success(false), on: 2, at: .zero)
    // A repeated verdict frees no second place.
    watch.receive(.success(false), on: 2, at: .zero)
    frames = [watch.send()]
    watch.hold(at: .zero)
    frames.append(watch.send())
    #expect(frames == [3, nil])
    watch.end()
    watch.receive(.success(true), on: 1, at: .zero)
    watch.hold(at: .zero)
    let last = watch.send()
    #expect(watch.state == .unknown && watch.deadline == nil && last == nil)
  }

  @Test("S4: the time of a frame begins with the first frame that it replaced")
  mutating func replaced() throws {
    let frames = [try send(at: .zero), try send(at: .zero)]
    for time in [Duration.milliseconds(100), .milliseconds(500), .milliseconds(900)] {
      watch.hold(at: time)
    }
    for frame in frames { watch.receive(.success(false), on: frame, at: .milliseconds(950)) }
    let number = watch.send()
    let sent = try #require(number)
    #expect(watch.state == .clean && watch.deadline == .milliseconds(1_100))
    watch.receive(.success(false), on: sent, at: .milliseconds(1_101))
    watch.checkLag(at: .milliseconds(1_101))
    #expect(watch.deadline == nil)
    // A frame that waits for a place is late, too.
    for _ in 0..<2 { _ = try send(at: .seconds(2)) }
    watch.hold(at: .milliseconds(1_500))
    watch.checkLag(at: .milliseconds(2_501))
    #expect(watch.state == .unchecked(Self.noVerdict))
    #expect(watch.deadline == .seconds(3))
  }

  @Test("S4: a person continues no stream whose frames have no verdict")
  mutating func continuedWithout() throws {
    try frame(.success(true))
    try frame(.failure(Self.noVerdict))
    watch.continueStream()
    #expect(watch.state == .unchecked(Self.noVerdict))
    try frame(.success(true))
    watch.continueStream()
    #expect(watch.state == .continued(cleanSince: nil))
  }
}
