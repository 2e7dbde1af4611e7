public import Foundation
import Subprocess
import Synchronization
import SystemPackage

/// Starts apps in the background and ends them when their time is over (R6).
public final class Launcher: Sendable {
  /// The variable that tells an app where its device is: the path of its credential file.
  public static let variable = "PERMISSION_RELAY_DEVICE"

  /// An app that is installed on the device.
  public struct Installed: Sendable {
    /// The program.
    public var executable: String
    /// What it is given when it is launched in the background.
    public var arguments: [String]
    /// Its credential file.
    public var credential: URL
    /// Where its output goes.
    public var log: URL?
    /// A program with its arguments.
    public init(executable: String, arguments: [String], credential: URL, log: URL?) {
      self.executable = executable
      self.arguments = arguments
      self.credential = credential
      self.log = log
    }
  }

  private let running = Mutex<[String: ProcessIdentifier]>([:])

  /// A launcher that runs nothing yet.
  public init() {}

  /// Runs the app until it ends. Returns without running it when it runs already, or cannot start.
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

  /// Ends the app at once, if it runs.
  public func terminate(name: String) {
    guard let pid = running.withLock({ $0[name] }) else { return }
    kill(pid.value, SIGKILL)
  }
}
