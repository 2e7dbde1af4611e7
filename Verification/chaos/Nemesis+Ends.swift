import Foundation
import ProcessCluster

extension Nemesis {
  /// Seconds within which a process must end after SIGTERM: 10 with the usual patience of 120. On a
  /// machine without an idle processor, everything takes longer.
  var endLimit: Double { patience / 12 }
  /// Seconds after its start in which a process may not handle SIGTERM yet.
  static let startLimit = 5.0

  /// Sends SIGTERM to all processes at once.
  ///
  /// - Returns: The processes that ran.
  func terminate(_ names: [String]) async -> [String] {
    await withTaskGroup(of: String?.self) { group in
      for name in names { group.addTask { await self.terminate(name) ? name : nil } }
      return await group.reduce(into: [String]()) { if let name = $1 { $0.append(name) } }.sorted()
    }
  }

  /// Sends SIGTERM to the processes in turn, each after the former one has started again.
  ///
  /// - Returns: The processes that ran.
  func restartInTurn(_ names: [String]) async -> [String] {
    var ended: [String] = []
    for name in names where !Task.isCancelled {
      let process = chaosCluster.process(name)
      let starts = process.starts
      guard await terminate(name) else { continue }
      ended.append(name)
      let end = recorder.now + endLimit
      while process.starts == starts, recorder.now < end { await pause() }
    }
    return ended
  }

  /// Terminates the process and adds a finding unless it ends in time and with code 0.
  ///
  /// - Returns: Whether the process ran.
  private func terminate(_ name: String) async -> Bool {
    let process = chaosCluster.process(name)
    guard let pid = process.pid else { return false }
    let calm = disturbances.calm(name)
    let isYoung = process.uptime < .seconds(Self.startLimit)
    Glibc.kill(pid, SIGTERM)
    let begin = recorder.now
    while process.pid == pid, recorder.now < begin + endLimit { await pause() }
    let isJudged = calm != nil && disturbances.calm(name) == calm && !Task.isCancelled
    if process.pid == pid {
      if isJudged {
        log.addFinding("\(name) has not ended \(Int(endLimit)) s after SIGTERM")
        Glibc.kill(pid, SIGKILL)
      }
    } else if isJudged, !isYoung, let end = process.lastEnd, end.pid == pid,
      !end.status.isSuccess
    {
      log.addFinding("\(name) ended with \(end.status) after SIGTERM")
    }
    return true
  }

  private func pause() async { try? await Task.sleep(for: .milliseconds(10)) }
}
