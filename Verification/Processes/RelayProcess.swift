public import Foundation

/// A relay that runs as a process of its own.
public final class RelayProcess: Sendable {
  private let process = Process()

  /// Starts the program `relay` and returns when its sockets are bound.
  ///
  /// - Parameters:
  ///   - folder: The relay's folder, made by `relayctl init` or `RelayKeys.create`.
  ///   - maxFamilies: The number of families held in memory; `nil` for the relay's default.
  /// - Throws: ``Program/Missing``, or ``Ended`` if the relay ends before it is ready.
  public convenience init(_ folder: URL, maxFamilies: Int? = nil) throws {
    try self.init(
      program: "relay",
      arguments: ["--directory", folder.path, "--log-level", "error"]
        + (maxFamilies.map { ["--max-families-in-memory", "\($0)"] } ?? []))
  }

  /// Starts a program that prints `ready` when its sockets are bound, and waits for that line.
  ///
  /// - Throws: ``Program/Missing``, or ``Ended`` if the program ends before it is ready.
  public init(program: String, arguments: [String]) throws {
    process.executableURL = try Program(program).file
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    ChildProcesses.add(process.processIdentifier)
    guard !output.fileHandleForReading.availableData.isEmpty else { throw Ended() }
  }

  /// A relay ends with the measurement that started it, also after an error.
  deinit { if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) } }

  /// The relay ended before it was ready. Its standard error states the reason.
  public struct Ended: Error, CustomStringConvertible {
    /// The error for a person.
    public let description = "The relay ended before it was ready: see its message above."
  }

  /// The process id.
  public var pid: pid_t { process.processIdentifier }
  /// Whether the process runs.
  public var isRunning: Bool { process.isRunning }
  /// The CPU time used so far, in seconds.
  public var cpuSeconds: Double { ProcessReading(pid)?.cpuSeconds ?? 0 }

  /// The resident anonymous memory, in bytes: neither mapped files nor shared memory.
  public var anonymousBytes: Int {
    let text = (try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
    return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1_024
  }

  /// Terminates the process and waits for its end.
  public func stop() {
    process.terminate()
    process.waitUntilExit()
  }

  /// Kills the process with SIGKILL and waits for its end.
  public func kill() {
    Foundation.kill(pid, SIGKILL)
    process.waitUntilExit()
  }
}
