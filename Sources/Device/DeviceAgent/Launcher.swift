public import Foundation
import Subprocess
import Synchronization
import SystemPackage

/// Launches apps in the background, and terminates them when their time is over.
public final class Launcher: Sendable {
  /// The environment variable with the path of the app's credential file.
  public static let variable = "PERMISSION_RELAY_DEVICE"

  /// An app that is installed on the device.
  public struct Installed: Sendable {
    /// The path of the program.
    public var executable: String
    /// The arguments of a background launch.
    public var arguments: [String]
    /// The app's credential file.
    public var credential: URL
    /// The file for the app's output; `nil` for standard error.
    public var log: URL?
    /// An app that runs this program.
    public init(executable: String, arguments: [String], credential: URL, log: URL?) {
      self.executable = executable
      self.arguments = arguments
      self.credential = credential
      self.log = log
    }
  }

  /// How a launch ended.
  public enum End: Hashable, Sendable {
    /// The process exited with this status.
    case exited(Int32)
    /// A signal ended the process: a crash, or a kill.
    case signaled(Int32)
    /// The device killed the process, because its time was over.
    case outOfTime
    /// The program could not be started.
    case notStarted
    /// A process that the device launched earlier still runs.
    case runsAlready
  }

  private struct Running {
    var process: ProcessIdentifier?
    var isOutOfTime = false
  }

  private let running = Mutex<[String: Running]>([:])

  /// A launcher without running apps.
  public init() {}

  /// Runs the app and returns when its process ends. Returns at once if the app runs already or
  /// cannot start.
  ///
  /// - Parameter started: Called with the process's number.
  public func run(
    _ app: Installed, name: String, started: @Sendable (Int32) -> Void = { _ in }
  ) async -> End {
    let isFree = running.withLock { running in
      guard running[name] == nil else { return false }
      running[name] = Running()
      return true
    }
    guard isFree else { return .runsAlready }
    var log: FileDescriptor?
    if let path = app.log?.path {
      log = try? FileDescriptor.open(
        path, .writeOnly, options: [.create, .append], permissions: [.ownerReadWrite])
    }
    let output = log ?? .standardError
    let result = try? await Subprocess.run(
      .path(FilePath(app.executable)), arguments: Arguments(app.arguments),
      environment: .inherit.updating([
        Environment.Key(stringLiteral: Self.variable): app.credential.path
      ]),
      input: .none, output: .fileDescriptor(output, closeAfterSpawningProcess: false),
      error: .fileDescriptor(output, closeAfterSpawningProcess: false)
    ) { execution in
      running.withLock { $0[name]?.process = execution.processIdentifier }
      started(execution.processIdentifier.value)
    }
    if let log { try? log.close() }
    let ended = running.withLock { $0.removeValue(forKey: name) }
    switch result?.terminationStatus {
    case nil: return .notStarted
    case .exited(let status): return .exited(status)
    case .signaled(let signal): return ended?.isOutOfTime == true ? .outOfTime : .signaled(signal)
    }
  }

  /// Kills the app's process if it runs.
  public func terminate(name: String) {
    let process = running.withLock { running in
      running[name]?.isOutOfTime = true
      return running[name]?.process
    }
    if let process { kill(process.value, SIGKILL) }
  }
}

extension Launcher.End: CustomStringConvertible {
  /// The end in a few words, for people.
  public var description: String {
    switch self {
    case .exited(let status): "exited with status \(status)"
    case .signaled(let signal): "ended by signal \(signal)"
    case .outOfTime: "killed after its time"
    case .notStarted: "could not be started"
    case .runsAlready: "runs already"
    }
  }
}
