import Foundation
import Histogram
import Processes
import ZeroMQ

extension LoadRun {
  /// Runs one rate for `seconds`, then waits until all questions have ended or are given up.
  @discardableResult
  func run(rate: Double, seconds: Double) async throws -> Results.Step {
    step = Tally()
    unfinished = [:]
    let start = MonotonicInstant.now + .seconds(Self.lead)
    if begin == nil { begin = start }
    let finishedBefore = finished
    let cpuBefore = cpu
    let order = RunOrder(
      families: settings.families, seed: settings.seed, mix: settings.mix, rate: rate,
      seconds: seconds, first: runs << 40, start: start, stallTimeout: Self.stallTimeout,
      drainTimeout: Self.drainTimeout)
    runs += 1
    for worker in workers { worker.order(.run(order)) }
    // A soak of hours has longer intervals, so that a chart shows all of them.
    let interval = Nanoseconds.seconds(max(1, (seconds / Self.moments).rounded(.up)))
    var tick = start + interval
    momentStart = start
    try await wait("the run to end", Self.lead + seconds + Self.drainTimeout + 30) {
      if MonotonicInstant.now >= tick {
        tick = tick + interval
        recordMoment(rate)
      }
      return unfinished.count == workers.count
    }
    recordMoment(rate)
    let took = (MonotonicInstant.now - start).seconds
    let cpuAfter = cpu
    let approvals = step.histogram(.approval)
    let unfinishedCount = unfinished.values.reduce(0, +)
    let span = max(seconds, (lastFinished - start).seconds)
    let result = Results.Step(
      offered: rate, achieved: Double(finished - finishedBefore) / span,
      approvals: Percentiles(approvals), unfinished: unfinishedCount,
      holds: settings.objective.map { $0.holds(approvals) && unfinishedCount == 0 },
      relayCores: (cpuAfter.relay - cpuBefore.relay) / took,
      workerCores: (cpuAfter.workers - cpuBefore.workers) / took)
    results.steps.append(result)
    results.unfinished = unfinishedCount
    return result
  }

  /// Searches for the highest rate that holds the objective: doubles the rate until the objective
  /// fails, then bisects.
  func ramp(from first: Double, seconds: Double) async throws {
    var (held, broken) = (0.0, Double.infinity)
    var rate = first
    for _ in 0..<16 {
      let step = try await run(rate: rate, seconds: seconds)
      let holds = step.holds ?? false
      progress.line(
        "\(rate.short)/s: p50 \(step.approvals.p50.short) ms, p99 \(step.approvals.p99.short) ms"
          + (holds ? ": holds" : ": does not hold"))
      if holds { held = max(held, rate) } else { broken = min(broken, rate) }
      if step.unfinished > 0 { break }
      if broken.isFinite, broken - held <= max(held / 12, 1) { break }
      rate = broken.isFinite ? (held + broken) / 2 : rate * 2
    }
    results.highestRate = held
  }

  private var finished: Int { counts.values.reduce(0) { $0 + $1.finished } }
  private var cpu: (relay: Double, workers: Double) {
    (
      relay?.cpuSeconds ?? 0,
      workers.reduce(0) { $0 + (ProcessReading($1.pid)?.cpuSeconds ?? 0) }
    )
  }

  /// Ends the current interval and records its results.
  private func recordMoment(_ rate: Double) {
    let now = MonotonicInstant.now
    let second = (now - (begin ?? now)).seconds
    let span = max(1, (now - momentStart).seconds)
    momentStart = now
    var approvals = moment.histogram(.approval)
    let times = Percentiles(approvals)
    approvals.add(moment.histogram(.heldUp))
    moment = Tally()
    let line = Results.Moment(
      second: second, finished: UInt64((Double(approvals.totalCount) / span).rounded()),
      measured: times.count,
      underway: underway.values.reduce(0, +),
      p50: times.p50, p99: times.p99, max: times.max)
    results.moments.append(line)
    sampler?.sample(second)
    progress.showProgress(line, rate)
  }
}
