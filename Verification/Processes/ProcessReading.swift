public import Foundation

/// What the kernel says of a process, from /proc.
public struct ProcessReading: Sendable {
  /// Seconds of CPU that it has used, in user and in kernel mode.
  public var cpuSeconds: Double
  /// Bytes of memory that it occupies.
  public var residentBytes: Int

  /// What the kernel says now; `nil` when the process is gone.
  public init?(_ pid: pid_t) {
    guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
      // The second field is the name, in parentheses, and may hold anything.
      let fields = text.split(separator: ")").last?.split(separator: " "), fields.count > 21,
      let user = Double(fields[11]), let system = Double(fields[12]), let pages = Int(fields[21])
    else { return nil }
    cpuSeconds = (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    residentBytes = pages * sysconf(Int32(_SC_PAGESIZE))
  }
}
