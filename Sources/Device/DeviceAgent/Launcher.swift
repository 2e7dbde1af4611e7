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

  private let running = Mutex<[String: ProcessIdentifier]>([:])

  /// A launcher without running apps.
  public init() {}

  /// Runs the app and returns when its process ends. Returns at once if the app runs already or
  /// cannot start.
  public func run(_ app: Installed, name: String) async {
    guard !running.withLock({ $0[name] != nil }) else { return }
    var log: FileDescriptor?
    if let path = app.log?.path {
      log = try? FileDescriptor.open(
        path, .writeOnly, options: [.create, .append], permissions: [.ownerReadWrite])
    }
    let output = log ?? .standardError
    defer { running.withLock { $0[name] = nil } }
    _ = try? await Subprocess.run(
      .path(FilePath(app.executable)), arguments: Arguments(app.arguments),
      environment: .inherit.updating([
        Environment.Key(stringLiteral: Self.variable): app.credential.path
      ]),
      input: .none, output: .fileDescriptor(output, closeAfterSpawningProcess: false),
      error: .fileDescriptor(output, closeAfterSpawningProcess: false)
    ) { execution in
      running.withLock { $0[name] = execution.processIdentifier }
    }
    if let log { try? log.close() }
  }

  /// Kills the app's process if it runs.
  public func terminate(name: String) {
    guard let pid = running.withLock({ $0[name] }) else { return }
    kill(pid.value, SIGKILL)
  }
}
