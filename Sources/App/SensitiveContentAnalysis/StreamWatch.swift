import DeviceConnection
import FamilyModel

/// A live stream's frames at the worker, and the meaning of their verdicts.
///
/// - `unknown` → (clean verdict) `clean` → (sensitive verdict) `interrupted`.
/// - `interrupted` → (the person continues) `continued` → (clean for ``Limits/streamCalm``) `clean`.
/// - `unknown`, `clean` or `continued` → (a frame without a timely verdict) `unchecked`.
/// - `unchecked` → (timely clean verdict on a later frame) `clean`.
/// - any → (no check applies) `off` → (any verdict) as from `unknown`.
struct StreamWatch: Sendable {
  enum State: Hashable, Sendable {
    case unknown
    case clean
    case interrupted
    /// `cleanSince`: the time since which all frames are clean; `nil` for none.
    case continued(cleanSince: Duration?)
    case unchecked(DeviceProblem)
    case off(DeviceProblem)
  }

  /// The time for the verdict on a frame.
  let lag: Duration
  private(set) var state = State.unknown
  private(set) var isEnded = false
  /// The frames at the worker, in order.
  private var waiting: [Frame] = []
  /// The arrival of the first frame that the next one at the worker stands for; `nil`: none waits for a place.
  private var held: Frame?
  private var lastFrame: UInt64 = 0
  /// The last frame that had no timely verdict.
  private var lastUnchecked: UInt64 = 0
  /// The reason why frames have no verdict now.
  private var failure: DeviceProblem?

  private struct Frame {
    var number: UInt64
    let arrival: Duration
    /// Whether the missing verdict was recorded.
    var isLate = false
  }

  init(lag: Duration = Limits.streamLag) { self.lag = lag }

  /// The time at which the next frame is late; `nil` without a frame that waits.
  var deadline: Duration? {
    (waiting + [held].compactMap(\.self)).filter { !$0.isLate }.map { $0.arrival + lag }.min()
  }

  /// Records the arrival of a frame, which replaces the one that waits for a place.
  mutating func hold(at now: Duration) {
    if !isEnded, held == nil { held = Frame(number: 0, arrival: now) }
  }

  /// Numbers the frame that waits, for the worker; `nil` while ``Limits/streamFrames`` are there.
  mutating func send() -> UInt64? {
    guard var frame = held, waiting.count < Limits.streamFrames else { return nil }
    held = nil
    lastFrame += 1
    frame.number = lastFrame
    waiting.append(frame)
    return lastFrame
  }

  /// Records whether a frame is sensitive, or why it has no verdict.
  mutating func receive(_ verdict: Result<Bool, DeviceProblem>, on frame: UInt64, at now: Duration)
  {
    guard !isEnded, let index = waiting.firstIndex(where: { $0.number == frame }) else { return }
    let isTimely = now <= waiting.remove(at: index).arrival + lag && frame > lastUnchecked
    if isTimely, case .success = verdict { failure = nil }
    switch verdict {
    case .success(true):
      if case .continued = state {
        state = .continued(cleanSince: nil)
      } else {
        state = .interrupted
      }
    case .success(false):
      if isTimely { receiveClean(at: now) }
    case .failure(let problem):
      if problem.isWithoutCheck { state = .off(problem) } else { fail(problem, frame) }
    }
  }

  private mutating func receiveClean(at now: Duration) {
    switch state {
    case .interrupted: break
    case .continued(cleanSince: nil): state = .continued(cleanSince: now)
    case .continued(let since?):
      if now >= since + Limits.streamCalm { state = .clean }
    case .unknown, .clean, .unchecked, .off: state = .clean
    }
  }

  /// Records a frame that the worker cannot receive.
  mutating func refuse(_ problem: DeviceProblem) {
    guard !isEnded else { return }
    held = nil
    lastFrame += 1
    fail(problem, lastFrame)
  }

  /// Records the frames that are late.
  mutating func checkLag(at now: Duration) {
    for index in waiting.indices where waiting[index].arrival + lag < now && !waiting[index].isLate
    {
      waiting[index].isLate = true
      fail(DeviceProblem(.noVerdict), waiting[index].number)
    }
    if let frame = held, frame.arrival + lag < now, !frame.isLate {
      held?.isLate = true
      fail(DeviceProblem(.noVerdict), lastFrame)
    }
  }

  private mutating func fail(_ problem: DeviceProblem, _ frame: UInt64) {
    lastUnchecked = max(lastUnchecked, frame)
    failure = problem
    if state != .interrupted { state = .unchecked(problem) }
  }

  /// Records that the person continues a sensitive stream. A stream without verdicts stays interrupted.
  mutating func continueStream() {
    guard state == .interrupted else { return }
    state = failure.map { .unchecked($0) } ?? .continued(cleanSince: nil)
  }

  mutating func end() {
    isEnded = true
    waiting = []
    held = nil
    state = .unknown
  }
}

extension StreamWatch.State {
  /// The guidance of the app; `nil` if no frame has a verdict, or no check applies.
  var analysis: SCSensitivityAnalysis? {
    switch self {
    case .unknown, .off: nil
    case .clean: SCSensitivityAnalysis(isSensitive: false, isInterrupted: false)
    case .interrupted: SCSensitivityAnalysis(isSensitive: true, isInterrupted: true)
    case .continued: SCSensitivityAnalysis(isSensitive: true, isInterrupted: false)
    case .unchecked: SCSensitivityAnalysis(isSensitive: false, isInterrupted: true)
    }
  }

  /// The reason why frames have no verdict.
  var problem: DeviceProblem? {
    switch self {
    case .unchecked(let problem), .off(let problem): problem
    case .unknown, .clean, .interrupted, .continued: nil
    }
  }
}
