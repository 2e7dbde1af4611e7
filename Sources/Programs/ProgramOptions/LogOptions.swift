public import ArgumentParser
public import Logging

/// The options `--log-level` and `--log-format`, which all servers and agents share.
public struct LogOptions: ParsableArguments {
  /// The forms of a line.
  public enum Format: String, ExpressibleByArgument, CaseIterable, Sendable {
    case text, json
  }

  private static let names = Logger.Level.allCases.map(\.rawValue)
  private static let choices = "\(names.dropLast().joined(separator: ", ")) or \(names.last!)"

  /// The level's name.
  @Option(help: "Lowest level that is logged: \(LogOptions.choices).")
  public var logLevel = "info"
  /// The form of a line.
  @Option(help: "The form of a line: text, or json with one object per line.")
  public var logFormat = Format.text

  public init() {}

  /// Rejects an unknown level.
  ///
  /// - Throws: `ValidationError` with the known levels.
  public func validate() throws {
    guard Logger.Level(rawValue: logLevel) == nil else { return }
    throw ValidationError("Unknown log level '\(logLevel)'. Choose \(Self.choices).")
  }

  /// A logger that writes messages of this level and above to standard error.
  public func logger(label: String) -> Logger {
    var logger = Logger(label: label) {
      LineLogHandler(label: $0, format: logFormat, writer: .standardError)
    }
    logger.logLevel = Logger.Level(rawValue: logLevel) ?? .info
    return logger
  }
}
