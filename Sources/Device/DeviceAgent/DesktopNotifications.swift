public import FamilyCore
import FamilyModel
import Foundation
import Subprocess
import SystemPackage

/// Shows notifications with the desktop's notification service, `org.freedesktop.Notifications`.
///
/// One process at a time runs `notify-send` or, without it, `gdbus`. A notification that the
/// service does not show stays in the device's list.
public final class DesktopNotifications: Sendable {
  /// Notifications that wait for the service. Above: further ones stay in the device's list only.
  static let waiting = 16
  /// The time for one call of the service. Above: the call is killed.
  static let timeLimit = Duration.seconds(5)
  /// The age from which only the device's list shows a notification. A device that was away for
  /// long would otherwise show all of them at once.
  static let maximumAge = Milliseconds.hours(1)

  /// Returns the text of a notice; `nil` shows nothing. Arguments of processes are public on the
  /// machine, so that the text names no person.
  public typealias Text = @Sendable (_ notice: Notice, _ isGuardian: Bool) -> String?

  let text: Text
  private let texts: AsyncStream<String>.Continuation
  private let sender: Task<Void, Never>

  /// Finds the service.
  ///
  /// - Parameter environment: The variables to search by; `nil`: those of this process.
  /// - Returns: `nil` without a session bus, or without one of the two programs.
  public convenience init?(
    environment: [String: String]? = nil, text: @escaping Text
  ) {
    let environment = environment ?? ProcessInfo.processInfo.environment
    guard Self.hasSessionBus(environment) else { return nil }
    let folders = (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
    let programs = ["notify-send", "gdbus"].lazy.flatMap { name in
      folders.map { "\($0)/\(name)" }
    }
    guard let program = programs.first(where: FileManager.default.isExecutableFile) else {
      return nil
    }
    self.init(program: program, environment: environment, text: text)
  }

  init(program: String, environment: [String: String], text: @escaping Text) {
    self.text = text
    let (stream, continuation) = AsyncStream.makeStream(
      of: String.self, bufferingPolicy: .bufferingOldest(Self.waiting))
    texts = continuation
    sender = Task.detached {
      for await text in stream { await Self.send(text, program, environment) }
    }
  }

  deinit {
    texts.finish()
    sender.cancel()
  }

  /// Shows a text, as soon as the service has shown those before it.
  func show(_ text: String) { texts.yield(text) }

  private static func hasSessionBus(_ environment: [String: String]) -> Bool {
    if environment["DBUS_SESSION_BUS_ADDRESS"].map({ !$0.isEmpty }) ?? false { return true }
    guard let folder = environment["XDG_RUNTIME_DIR"] else { return false }
    return FileManager.default.fileExists(atPath: "\(folder)/bus")
  }

  private static func send(_ text: String, _ program: String, _ environment: [String: String]) async
  {
    var arguments = ["--app-name=permission-relay", "--", text]
    if program.hasSuffix("/gdbus") {
      arguments = [
        "call", "--session", "--dest", "org.freedesktop.Notifications", "--object-path",
        "/org/freedesktop/Notifications", "--method", "org.freedesktop.Notifications.Notify", "--",
        "permission-relay", "uint32 0", "", text, "", "@as []", "@a{sv} {}", "int32 -1",
      ]
    }
    let call = Arguments(arguments)
    var variables: [Environment.Key: String] = [:]
    for (name, value) in environment { variables[Environment.Key(stringLiteral: name)] = value }
    let custom = Environment.custom(variables)
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        _ = try? await Subprocess.run(
          .path(FilePath(program)), arguments: call, environment: custom, input: .none,
          output: .discarded, error: .discarded)
      }
      group.addTask { try? await Task.sleep(for: timeLimit) }
      await group.next()
      group.cancelAll()
    }
  }
}
