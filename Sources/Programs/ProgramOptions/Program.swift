public import ArgumentParser
import Foundation
import PrivateFiles

/// The exit codes of the programs, beside 0 for success.
public enum ExitStatus: Int32, Sendable {
  /// The command failed; the error has the reason.
  case failure = 1
  /// No relay answers.
  case noRelay = 2
  /// A problem's number explains the refusal.
  case refused = 3
  /// Wrong options or arguments.
  case usage = 64
  /// The store is damaged, or of another version. A restart ends the same way.
  case unreadableStore = 65
  /// An address is in use, or another process uses the store.
  case inUse = 69
  /// The store failed: a full disk, or an error of the disk. A restart may help.
  case storeFailed = 74
  /// Keys are missing, invalid, or readable by others. A restart ends the same way.
  case unusableKeys = 78
}

/// The start and the end of a program.
public enum Program {
  /// The version of all programs: the next release, with “-dev” until it is released.
  public static let version = "0.2.0-dev"

  /// Parses the process's arguments and runs the command. An error ends the process. The memory of the
  /// process is protected first, because all programs hold keys.
  ///
  /// - Parameter status: The exit code of an error; `nil` leaves the choice to the parser.
  public static func run(
    _ type: (some ParsableCommand).Type, status: (any Error) -> ExitStatus? = { _ in nil }
  ) async {
    ProcessMemory.protect()
    do {
      var command = try type.parseAsRoot()
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
    } catch { end(type, error, status: status) }
  }

  /// Ends the process with the error's sentence and exit code.
  ///
  /// - Parameter status: As in ``run(_:status:)``.
  public static func end(
    _ type: (some ParsableCommand).Type, _ error: any Error,
    status: (any Error) -> ExitStatus? = { _ in nil }
  ) -> Never {
    guard !type.exitCode(for: error).isSuccess, !(error is ExitCode) else {
      type.exit(withError: error)
    }
    // A reader that stalls or is gone must not keep the supervisor from the exit code.
    LogWriter.standardError.write(report(type.fullMessage(for: error)))
    Foundation.exit(status(error)?.rawValue ?? type.exitCode(for: error).rawValue)
  }

  /// The error's sentence, and how to get help. The usage follows only if an argument is missing or
  /// unknown: after an invalid value, it would hide the sentence.
  static func report(_ message: String) -> String {
    let incomplete = ["Missing ", "Unexpected ", "Unknown option ", "No value "]
    let sentence = message.trimmingPrefix("Error: ")
    guard let usage = message.firstRange(of: "\nUsage: "),
      !incomplete.contains(where: { sentence.hasPrefix($0) })
    else { return message }
    let help = message[usage.upperBound...].split(separator: "\n").last { $0.hasPrefix("  See ") }
    return message[..<usage.lowerBound] + (help.map { "\n\($0)" } ?? "")
  }
}
