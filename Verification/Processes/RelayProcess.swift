public import Foundation

/// A relay as a process of its own.
public final class RelayProcess: Sendable {
  private let process = Process()

  /// Starts it, and returns when both its sockets are bound.
  ///
  /// - Parameters:
  ///   - folder: What `relayctl init` or `RelayKeys.create` made.
  ///   - maxFamilies: Families held in memory; `nil`: the relay's default.
  public init(_ folder: URL, maxFamilies: Int? = nil) throws {
    process.executableURL = try Program("relay").file
    process.arguments =
      ["--directory", folder.path, "--log-level", "error"]
      + (maxFamilies.map { ["--max-families-in-memory", "\($0)"] } ?? [])
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    Started.add(process.processIdentifier)
    // Prints `ready` when both sockets are bound.
    _ = output.fileHandleForReading.availableData
    guard process.isRunning else { throw Ended() }
  }

  /// The relay ended before it was ready; it said why.
  public struct Ended: Error, CustomStringConvertible {
    /// What to do.
    public let description = "The relay ended at once: see what it said above."
  }

  /// Its process.
  public var pid: pid_t { process.processIdentifier }
  /// Whether it runs.
  public var isRunning: Bool { process.isRunning }
  /// Seconds of CPU that it has used.
  public var cpu: Double { ProcessReading(pid)?.cpuSeconds ?? 0 }

  /// Ends it, and waits until it has ended.
  public func stop() {
    process.terminate()
    process.waitUntilExit()
  }
}
