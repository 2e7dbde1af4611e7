public import Foundation

/// The CPU time, memory and state of a process, as /proc reports them.
public struct ProcessReading: Sendable {
  /// The CPU time used so far in user and kernel mode, in seconds.
  public var cpuSeconds: Double
  /// The resident memory, in bytes.
  public var residentBytes: Int
  /// Whether a signal has stopped the process.
  public var isStopped: Bool

  /// Reads the current values; `nil` if the process does not exist.
  public init?(_ pid: pid_t) {
    guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
      // The second field is the process name in parentheses. The name may itself hold a
      // parenthesis.
      let fields = text.split(separator: ")").last?.split(separator: " "), fields.count > 21,
      let user = Double(fields[11]), let system = Double(fields[12]), let pages = Int(fields[21])
    else { return nil }
    cpuSeconds = (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    residentBytes = pages * sysconf(Int32(_SC_PAGESIZE))
    isStopped = fields[0] == "T"
  }

  /// The highest resident memory of this process so far, in bytes; `nil` without such a figure.
  public static var peakResidentBytes: Int? {
    let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = text?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * 1_024 }
  }
}
