import CAppLauncher
public import Foundation
import Glibc
import Synchronization

/// Launches apps in the background, and ends each with all its processes.
///
/// A supervisor between the device and the app confines the app, bounds its log, and ends all its
/// processes with it. The supervisor is the program of the device, started with other arguments.
public final class Launcher: Sendable {
  /// Bytes of an app's log. Above: the log becomes the older one, which a later one replaces.
  public static let logBytes = 1024 * 1024

  /// An app that is installed on the device.
  public struct Installed: Sendable {
    /// The path of the program.
    public var executable: String
    /// The arguments of a background launch.
    public var arguments: [String]
    /// The app's credential file. The app receives it as an open descriptor.
    public var credential: URL
    /// The app's folder.
    public var folder: URL
    /// The file for the app's output.
    public var log: URL
    /// The variables of the app's environment.
    public var environment: [String: String]
    /// The files and folders that the app may use.
    public var access: AppAccess
    /// An app that runs this program.
    public init(
      executable: String, arguments: [String], credential: URL, folder: URL, log: URL,
      environment: [String: String], access: AppAccess
    ) {
      self.executable = executable
      self.arguments = arguments
      self.credential = credential
      self.folder = folder
      self.log = log
      self.environment = environment
      self.access = access
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
    /// The program could not be started, for the reason with this `errno`.
    case notStarted(Int32)
    /// A process that the device launched earlier still runs.
    case runsAlready
  }

  private struct Running {
    var supervisor: pid_t?
    var process: pid_t?
    /// The device's end of the socket to the supervisor, while it is open.
    var control: Int32?
    var isOutOfTime = false
    var error: Int32 = 0
  }

  /// The device's program, which also supervises apps.
  private let program: String?
  private let running = Mutex<[String: Running]>([:])

  /// A launcher without running apps.
  ///
  /// - Parameter program: The path of a program that calls ``superviseIfRequested()`` first; `nil`
  ///   starts no app.
  public init(program: String?) { self.program = program }

  /// Whether the kernel can confine apps.
  public static var canConfine: Bool { app_launcher_landlock_version() > 0 }

  /// Supervises an app and ends this process with it, if the arguments of this process say so.
  public static func superviseIfRequested() {
    guard CommandLine.argc > 1, CommandLine.arguments[1] == APP_LAUNCHER_COMMAND else { return }
    exit(app_launcher_main(CommandLine.argc, CommandLine.unsafeArgv))
  }

  /// Runs the app and returns when all its processes have ended. Returns at once if the app runs
  /// already or cannot start.
  ///
  /// - Parameter started: Called with the process's number, and whether the app is confined.
  public func run(
    _ app: Installed, name: String, started: @escaping @Sendable (Int32, Bool) -> Void = { _, _ in }
  ) async -> End {
    let isFree = running.withLock { running in
      guard running[name] == nil else { return false }
      running[name] = Running()
      return true
    }
    guard isFree else { return .runsAlready }
    let error = start(app, name)
    guard error == 0 else {
      running.withLock { $0[name] = nil }
      return .notStarted(error)
    }
    return await withCheckedContinuation { continuation in
      // The thread sleeps in system calls. Its number is bounded by that of the apps.
      Thread.detachNewThread {
        self.read(name, started)
        let ended = self.running.withLock { $0.removeValue(forKey: name) }
        continuation.resume(returning: Self.wait(for: ended ?? Running()))
      }
    }
  }

  /// Starts the supervisor.
  ///
  /// - Returns: 0, or an `errno`.
  private func start(_ app: Installed, _ name: String) -> Int32 {
    guard let program else { return ENOSYS }
    let credential = open(app.credential.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard credential >= 0 else { return errno }
    defer { close(credential) }
    let arguments =
      ["app-supervisor", APP_LAUNCHER_COMMAND, app.log.path, "\(Self.logBytes)", app.folder.path]
      + app.access.arguments + ["--", app.executable] + app.arguments
    let variables = app.environment.map { "\($0.key)=\($0.value)" }
    var control: Int32 = -1
    var supervisor: pid_t = 0
    let error = Self.withCStrings(arguments) { arguments in
      Self.withCStrings(variables) { variables in
        app_launcher_spawn(program, arguments, variables, credential, &control, &supervisor)
      }
    }
    guard error == 0 else { return error }
    running.withLock { [control, supervisor] in
      $0[name]?.control = control
      $0[name]?.supervisor = supervisor
    }
    return 0
  }

  private static func withCStrings<R>(
    _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> R
  ) -> R {
    var pointers = texts.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    return pointers.withUnsafeMutableBufferPointer { body($0.baseAddress!) }
  }

  /// Reads the supervisor's report, and returns when the supervisor has closed its socket.
  private func read(_ name: String, _ started: (Int32, Bool) -> Void) {
    guard let control = running.withLock({ $0[name]?.control }) else { return }
    var report = app_launcher_report()
    let size = MemoryLayout.size(ofValue: report)
    while true {
      let count = Glibc.read(control, &report, size)
      if count < 0, errno == EINTR { continue }
      // The supervisor writes the report at once, and a socket keeps so few bytes together.
      guard count == size else { break }
      running.withLock { [report] in
        $0[name]?.process = report.process
        $0[name]?.error = report.error
      }
      if report.error == 0 { started(report.process, report.is_confined != 0) }
    }
    running.withLock { $0[name]?.control = nil }
    close(control)
  }

  /// Reaps the supervisor, which ends like its app.
  private static func wait(for ended: Running) -> End {
    var status: Int32 = 0
    while let supervisor = ended.supervisor, waitpid(supervisor, &status, 0) < 0, errno == EINTR {}
    if ended.error != 0 { return .notStarted(ended.error) }
    let signal = status & 0x7f
    guard signal != 0 else { return .exited((status >> 8) & 0xff) }
    // A supervisor that was killed itself has left its app behind.
    if let process = ended.process { kill(-process, SIGKILL) }
    return ended.isOutOfTime ? .outOfTime : .signaled(signal)
  }

  /// Ends the app with all its processes, if it runs. The second call also kills a supervisor that
  /// does not react.
  public func terminate(name: String) {
    let (app, isRepeated) = running.withLock { running in
      defer { running[name]?.isOutOfTime = true }
      // Within the lock, so that the descriptor is still open.
      if let control = running[name]?.control { shutdown(control, Int32(SHUT_WR)) }
      return (running[name], running[name]?.isOutOfTime ?? false)
    }
    guard let app, isRepeated else { return }
    if let process = app.process { kill(-process, SIGKILL) }
    if let supervisor = app.supervisor { kill(supervisor, SIGKILL) }
  }
}

extension Launcher.End: CustomStringConvertible {
  /// The end in a few words, for people.
  public var description: String {
    switch self {
    case .exited(let status): "exited with status \(status)"
    case .signaled(let signal): "ended by signal \(signal)"
    case .outOfTime: "killed after its time"
    case .notStarted(let error): "could not be started: \(String(cString: strerror(error)))"
    case .runsAlready: "runs already"
    }
  }
}
