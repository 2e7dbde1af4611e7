import Foundation
public import RelayOperation

extension RelayStatistics.Process {
  /// This process, as `/proc/self` describes it.
  static var current: Self {
    var process = Self()
    process.residentBytes = field("VmRSS:", of: text("/proc/self/status")) * 1_024
    process.openFiles =
      (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    process.maximumFiles = Int(clamping: limit.rlim_cur)
    var usage = rusage()
    getrusage(RUSAGE_SELF.rawValue, &usage)
    process.cpuSeconds = [usage.ru_utime, usage.ru_stime].reduce(0) {
      $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6
    }
    process.startTime = start
    return process
  }

  private static let start: Double = {
    // The name of the program, in parentheses, may contain spaces.
    let fields = text("/proc/self/stat").split(separator: ")").last?.split(separator: " ") ?? []
    // A sandbox may hide /proc/stat, which has the time of the boot.
    let boot = seconds(CLOCK_REALTIME) - seconds(CLOCK_BOOTTIME)
    guard fields.count > 19, let ticks = Double(fields[19]) else { return boot }
    return boot + ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
  }()

  private static func seconds(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  private static func text(_ path: String) -> String {
    (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
  }

  /// The first number of the line with this name.
  private static func field(_ name: String, of text: String) -> Int {
    let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
    return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
  }
}

/// The memory of this process.
public enum ProcessMemory {
  /// Resident bytes.
  public static var resident: Int {
    let pages = file("/proc/self/statm").split(separator: " ").dropFirst().first
    return (pages.flatMap { Int($0) } ?? 0) * sysconf(Int32(_SC_PAGESIZE))
  }

  /// The bytes that the process may use: the limit of its control group, such as systemd's `MemoryMax=`
  /// or a container's; without one, three quarters of the machine's memory.
  public static var available: Int {
    let machine = sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))
    let group = file("/proc/self/cgroup").split(separator: "\n").first { $0.hasPrefix("0::") }
    return groupLimit(of: group.map { String($0.dropFirst(3)) } ?? "/") ?? machine / 4 * 3
  }

  /// The smallest limit of a control group and of those above it.
  private static func groupLimit(of path: String) -> Int? {
    var parts = path.split(separator: "/")
    var limits: [Int] = []
    while true {
      let folder = (["/sys/fs/cgroup"] + parts.map(String.init)).joined(separator: "/")
      let text = file(folder + "/memory.max").trimmingCharacters(in: .whitespacesAndNewlines)
      if let limit = Int(text) { limits.append(limit) }
      guard parts.popLast() != nil else { return limits.min() }
    }
  }

  private static func file(_ path: String) -> String {
    (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
  }
}

extension RelayStatistics.Store {
  /// The bytes that are free on the disk of the path; `nil` if unknown.
  public static func freeBytes(at path: String) -> Int? {
    var system = statvfs()
    guard statvfs(path, &system) == 0 else { return nil }
    return Int(clamping: UInt64(system.f_bavail) * UInt64(system.f_frsize))
  }

  /// The files of the store at this path.
  init(path: String) {
    self.init()
    database = Self.size(path)
    log = Self.size(path + "-wal")
    free = Self.freeBytes(at: path) ?? 0
    var system = statvfs()
    if statvfs(path, &system) == 0 {
      disk = Int(clamping: UInt64(system.f_blocks) * UInt64(system.f_frsize))
    }
  }

  private static func size(_ path: String) -> Int {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return attributes?[.size] as? Int ?? 0
  }
}
