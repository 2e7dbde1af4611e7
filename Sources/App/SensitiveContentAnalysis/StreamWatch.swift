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
  /// The frames at the worker with the times of their arrival, in order.
  private var waiting: [(frame: UInt64, arrival: Duration)] = []
  private var lastFrame: UInt64 = 0
  /// The last frame that had no timely verdict.
  private var lastUnchecked: UInt64 = 0

  init(lag: Duration = Limits.streamLag) { self.lag = lag }

  /// The time at which the oldest frame is late; `nil` without a frame at the worker.
  var deadline: Duration? { waiting.first.map { $0.arrival + lag } }

  /// Numbers a frame for the worker; `nil` while ``Limits/streamFrames`` are there.
  mutating func send(at now: Duration) -> UInt64? {
    guard !isEnded, waiting.count < Limits.streamFrames else { return nil }
    lastFrame += 1
    waiting.append((lastFrame, now))
    return lastFrame
  }

  /// Records whether a frame is sensitive, or why it has no verdict.
  mutating func receive(_ verdict: Result<Bool, DeviceProblem>, on frame: UInt64, at now: Duration)
  {
    guard !isEnded, let index = waiting.firstIndex(where: { $0.frame == frame }) else { return }
    let isTimely = now <= waiting.remove(at: index).arrival + lag
    switch verdict {
    case .success(true):
      if case .continued = state {
        state = .continued(cleanSince: nil)
      } else {
        state = .interrupted
      }
    case .success(false):
      if isTimely, frame > lastUnchecked { receiveClean(at: now) }
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
    lastFrame += 1
    fail(problem, lastFrame)
  }

  /// Records the frames that are late.
  mutating func checkLag(at now: Duration) {
    for late in waiting where late.arrival + lag < now {
      fail(DeviceProblem(.noVerdict), late.frame)
    }
  }

  private mutating func fail(_ problem: DeviceProblem, _ frame: UInt64) {
    lastUnchecked = max(lastUnchecked, frame)
    if state != .interrupted { state = .unchecked(problem) }
  }

  /// Records that the person continues a sensitive stream.
  mutating func continueStream() {
    if state == .interrupted { state = .continued(cleanSince: nil) }
  }

  mutating func end() {
    isEnded = true
    waiting = []
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
