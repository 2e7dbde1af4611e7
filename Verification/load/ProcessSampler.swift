import Foundation
import Processes
import ZeroMQ

/// Samples the CPU time and memory of several processes.
struct ProcessSampler {
  private(set) var series: [Results.Series]
  private let pids: [pid_t]
  private var last: [(at: MonotonicInstant, cpu: Double)]

  init(_ processes: [(pid: pid_t, name: String)]) {
    pids = processes.map(\.pid)
    series = processes.map { .init(name: $0.name) }
    last = processes.map { (MonotonicInstant.now, ProcessReading($0.pid)?.cpuSeconds ?? 0) }
  }

  mutating func sample(_ second: Double) {
    for (index, pid) in pids.enumerated() {
      guard let reading = ProcessReading(pid) else { continue }
      let now = MonotonicInstant.now
      let span = (now - last[index].at).seconds
      guard span > 0.2 else { continue }
      series[index].samples.append(
        .init(
          second: second, cores: (reading.cpuSeconds - last[index].cpu) / span,
          bytes: reading.residentBytes))
      last[index] = (now, reading.cpuSeconds)
    }
  }
}
